import { Buffer } from "node:buffer";
import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../clock/random.js";
import { VirtualClock } from "../clock/virtual-clock.js";
import { ConfigMap, Namespace, Pod } from "../kinds/builtin/v1.js";
import type { NewObject } from "../kinds/object.js";
import { type ClientOptions, createClient } from "./api-client.js";
import { type ApiError, isTooLargeResourceVersion } from "./api-error.js";
import type { Client, ObservedRequest } from "./client.js";
import { faultTransport, scriptedFaults } from "./fault-transport.js";
import { reply } from "./transport.contract.js";
import type { Transport, TransportRequest, TransportResponse } from "./transport.js";
import { transportError } from "./transport-error.js";

const JSON_TYPE = { "content-type": "application/json" };
const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "n", resourceVersion: "1" } };
const answer = (body: unknown, status = 200, headers = {}): TransportResponse =>
  reply(JSON.stringify(body), { ...JSON_TYPE, ...headers }, status);
const status = (code: number, reason: string, more: object = {}): object => ({
  kind: "Status",
  status: "Failure",
  message: `the message of ${reason}`,
  reason,
  code,
  ...more,
});
const failing = (code: number, reason: string, headers = {}, more = {}): TransportResponse =>
  answer(status(code, reason, more), code, headers);

interface Setup {
  readonly client: Client;
  readonly clock: VirtualClock;
  readonly requests: TransportRequest[];
}

type Answer =
  | TransportResponse
  | Error
  | ((request: TransportRequest) => TransportResponse | Promise<TransportResponse>);

/** A client whose n-th request gets the n-th answer; the last one repeats. */
function setup(answers: readonly Answer[], options: Partial<ClientOptions> = {}): Setup {
  const clock = new VirtualClock();
  const requests: TransportRequest[] = [];
  const transport: Transport = {
    async request(request) {
      const next = answers[Math.min(requests.length, answers.length - 1)]!;
      requests.push(request);
      if (next instanceof Error) throw next;
      return typeof next === "function" ? next(request) : next;
    },
    async [Symbol.asyncDispose]() {},
  };
  const client = createClient({ transport, server: "https://test", clock, random: seededRandom(1), ...options });
  return { client, clock, requests };
}

const getObject = (client: Client): Promise<unknown> => client.get(ConfigMap, "a", { namespace: "n" });
const createObject = (client: Client): Promise<unknown> =>
  client.create(ConfigMap, { metadata: { name: "a", namespace: "n" } });

async function settled(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "resolved",
    (error: unknown) => error,
  );
}

describe("retries", () => {
  it("wait as long as Retry-After says, on the clock, and no longer than one minute each", async () => {
    const { client, clock, requests } = setup([
      failing(429, "TooManyRequests", { "retry-after": "5" }),
      answer(object),
    ]);
    const got = getObject(client);
    await clock.advance(4_999);
    expect(requests).toHaveLength(1);
    await clock.advance(600);
    await got;
    expect(requests).toHaveLength(2);

    const long = setup([failing(429, "TooManyRequests", { "retry-after": "3600" })]);
    await expect(getObject(long.client)).rejects.toMatchObject({
      code: "API_TOO_MANY_REQUESTS",
      retryAfterMs: 3_600_000,
    });
    expect(long.requests).toHaveLength(1);
  });

  it("take a date in Retry-After, and none that makes no sense", async () => {
    const { client, clock, requests } = setup([
      () => failing(503, "ServiceUnavailable", { "retry-after": new Date(clock.now() + 3000).toUTCString() }),
      answer(object),
    ]);
    const got = getObject(client);
    await clock.advance(2_900);
    expect(requests).toHaveLength(1);
    await clock.advance(1_000);
    await got;
  });

  it("also happen for 429 without Retry-After, with growing waits and an end", async () => {
    const { client, clock, requests } = setup([failing(429, "TooManyRequests")]);
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
    const { client, clock, requests } = setup([first, answer(object)]);
    const outcome = settled(call(client));
    await clock.advance(10_000);
    expect([(await outcome) === "resolved", requests.length]).toEqual(isRepeated ? [true, 2] : [false, 1]);
  });

  it("happen for a read whose body broke, not for a write whose body did", async () => {
    const torn = (): TransportResponse => ({
      ...answer(object),
      body: (async function* () {
        yield Buffer.from('{"kind":');
        throw broken;
      })(),
    });
    const read = setup([torn, answer(object)]);
    expect(await getObject(read.client)).toEqual(object);
    const write = setup([torn, answer(object)]);
    await expect(createObject(write.client)).rejects.toMatchObject({ code: "TRANSPORT_BROKEN" });
    expect([read.requests.length, write.requests.length]).toEqual([2, 1]);
  });

  it("happen for server-side apply after a broken connection: applying twice is applying once", async () => {
    const { client, requests } = setup([broken, answer(object)]);
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
    const { client, requests } = setup([forbidden]);
    const eviction = client.createSubresource(Pod, "p", "eviction", { kind: "Eviction" }, { namespace: "n" });
    await expect(eviction).rejects.toMatchObject({ code: "API_TOO_MANY_REQUESTS", retryAfterMs: 10_000 });
    expect(requests).toHaveLength(1);
  });

  it("do not happen where the caller has its own back-off", async () => {
    const { client, requests } = setup([failing(429, "TooManyRequests", { "retry-after": "1" })]);
    const response = await client.raw({ method: "GET", path: "/x", retry: false });
    expect([response.status, requests.length]).toEqual([429, 1]);
  });

  it("end when the caller aborts", async () => {
    const { client, clock } = setup([failing(429, "TooManyRequests", { "retry-after": "30" })]);
    const stop = new AbortController();
    const got = settled(client.get(ConfigMap, "a", { namespace: "n", signal: stop.signal }));
    await clock.settle();
    stop.abort("enough");
    expect(await got).toMatchObject({ code: "ABORTED", cause: "enough" });
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("credentials", () => {
  it("that the server rejects are had anew, once", async () => {
    let token = "old";
    const credentials = {
      headers: () => ({ authorization: `Bearer ${token}` }),
      rejected: () => {
        token = "new";
        return true;
      },
    };
    const { client, requests } = setup([failing(401, "Unauthorized"), answer(object)], { credentials });
    await getObject(client);
    expect(requests.map((request) => request.headers.authorization)).toEqual(["Bearer old", "Bearer new"]);
    const hopeless = setup([failing(401, "Unauthorized")], { credentials });
    await expect(getObject(hopeless.client)).rejects.toMatchObject({ code: "API_UNAUTHORIZED" });
    expect(hopeless.requests).toHaveLength(2);
  });

  it("that take their time do not hold up whoever aborts", async () => {
    const credentials = { headers: () => new Promise<never>(() => {}) };
    const { client, requests } = setup([answer(object)], { credentials });
    const stop = new AbortController();
    const got = client.get(ConfigMap, "a", { namespace: "n", signal: stop.signal });
    stop.abort();
    await expect(got).rejects.toMatchObject({ code: "ABORTED" });
    expect(requests).toEqual([]);
  });

  it("do not appear in errors", async () => {
    const credentials = { headers: () => ({ authorization: "Bearer secret" }) };
    const { client } = setup([failing(403, "Forbidden")], { credentials });
    const error = (await settled(getObject(client))) as ApiError;
    expect(JSON.stringify({ ...error, message: error.message, stack: error.stack })).not.toContain("secret");
  });
});

describe("answers", () => {
  it.each([
    [400, "BadRequest", "API_BAD_REQUEST"],
    [401, "Unauthorized", "API_UNAUTHORIZED"],
    [403, "Forbidden", "API_FORBIDDEN"],
    [405, "MethodNotAllowed", "API_METHOD_NOT_ALLOWED"],
    [406, "NotAcceptable", "API_UNSUPPORTED_MEDIA_TYPE"],
    [409, "Conflict", "API_CONFLICT"],
    [409, "AlreadyExists", "API_ALREADY_EXISTS"],
    [410, "Expired", "API_EXPIRED"],
    [410, "Gone", "API_EXPIRED"],
    [413, "RequestEntityTooLarge", "API_TOO_LARGE"],
    [415, "UnsupportedMediaType", "API_UNSUPPORTED_MEDIA_TYPE"],
    [422, "Invalid", "API_INVALID"],
    [500, "InternalError", "API_INTERNAL"],
    [500, "ServerTimeout", "API_TIMEOUT"],
    [504, "Timeout", "API_TIMEOUT"],
    [418, "Teapot", "API_FAILED"],
  ])("%i %s become %s, with the server's words", async (code, reason, expected) => {
    const { client } = setup([failing(code, reason)]);
    await expect(getObject(client)).rejects.toMatchObject({
      code: expected,
      status: code,
      reason,
      message: `GET /api/v1/namespaces/n/configmaps/a: ${code} ${reason}: the message of ${reason}`,
      request: { method: "GET", path: "/api/v1/namespaces/n/configmaps/a" },
    });
  });

  it("say too large a resourceVersion in three ways", async () => {
    const shapes = [
      failing(
        504,
        "Timeout",
        {},
        { details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large" }] } },
      ),
      failing(504, "Timeout", {}, { message: "Too large resource version: 2000, current: 1000" }),
      failing(500, "InternalError", {}, { details: { causes: [{ reason: "ResourceVersionTooLarge" }] } }),
    ];
    for (const shape of shapes) {
      expect(isTooLargeResourceVersion(await settled(getObject(setup([shape]).client)))).toBe(true);
    }
    expect(isTooLargeResourceVersion(await settled(getObject(setup([failing(504, "Timeout")]).client)))).toBe(false);
  });

  it("from a proxy are shown by their first words", async () => {
    const html = `<html><body>\n<h1>502 Bad Gateway</h1>${" padding".repeat(100)}</body></html>`;
    const { client } = setup([reply(html, { "content-type": "text/html" }, 502)]);
    await expect(createObject(client)).rejects.toMatchObject({
      code: "API_UNAVAILABLE",
      reason: "",
      message: expect.stringMatching(
        /: 502, an answer that is no Status \(text\/html\): <html><body> <h1>502 Bad Gateway.*…$/,
      ),
    });
  });

  it.each([
    [
      "HTML that calls itself JSON",
      "<html>login</html>",
      JSON_TYPE,
      /content-type application\/json\) is not JSON; it starts with: <html>login/,
    ],
    ["HTML", "<html>login</html>", { "content-type": "text/html" }, /content-type text\/html\) is not JSON/],
    ["protobuf that calls itself JSON", "k8s\u0000\n\u000f\n\u0002v1", JSON_TYPE, /it starts with: k8s\?/],
    [
      "gzip unasked",
      Buffer.from([0x1f, 0x8b, 8, 0, 0xff]),
      { ...JSON_TYPE, "content-encoding": "gzip" },
      /content-encoding gzip/,
    ],
    ["nothing", "", JSON_TYPE, /it is empty/],
    ["half an answer", '{"kind":"ConfigMap","metadata":{"na', JSON_TYPE, /is not JSON; it starts with: \{"kind"/],
    ["a number", "42", JSON_TYPE, /expected an object, the server sent: 42/],
    ["another object", '{"a":1}', JSON_TYPE, /expected ConfigMap, the server sent: \{"a":1\}/],
    ["a character cut in two", Buffer.from('{"metadata":{"name":"\xc3"}}', "latin1"), JSON_TYPE, /is not JSON/],
  ])("that are %s are a clear error", async (_, body, headers, message) => {
    const { client } = setup([reply(body, headers as Record<string, string>)]);
    const error = (await settled(getObject(client))) as Error;
    expect(error).toMatchObject({ code: "RESPONSE_INVALID", message: expect.stringMatching(message) });
    expect(error.message).toContain("GET /api/v1/namespaces/n/configmaps/a");
  });

  it("are read by what they are, where only the content type is wrong", async () => {
    const { client } = setup([reply(JSON.stringify(object), { "content-type": "text/plain" })]);
    expect(await getObject(client)).toEqual(object);
  });

  it("of 250,000 objects are a list like any other", async () => {
    const items = Array.from({ length: 250_000 }, (_, index) => ({ metadata: { name: `n${index}` } }));
    const { client } = setup([answer({ metadata: { resourceVersion: "9" }, items })]);
    const list = await client.list(ConfigMap);
    expect(list.items).toHaveLength(250_000);
    expect(list.items[249_999]).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: "n249999" } });
  });

  it("to a list may have null for no items", async () => {
    const { client } = setup([answer({ metadata: { resourceVersion: "9" }, items: null })]);
    expect(await client.list(ConfigMap)).toEqual({ items: [], resourceVersion: "9" });
  });

  it("that take too long are given up, and the connection with them", async () => {
    const waiting = ({ signal }: TransportRequest): Promise<never> =>
      new Promise((_, reject) => signal!.addEventListener("abort", () => reject(transportError("ABORTED", "aborted"))));
    const { client, clock } = setup([waiting]);
    const got = settled(createObject(client));
    await clock.advance(89_999);
    await clock.advance(1);
    expect(await got).toMatchObject({
      code: "TRANSPORT_TIMEOUT",
      message: expect.stringContaining("no answer within 90 s"),
    });
  });

  it("whose body falls silent are given up, too", async () => {
    const silent = (): TransportResponse => ({
      ...answer(object),
      body: (async function* () {
        yield Buffer.from('{"kind":');
        await new Promise(() => {});
      })(),
    });
    const { client, clock } = setup([silent]);
    const got = settled(getObject(client));
    await clock.advance(90_000);
    expect(await got).toMatchObject({ code: "TRANSPORT_TIMEOUT" });
  });

  it("that lead elsewhere are not followed", async () => {
    const { client, requests } = setup([reply("", { location: "https://evil.example.com/" }, 302)]);
    await expect(getObject(client)).rejects.toMatchObject({ code: "API_FAILED", status: 302 });
    expect(requests).toHaveLength(1);
  });

  it("with warnings pass each text on once", async () => {
    const warnings: string[] = [];
    const headers = { warning: ['299 - "old \\"api\\""', '299 - "first", 299 - "second, with comma"'] };
    const { client } = setup([() => answer(object, 200, headers)], { onWarning: (text) => warnings.push(text) });
    await getObject(client);
    await getObject(client);
    expect(warnings).toEqual(['old "api"', "first", "second, with comma"]);
  });

  it("are reported to the observer, failures and repeats too", async () => {
    const seen: ObservedRequest[] = [];
    const answers = [
      transportError("TRANSPORT_BROKEN", "reset"),
      failing(404, "NotFound", {}, { details: { name: "a" } }),
    ];
    const { client } = setup(answers, { observer: (request) => seen.push(request) });
    expect(await client.find(ConfigMap, "a", { namespace: "n" })).toBeUndefined();
    expect(seen).toEqual([
      {
        verb: "get",
        kind: "ConfigMap",
        subresource: "",
        status: 0,
        error: "TRANSPORT_BROKEN",
        durationMs: 0,
        attempt: 1,
      },
      { verb: "get", kind: "ConfigMap", subresource: "", status: 404, durationMs: 0, attempt: 2 },
    ]);
  });
});

describe("requests", () => {
  it("that could reach another path are refused before they are sent", async () => {
    const { client, requests } = setup([answer(object)]);
    for (const name of ["", ".", "..", "a/b", "a%2fb"]) {
      await expect(client.get(ConfigMap, name, { namespace: "n" })).rejects.toMatchObject({ code: "REQUEST_INVALID" });
    }
    await expect(client.get(ConfigMap, "a")).rejects.toThrow(
      'v1/ConfigMap "a": a namespaced object needs its namespace',
    );
    await expect(client.create(ConfigMap, { metadata: { name: "a" } })).rejects.toThrow(
      "metadata.namespace is missing",
    );
    await expect(client.apply(Namespace, { metadata: {} })).rejects.toThrow("metadata.name is missing");
    expect(requests).toEqual([]);
  });

  it("of pages leave the resourceVersion out beside a continue token", async () => {
    const { client, requests } = setup([
      answer({ metadata: { resourceVersion: "5", continue: "token" }, items: [] }),
      answer({ metadata: { resourceVersion: "5" }, items: [] }),
    ]);
    for await (const _ of client.pages(ConfigMap, {
      resourceVersion: "5",
      resourceVersionMatch: "Exact",
      labelSelector: "a in (b,c)",
    }));
    expect(requests.map((request) => request.path)).toEqual([
      "/api/v1/configmaps?labelSelector=a%20in%20(b%2Cc)&limit=500&resourceVersion=5&resourceVersionMatch=Exact",
      "/api/v1/configmaps?labelSelector=a%20in%20(b%2Cc)&limit=500&continue=token",
    ]);
  });

  it("of pages reject with API_EXPIRED and the token to go on with, where the snapshot is gone", async () => {
    const { client } = setup([
      answer({ metadata: { resourceVersion: "5", continue: "token" }, items: [] }),
      failing(410, "Expired", {}, { metadata: { continue: "go-on" } }),
    ]);
    const paging = (async () => {
      for await (const _ of client.pages(ConfigMap));
    })();
    await expect(paging).rejects.toMatchObject({ code: "API_EXPIRED", continueToken: "go-on" });
  });

  it("leave nothing on a signal that outlives them", async () => {
    const { client } = setup([() => answer(object)]);
    const { signal } = new AbortController();
    for (let count = 0; count < 20; count++) await client.get(ConfigMap, "a", { namespace: "n", signal });
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  it("name the field manager in every write", async () => {
    const { client, requests } = setup([() => answer(object)], { fieldManager: "me" });
    await createObject(client);
    await client.update(ConfigMap, object as ConfigMap, { fieldManager: "other", dryRun: true });
    await client.patch(ConfigMap, "a", { type: "merge", body: {} }, { namespace: "n" });
    expect(requests.map((request) => request.path.split("?")[1])).toEqual([
      "fieldManager=me",
      "fieldManager=other&dryRun=All",
      "fieldManager=me",
    ]);
  });

  it("carry the kind even where the object does not", async () => {
    const { client, requests } = setup([() => answer(object)]);
    await client.create(ConfigMap, { metadata: { name: "a", namespace: "n" }, data: {} } as NewObject<ConfigMap>);
    expect(JSON.parse(Buffer.from(requests[0]!.body!).toString())).toMatchObject({
      apiVersion: "v1",
      kind: "ConfigMap",
    });
  });
});

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

  it("asks for bookmarks, and knows the one that ends the initial events", async () => {
    const bookmark = {
      kind: "ConfigMap",
      metadata: { resourceVersion: "8", annotations: { "k8s.io/initial-events-end": "true" } },
    };
    const { client, requests } = setup([
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

  it("lives on beyond any deadline of its head", async () => {
    let push: (text: string) => void = () => {};
    const body = (async function* () {
      for (let count = 0; count < 2; count++)
        yield Buffer.from(await new Promise<string>((resolve) => (push = resolve)));
    })();
    const { client, clock } = setup([{ ...reply(""), body }]);
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
    const { client } = setup([reply(`${event("ADDED", "a")}${JSON.stringify(gone)}\n`)]);
    const [seen, error] = await collect(client);
    expect(seen).toEqual(["ADDED a"]);
    expect(error).toMatchObject({ name: "ApiError", code: "API_EXPIRED", status: 410, reason: "Expired" });
  });

  it("rejects where the stream ends within a line: nothing is dropped silently", async () => {
    const { client } = setup([reply(event("ADDED", "a") + event("DELETED", "a").slice(0, 40))]);
    const [seen, error] = await collect(client);
    expect(seen).toEqual(["ADDED a"]);
    expect(error).toMatchObject({ code: "STREAM_TRUNCATED" });
  });

  it.each([
    ["no JSON", "<html>\n"],
    ["no object", "42\n"],
    ["an unknown type", '{"type":"SURPRISE","object":{"metadata":{}}}\n'],
    ["no object in the event", '{"type":"ADDED"}\n'],
  ])("rejects for a line with %s, showing it", async (_, line) => {
    const [, error] = await collect(setup([reply(line)]).client);
    expect(error).toMatchObject({
      code: "RESPONSE_INVALID",
      message: expect.stringContaining("a line is no watch event"),
    });
  });

  it("takes an object over 3 MB, up to the limit stated", async () => {
    const name = "x".repeat(3_500_000);
    expect((await collect(setup([reply(event("ADDED", name))]).client))[0]).toEqual([`ADDED ${name}`]);
    const [, error] = await collect(setup([reply(event("ADDED", name))]).client, { maxLineBytes: 1_000_000 });
    expect(error).toMatchObject({ code: "STREAM_LINE_TOO_LONG" });
  });

  it("lets an exception of its reader through, and closes the stream", async () => {
    let isClosed = false;
    const body = (async function* () {
      try {
        yield Buffer.from(event("ADDED", "a") + event("ADDED", "b"));
      } finally {
        isClosed = true;
      }
    })();
    const { client } = setup([{ ...reply(""), body }]);
    const reading = (async () => {
      for await (const _ of client.watch(ConfigMap)) throw new Error("the reader's own");
    })();
    await expect(reading).rejects.toThrow("the reader's own");
    expect(isClosed).toBe(true);
  });

  it("waits for a slow reader, one event after the other", async () => {
    let active = 0;
    const { client, clock } = setup([
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

  it("that falls silent is given up after the time stated; a reader that takes its time is not", async () => {
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
        for await (const step of client.watch(ConfigMap, { idleTimeoutMs: 60_000 })) {
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

describe("logs", () => {
  it("are text, wherever its characters are cut, and follow without a deadline", async () => {
    const bytes = Buffer.from("grüße\n");
    const body = (async function* () {
      for (const byte of bytes) yield Buffer.from([byte]);
    })();
    const { client, requests } = setup([{ ...reply(""), body }]);
    let text = "";
    for await (const chunk of client.logs("p", { namespace: "n", container: "c", follow: true, tailLines: 5 }))
      text += chunk;
    expect(text).toBe("grüße\n");
    expect(requests[0]!.path).toBe("/api/v1/namespaces/n/pods/p/log?container=c&follow=true&tailLines=5");
  });
});
