import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import type { Clock, Timer } from "../clock/clock.js";
import { sleepWith } from "../clock/sleep.js";
import { ConfigMap, Pod } from "../kinds/builtin/v1.js";
import { createClient } from "./api-client.js";
import type { ApiError } from "./api-error.js";
import {
  answer,
  createObject,
  failing,
  getObject,
  object,
  scriptedClient,
  settled,
} from "./testing/scripted-client.js";
import type { Transport, TransportResponse } from "./transport/transport.js";
import { transportError } from "./transport/transport-error.js";

describe("retries", () => {
  it("wait as long as Retry-After says, at most one minute each", async () => {
    const { client, clock, requests } = scriptedClient([
      failing(429, "TooManyRequests", { "retry-after": "5" }),
      answer(object),
    ]);
    const got = getObject(client);
    await clock.advance(4_999);
    expect(requests).toHaveLength(1);
    await clock.advance(600);
    await got;
    expect(requests).toHaveLength(2);

    const long = scriptedClient([failing(429, "TooManyRequests", { "retry-after": "3600" })]);
    await expect(getObject(long.client)).rejects.toMatchObject({
      code: "API_TOO_MANY_REQUESTS",
      retryAfterMs: 3_600_000,
    });
    expect(long.requests).toHaveLength(1);
  });

  it("accept a date in Retry-After, and ignore a malformed one", async () => {
    const { client, clock, requests } = scriptedClient([
      () => failing(503, "ServiceUnavailable", { "retry-after": new Date(clock.now() + 3000).toUTCString() }),
      answer(object),
    ]);
    const got = getObject(client);
    await clock.advance(2_900);
    expect(requests).toHaveLength(1);
    await clock.advance(1_000);
    await got;
  });

  it("happen for 429 without Retry-After, too, with growing waits and a limit", async () => {
    const { client, clock, requests } = scriptedClient([failing(429, "TooManyRequests")]);
    const got = settled(getObject(client));
    await clock.advance(200_000);
    expect(await got).toMatchObject({ code: "API_TOO_MANY_REQUESTS" });
    expect(requests).toHaveLength(10);
  });

  const broken = transportError("TRANSPORT_BROKEN", "reset");
  const refused = transportError("TRANSPORT_REFUSED", "refused");
  const untrusted = transportError("TRANSPORT_UNTRUSTED", "untrusted");
  it.each([
    ["a read after a broken connection", getObject, broken, true],
    ["a write after a broken connection", createObject, broken, false],
    ["a read after a refused connection", getObject, refused, true],
    ["a write after a refused connection", createObject, refused, true],
    ["anything after an untrusted certificate", getObject, untrusted, false],
    ["a write after 429", createObject, failing(429, "TooManyRequests"), true],
    [
      "a write after 503 with Retry-After",
      createObject,
      failing(503, "ServiceUnavailable", { "retry-after": "1" }),
      true,
    ],
    ["a write after a bare 503", createObject, failing(503, "ServiceUnavailable"), false],
    ["a write after 500 with Retry-After", createObject, failing(500, "ServerTimeout", { "retry-after": "1" }), true],
    ["a write after 504", createObject, failing(504, "Timeout", { "retry-after": "1" }), false],
    ["a read after 504 with Retry-After", getObject, failing(504, "Timeout", { "retry-after": "1" }), true],
    ["a read after 500", getObject, failing(500, "InternalError"), false],
    ["a read after 409", getObject, failing(409, "Conflict", { "retry-after": "1" }), false],
  ])("%s: %#", async (_, call, first, isRepeated) => {
    const { client, clock, requests } = scriptedClient([first, answer(object)]);
    const outcome = settled(call(client));
    await clock.advance(10_000);
    expect([(await outcome) === "resolved", requests.length]).toEqual(isRepeated ? [true, 2] : [false, 1]);
  });

  it("happen for a read whose body broke off, not for a write", async () => {
    const torn = (): TransportResponse => ({
      ...answer(object),
      body: (async function* () {
        yield Buffer.from('{"kind":');
        throw broken;
      })(),
    });
    const read = scriptedClient([torn, answer(object)]);
    expect(await getObject(read.client)).toEqual(object);
    const write = scriptedClient([torn, answer(object)]);
    await expect(createObject(write.client)).rejects.toMatchObject({ code: "TRANSPORT_BROKEN" });
    expect([read.requests.length, write.requests.length]).toEqual([2, 1]);
  });

  it("happen for server-side apply after a broken connection, because apply is idempotent", async () => {
    const { client, requests } = scriptedClient([broken, answer(object)]);
    await client.apply(ConfigMap, { metadata: { name: "a", namespace: "n" } });
    expect(requests).toHaveLength(2);
  });

  it("do not happen for an eviction that a disruption budget forbids", async () => {
    const forbidden = failing(
      429,
      "TooManyRequests",
      { "retry-after": "10" },
      { details: { causes: [{ reason: "DisruptionBudget" }] } },
    );
    const { client, requests } = scriptedClient([forbidden]);
    const eviction = client.createSubresource(Pod, "p", {
      subresource: "eviction",
      body: { kind: "Eviction" },
      namespace: "n",
    });
    await expect(eviction).rejects.toMatchObject({ code: "API_TOO_MANY_REQUESTS", retryAfterMs: 10_000 });
    expect(requests).toHaveLength(1);
  });

  it("do not happen if the caller has its own back-off", async () => {
    const { client, requests } = scriptedClient([failing(429, "TooManyRequests", { "retry-after": "1" })]);
    const response = await client.raw({ method: "GET", path: "/x", retry: false });
    expect([response.status, requests.length]).toEqual([429, 1]);
  });

  it("end when the caller aborts", async () => {
    const { client, clock } = scriptedClient([failing(429, "TooManyRequests", { "retry-after": "30" })]);
    const stop = new AbortController();
    const got = settled(client.get(ConfigMap, "a", { namespace: "n", signal: stop.signal }));
    await clock.settle();
    stop.abort("enough");
    expect(await got).toMatchObject({ code: "ABORTED", cause: "enough" });
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("credentials", () => {
  it("are refreshed once after the server rejects them", async () => {
    let token = "old";
    const credentials = {
      headers: () => ({ authorization: `Bearer ${token}` }),
      rejected: () => {
        token = "new";
        return true;
      },
    };
    const { client, requests } = scriptedClient([failing(401, "Unauthorized"), answer(object)], { credentials });
    await getObject(client);
    expect(requests.map((request) => request.headers.authorization)).toEqual(["Bearer old", "Bearer new"]);
    const hopeless = scriptedClient([failing(401, "Unauthorized")], { credentials });
    await expect(getObject(hopeless.client)).rejects.toMatchObject({ code: "API_UNAUTHORIZED" });
    expect(hopeless.requests).toHaveLength(2);
  });

  it("that are slow to obtain do not delay an abort", async () => {
    const credentials = { headers: () => new Promise<never>(() => {}) };
    const { client, requests } = scriptedClient([answer(object)], { credentials });
    const stop = new AbortController();
    const got = client.get(ConfigMap, "a", { namespace: "n", signal: stop.signal });
    stop.abort();
    await expect(got).rejects.toMatchObject({ code: "ABORTED" });
    expect(requests).toEqual([]);
  });

  it("do not appear in errors", async () => {
    const credentials = { headers: () => ({ authorization: "Bearer secret" }) };
    const { client } = scriptedClient([failing(403, "Forbidden")], { credentials });
    const error = (await settled(getObject(client))) as ApiError;
    expect(JSON.stringify({ ...error, message: error.message, stack: error.stack })).not.toContain("secret");
  });
});

it("a process that was suspended until its signal was due sends no retry", async () => {
  // As after SIGSTOP and SIGCONT: all timers are late, and fire in direct succession.
  const timers: { readonly dueMs: number; readonly callback: () => void }[] = [];
  let nowMs = 0;
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    timer(delayMs, callback) {
      const entry = { dueMs: nowMs + delayMs, callback };
      timers.push(entry);
      const dispose = (): void => void (timers.includes(entry) && timers.splice(timers.indexOf(entry), 1));
      const timer: Timer = { unref: () => timer, [Symbol.dispose]: dispose };
      return timer;
    },
    sleep: (delayMs, signal) => sleepWith(clock, delayMs, signal),
  };
  let sent = 0;
  const transport: Transport = {
    async request() {
      sent++;
      return failing(429, "TooManyRequests", { "retry-after": "1" });
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const client = createClient({ transport, server: "https://example.com", clock });
  const lost = new AbortController();
  const asking = settled(client.get(ConfigMap, "a", { namespace: "b", signal: lost.signal }));
  await new Promise((resolve) => setImmediate(resolve));
  clock.timer(5_000, () => lost.abort());
  nowMs = 60_000;
  for (;;) {
    const [next] = timers.filter(({ dueMs }) => dueMs <= nowMs).sort((left, right) => left.dueMs - right.dueMs);
    if (!next) break;
    timers.splice(timers.indexOf(next), 1);
    next.callback();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await asking).toMatchObject({ code: "ABORTED" });
  expect(sent).toBe(1);
});
