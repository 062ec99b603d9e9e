import { Duplex } from "node:stream";
import { VirtualClock } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { closePayload, frame } from "./frame.js";
import { WebSocketConnection, type WebSocketData } from "./websocket.js";

const MASK = Uint8Array.of(9, 8, 7, 6);

/** A connection in memory, and what was written to it. */
const wire = (): { stream: Duplex; written: Buffer[]; clock: VirtualClock; server: WebSocketConnection } => {
  const written: Buffer[] = [];
  const stream = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      written.push(chunk);
      done();
    },
  });
  const clock = new VirtualClock();
  return { stream, written, clock, server: new WebSocketConnection(stream, { clock, maxMessageBytes: 1000 }) };
};

const collect = async (connection: WebSocketConnection): Promise<WebSocketData[]> => {
  const seen: WebSocketData[] = [];
  for await (const message of connection.messages()) seen.push(message);
  return seen;
};

describe("a WebSocket", () => {
  it("delivers messages, answers pings and a close", async () => {
    const { stream, written, server } = wire();
    stream.push(frame("text", Buffer.from("one"), MASK));
    stream.push(frame("ping", Buffer.from("?"), MASK));
    stream.push(frame("binary", Buffer.of(0, 1), MASK));
    stream.push(frame("close", closePayload(1001), MASK));
    expect(await collect(server)).toEqual([
      { type: "text", text: "one" },
      { type: "binary", bytes: Buffer.of(0, 1) },
    ]);
    expect(Buffer.concat(written)).toEqual(
      Buffer.concat([frame("pong", Buffer.from("?")), frame("close", closePayload(1000))]),
    );
  });

  it("closes with the reason on a protocol error", async () => {
    const { stream, written, server } = wire();
    stream.push(frame("text", Buffer.from("no mask")));
    expect(await collect(server)).toEqual([]);
    expect(Buffer.concat(written)).toEqual(frame("close", closePayload(1002, "a frame has no mask")));
  });

  it("ends if the peer disconnects", async () => {
    const { stream, server } = wire();
    stream.push(frame("text", Buffer.from("one"), MASK));
    const seen = collect(server);
    stream.destroy(new Error("reset"));
    await seen;
    expect(stream.destroyed).toBe(true);
  });

  it("sends nothing after its close, and cuts off a peer that does not close", async () => {
    const { stream, written, clock, server } = wire();
    await server.send("one");
    server.close();
    await server.send("two");
    expect(Buffer.concat(written)).toEqual(
      Buffer.concat([frame("text", Buffer.from("one")), frame("close", closePayload(1000))]),
    );
    await clock.advance(2_000);
    expect(stream.destroyed).toBe(true);
  });
});
