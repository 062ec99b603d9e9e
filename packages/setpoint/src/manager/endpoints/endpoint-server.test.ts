import { get, type IncomingMessage, type RequestOptions } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../clock/system-clock.js";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { type RunRecord, Timeline } from "../../controller/timeline/timeline.js";
import { loopbackOnly } from "./access-guard.js";
import { EndpointServer } from "./endpoint-server.js";
import { timelineEndpoint } from "./timeline-endpoint.js";

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

function asked(options: RequestOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(options, resolve).on("error", reject);
  });
}

const fetchedFrom = (site: string): string =>
  `GET /timeline HTTP/1.1\r\nhost: localhost:80\r\nsec-fetch-site: ${site}\r\nconnection: close\r\n\r\n`;

describe("an endpoint server", () => {
  it("recognises local callers by their address", async () => {
    await using server = new EndpointServer(systemClock);
    server.route("/metrics", () => ({ status: 200, body: "7\n" }), loopbackOnly);
    const { port } = new URL(await server.listen("", 0, "test"));
    const path = "/metrics";
    expect((await asked({ host: "127.0.0.1", port, path })).statusCode).toBe(200);
    const own = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ internal, family }) => !internal && family === "IPv4");
    const others = [
      ...own.map(({ address }) => ({ host: address })),
      // A mesh forwards remote callers from such an address. Only Linux has all loopback addresses.
      ...(process.platform === "linux" ? [{ host: "127.0.0.1", localAddress: "127.0.0.6" }] : []),
    ];
    const statuses = others.map(async (from) => (await asked({ ...from, port, path })).statusCode);
    expect(await Promise.all(statuses)).toEqual(others.map(() => 403));
    expect(others.length).toBeGreaterThan(0);
  });

  it.each([
    ["no Host", "GET /timeline HTTP/1.0\r\n\r\n", 403],
    ["another Host", "GET /timeline HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n", 403],
    ["another site", fetchedFrom("cross-site"), 403],
    ["a sibling site", fetchedFrom("same-site"), 403],
    ["its own page", fetchedFrom("same-origin"), 200],
    ["the address bar", fetchedFrom("none"), 200],
  ])("decides about a request from %s on the loopback interface", async (_from, request, status) => {
    await using server = new EndpointServer(systemClock);
    const lines = async function* (): AsyncIterable<string> {
      yield "<script>";
    };
    server.route("/timeline", () => ({ status: 200, type: "application/json", lines }), loopbackOnly);
    const { port } = new URL(await server.listen("127.0.0.1", 0, "test"));
    const socket = connect(Number(port), "127.0.0.1");
    socket.end(request);
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(text.toLowerCase()).toContain("x-content-type-options: nosniff");
  });

  it("starts no stream for a caller who has gone while it was authorised", async () => {
    await using server = new EndpointServer(systemClock);
    const begun: string[] = [];
    const lines = async function* (): AsyncIterable<string> {
      begun.push("stream");
      yield "first";
    };
    const gone = new AbortController();
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const guard = async ({ signal }: { readonly signal: AbortSignal }): Promise<undefined> => {
      gone.abort();
      await aborted(signal);
      answer();
      return undefined;
    };
    server.route("/timeline", () => ({ status: 200, type: "application/x-ndjson", lines }), guard);
    const url = await server.listen("127.0.0.1", 0, "test");
    await expect(fetch(`${url}/timeline`, { signal: gone.signal })).rejects.toThrow();
    await answered;
    await systemClock.sleep(0);
    expect(begun).toEqual([]);
  });

  it("ends a stream whose caller lost access, but not if the review fails", async () => {
    const clock = new VirtualClock();
    await using server = new EndpointServer(clock);
    const verdicts: (number | "unknown" | undefined)[] = [undefined, undefined, "unknown", 503, 403];
    const guard = async () => {
      const verdict = verdicts.shift();
      if (verdict === "unknown") throw new Error("out of reach");
      return verdict === undefined ? undefined : { status: verdict, body: "no\n" };
    };
    let ended = false;
    const lines = async function* (signal: AbortSignal): AsyncIterable<string> {
      yield "first";
      await aborted(signal);
      ended = true;
    };
    server.route("/timeline", () => ({ status: 200, type: "application/x-ndjson", lines }), guard);
    const url = await server.listen("127.0.0.1", 0, "test");
    const reading = (await fetch(`${url}/timeline`)).text();
    await clock.advance(180_000);
    expect([verdicts.length, ended]).toEqual([1, false]);
    await clock.advance(60_000);
    expect(await reading).toBe("first\n");
    expect(ended).toBe(true);
  });

  it("applies backpressure to a stream", async () => {
    await using server = new EndpointServer(systemClock);
    const total = 2_000;
    let given = 0;
    const lines = async function* (): AsyncIterable<string> {
      for (; given < total; given++) yield "x".repeat(64 * 1024 - 1);
    };
    server.route("/timeline", () => ({ status: 200, type: "application/x-ndjson", lines }));
    const { port } = new URL(await server.listen("127.0.0.1", 0, "test"));
    const answer = await asked({ host: "127.0.0.1", port, path: "/timeline" });
    for (let before = -1; before !== given; ) {
      before = given;
      await systemClock.sleep(200);
    }
    expect(given).toBeLessThan(total);
    let bytes = 0;
    for await (const chunk of answer) bytes += (chunk as Uint8Array).length;
    expect(bytes).toBe(total * 64 * 1024);
  });

  it("is not delayed by a profile that nobody waits for any more", async () => {
    const { profilingEndpoints } = await import("./profiling.js");
    const server = new EndpointServer(systemClock);
    const { profile } = profilingEndpoints(systemClock);
    let over: Promise<unknown> | undefined;
    server.route("/debug/profile", (request) => {
      const taken = Promise.resolve(profile(request));
      over = taken.catch(() => "aborted");
      return taken;
    });
    const url = await server.listen("127.0.0.1", 0, "test");
    const gone = new AbortController();
    const asking = fetch(`${url}/debug/profile?seconds=300`, { signal: gone.signal }).catch(() => undefined);
    while (!over) await systemClock.sleep(10);
    gone.abort();
    await asking;
    expect(await over).toBe("aborted");
    over = undefined;
    const again = fetch(`${url}/debug/profile?seconds=300`).catch(() => undefined);
    while (!over) await systemClock.sleep(10);
    await server[Symbol.asyncDispose]();
    expect(await over).toBe("aborted");
    await again;
  });
});

it("tells a slow reader of the timeline how many runs it has missed", async () => {
  const timeline = new Timeline();
  const gone = new AbortController();
  const query = new URLSearchParams("watch=true");
  const request = { path: "/timeline", query, headers: {}, isLoopback: true, signal: gone.signal };
  const answer = await timelineEndpoint(timeline, () => [])(request);
  const lines = (answer as { lines: (signal: AbortSignal) => AsyncIterable<string> }).lines(gone.signal);
  const reader = lines[Symbol.asyncIterator]();
  const first = reader.next();
  for (let id = 0; id < 1_101; id++) timeline.add({ id } as RunRecord);
  expect((await first).value).toBe('{"dropped":101}');
  expect((await reader.next()).value).toBe('{"id":101}');
  gone.abort();
});
