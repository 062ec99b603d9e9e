import { Duplex, PassThrough } from "node:stream";
import { systemClock } from "setpoint/clock";
import { describe, expect, it } from "vitest";
import { HeaderWriter } from "./header-block.js";
import { SpdySession, type SpdyStream } from "./session.js";

const FIN = 1;

/** The peer: writes frames, and collects the responses. */
class Client {
  readonly #writer = new HeaderWriter();
  readonly toServer = new PassThrough();
  readonly fromServer = new PassThrough();

  /** Like a server's sockets, it has an error listener. */
  get connection(): Duplex {
    return Duplex.from({ readable: this.toServer, writable: this.fromServer }).on("error", () => {});
  }

  async open(id: number, headers: Readonly<Record<string, string>>, flags = 0): Promise<void> {
    const payload = Buffer.alloc(10);
    payload.writeUInt32BE(id);
    this.control(1, Buffer.concat([payload, await this.#writer.write(new Map(Object.entries(headers)))]), flags);
  }

  control(type: number, payload: Buffer, flags = 0): void {
    this.#send(0x80030000 + type, flags, payload);
  }

  data(id: number, text: string, flags = 0): void {
    this.#send(id, flags, Buffer.from(text));
  }

  /** The frames received so far: `type:stream` or `data:stream:text`. */
  async answers(): Promise<readonly string[]> {
    await new Promise((resolve) => setImmediate(resolve));
    const bytes = (this.fromServer.read() ?? Buffer.alloc(0)) as Buffer;
    const told: string[] = [];
    for (let at = 0; at < bytes.length; ) {
      const head = bytes.readUInt32BE(at);
      const length = bytes.readUIntBE(at + 5, 3);
      const payload = bytes.subarray(at + 8, at + 8 + length);
      if (head >= 0x80000000) told.push(`${head & 0xffff}:${payload.readUInt32BE()}`);
      else told.push(`data:${head}:${payload}${bytes[at + 4] === FIN ? "." : ""}`);
      at += 8 + length;
    }
    return told;
  }

  #send(head: number, flags: number, payload: Buffer): void {
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(head);
    frame[4] = flags;
    frame.writeUIntBE(payload.length, 5, 3);
    // In pieces: a frame need not arrive at once.
    const bytes = Buffer.concat([frame, payload]);
    this.toServer.write(bytes.subarray(0, 5));
    this.toServer.write(bytes.subarray(5));
  }
}

function started(): { client: Client; streams: SpdyStream[]; session: SpdySession; over: Promise<void> } {
  const client = new Client();
  const session = new SpdySession(client.connection, systemClock);
  const streams: SpdyStream[] = [];
  return { client, streams, session, over: session.run((stream) => streams.push(stream)) };
}

async function textOf(stream: SpdyStream): Promise<string> {
  let text = "";
  for await (const bytes of stream.incoming) text += Buffer.from(bytes).toString("utf8");
  return text;
}

describe("a SPDY session", () => {
  it("answers streams and pings, and carries data both ways", async () => {
    const { client, streams } = started();
    await client.open(1, { streamtype: "stdin" });
    await client.open(3, { streamtype: "stdout" }, FIN);
    client.control(6, Buffer.from([0, 0, 0, 7]));
    client.data(1, "hello ");
    client.data(1, "there", FIN);
    await expect.poll(() => streams.length).toBe(2);
    expect(streams.map(({ headers }) => headers.get("streamtype"))).toEqual(["stdin", "stdout"]);
    expect(await textOf(streams[0]!)).toBe("hello there");
    expect(await textOf(streams[1]!)).toBe("");
    await streams[1]!.write(Buffer.from("out"));
    streams[1]!.end();
    await streams[1]!.write(Buffer.from("too late"));
    expect(await client.answers()).toEqual(["2:1", "2:3", "6:7", "data:3:out", "data:3:."]);
  });

  it("ends its streams with the connection, and closes it on a protocol error", async () => {
    const { client, streams, over } = started();
    await client.open(1, { streamtype: "stdin" });
    client.control(1, Buffer.alloc(30, "x"));
    await over;
    expect(await textOf(streams[0]!)).toBe("");
  });

  it("sends GOAWAY with the last stream that it has seen", async () => {
    const { client, session, streams } = started();
    await client.open(5, {});
    await expect.poll(() => streams.length).toBe(1);
    session.close();
    expect(await client.answers()).toEqual(["2:5", "7:5"]);
  });
});
