import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../clock/virtual-clock.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { createClient } from "./api-client.js";
import type { Client } from "./client.js";
import { object, scriptedClient, settled, status } from "./testing/scripted-client.js";
import { faultTransport, scriptedFaults } from "./transport/fault-transport.js";
import { reply } from "./transport/transport.contract.js";
import type { Transport } from "./transport/transport.js";

describe("a watch", () => {
  const event = (type: string, name: string): string =>
    `${JSON.stringify({ type, object: { ...object, metadata: { name } } })}\n`;

  async function collect(client: Client, options = {}): Promise<[string[], unknown]> {
    const seen: string[] = [];
    try {
      for await (const step of client.watch(ConfigMap, options)) {
        seen.push(step.type === "BOOKMARK" ? "BOOKMARK" : `${step.type} ${step.object.metadata.name}`);
      }
      return [seen, undefined];
    } catch (error) {
      return [seen, error];
    }
  }

  it("asks for bookmarks, and recognises the one that ends the initial events", async () => {
    const bookmark = {
      kind: "ConfigMap",
      metadata: { resourceVersion: "8", annotations: { "k8s.io/initial-events-end": "true" } },
    };
    const { client, requests } = scriptedClient([
      reply(`${event("ADDED", "a")}${JSON.stringify({ type: "BOOKMARK", object: bookmark })}\n`),
    ]);
    const events = [];
    for await (const step of client.watch(ConfigMap, { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" }))
      events.push(step);
    expect(events[1]).toEqual({ type: "BOOKMARK", resourceVersion: "8", initialEventsEnd: true });
    expect(requests[0]!.path).toBe(
      "/api/v1/configmaps?watch=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&sendInitialEvents=true",
    );
  });

  it("outlives the deadline for its response head", async () => {
    let push: (text: string) => void = () => {};
    const body = (async function* () {
      for (let count = 0; count < 2; count++)
        yield Buffer.from(await new Promise<string>((resolve) => (push = resolve)));
    })();
    const { client, clock } = scriptedClient([{ ...reply(""), body }]);
    const seen: string[] = [];
    const watching = (async () => {
      for await (const step of client.watch(ConfigMap)) seen.push(step.type);
    })();
    await clock.advance(3_600_000);
    push(event("ADDED", "a"));
    await clock.advance(3_600_000);
    push(event("DELETED", "a"));
    await watching;
    expect(seen).toEqual(["ADDED", "DELETED"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("rejects with an ApiError for an ERROR event, after the events before it", async () => {
    const gone = { type: "ERROR", object: status(410, "Expired", { message: "too old resource version: 1 (5)" }) };
    const { client } = scriptedClient([reply(`${event("ADDED", "a")}${JSON.stringify(gone)}\n`)]);
    const [seen, error] = await collect(client);
    expect(seen).toEqual(["ADDED a"]);
    expect(error).toMatchObject({ name: "ApiError", code: "API_EXPIRED", status: 410, reason: "Expired" });
  });

  it("rejects if the stream ends within a line: nothing is dropped silently", async () => {
    const { client } = scriptedClient([reply(event("ADDED", "a") + event("DELETED", "a").slice(0, 40))]);
    const [seen, error] = await collect(client);
    expect(seen).toEqual(["ADDED a"]);
    expect(error).toMatchObject({ code: "STREAM_TRUNCATED" });
  });

  it.each([
    ["no JSON", "<html>\n"],
    ["no object", "42\n"],
    ["an unknown type", '{"type":"SURPRISE","object":{"metadata":{}}}\n'],
    ["no object in the event", '{"type":"ADDED"}\n'],
  ])("rejects a line with %s, and quotes it", async (_, line) => {
    const [, error] = await collect(scriptedClient([reply(line)]).client);
    expect(error).toMatchObject({
      code: "RESPONSE_INVALID",
      message: expect.stringContaining("a line is not a watch event"),
    });
  });

  it("accepts an object over 3 MB, up to the configured limit", async () => {
    const name = "x".repeat(3_500_000);
    expect((await collect(scriptedClient([reply(event("ADDED", name))]).client))[0]).toEqual([`ADDED ${name}`]);
    const [, error] = await collect(scriptedClient([reply(event("ADDED", name))]).client, { maxLineBytes: 1_000_000 });
    expect(error).toMatchObject({ code: "STREAM_LINE_TOO_LONG" });
  });

  it("passes an exception of its reader through, and closes the stream", async () => {
    let isClosed = false;
    const body = (async function* () {
      try {
        yield Buffer.from(event("ADDED", "a") + event("ADDED", "b"));
      } finally {
        isClosed = true;
      }
    })();
    const { client } = scriptedClient([{ ...reply(""), body }]);
    const reading = (async () => {
      for await (const _ of client.watch(ConfigMap)) throw new Error("the reader's own");
    })();
    await expect(reading).rejects.toThrow("the reader's own");
    expect(isClosed).toBe(true);
  });

  it("waits for a slow reader, one event at a time", async () => {
    let active = 0;
    const { client, clock } = scriptedClient([
      reply(Array.from({ length: 20 }, (_, index) => event("ADDED", `n${index}`)).join("")),
    ]);
    const names: string[] = [];
    const reading = (async () => {
      for await (const step of client.watch(ConfigMap)) {
        expect(++active).toBe(1);
        await clock.sleep(10);
        active--;
        if (step.type === "ADDED") names.push(step.object.metadata.name);
      }
    })();
    await clock.advance(1000);
    await reading;
    expect(names).toEqual(Array.from({ length: 20 }, (_, index) => `n${index}`));
  });

  it("that stalls is given up after the configured time; a slow reader does not count", async () => {
    const clock = new VirtualClock();
    const inner: Transport = {
      request: async () => ({
        ...reply(""),
        body: (async function* () {
          yield Buffer.from(event("ADDED", "a"));
          await clock.sleep(50_000);
          yield Buffer.from(event("ADDED", "b"));
          yield Buffer.from(event("ADDED", "c"));
        })(),
      }),
      async [Symbol.asyncDispose]() {},
    };
    const half = scriptedFaults([{ type: "stall", afterBytes: 2 * event("ADDED", "a").length }]);
    const client = createClient({ transport: faultTransport(inner, half, clock), server: "test", clock });
    const seen: string[] = [];
    const watching = settled(
      (async () => {
        for await (const step of client.watch(ConfigMap, { idleTimeout: "1m" })) {
          seen.push(step.type);
          if (seen.length === 1) await clock.sleep(300_000);
        }
      })(),
    );
    await clock.advance(409_999);
    expect(seen).toHaveLength(2);
    await clock.advance(1);
    expect(await watching).toMatchObject({ code: "TRANSPORT_TIMEOUT", message: "the server sent nothing for 60 s" });
  });
});
