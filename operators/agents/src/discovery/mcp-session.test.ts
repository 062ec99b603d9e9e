import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, timeoutSignal } from "setpoint/clock";
import { describe, expect, it } from "vitest";
import type { TlsMaterial } from "./http-exchange.js";
import { listen, startSse, startStreamable } from "./mcp-servers.testing.js";
import { listTools, type McpTarget, watchTools } from "./mcp-session.js";

const never = new AbortController().signal;
const target = (url: string, more: Partial<McpTarget> = {}): McpTarget => ({
  url,
  headers: {},
  protocol: "STREAMABLE_HTTP",
  ...more,
});
const named = (...names: readonly string[]) => ({
  tools: () => names.map((name) => ({ name, description: `does ${name}` })),
});

describe("listing the tools of an MCP server", () => {
  it("lists them in the server's order, with headers on every request, and ends the session [11] [18] [21]", async () => {
    await using server = await startStreamable(named("c", "a", "b"));
    const { tools } = await listTools(target(server.url, { headers: { "x-token": "t" } }), never);
    expect(tools).toEqual(["c", "a", "b"].map((name) => ({ name, description: `does ${name}` })));
    expect(server.requests.every(({ headers }) => headers["x-token"] === "t")).toBe(true);
    expect(server.requests.map(({ method }) => method)).toEqual(["POST", "POST", "POST", "DELETE"]);
    expect(server.sessions()).toBe(0);
  });

  it("lists them over the older HTTP with SSE [12]", async () => {
    await using server = await startSse(named("a", "b"));
    const { tools } = await listTools(target(server.url, { protocol: "SSE", headers: { "x-token": "t" } }), never);
    expect(tools.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(server.requests.every(({ headers }) => headers["x-token"] === "t")).toBe(true);
    await expect.poll(() => server.sessions()).toBe(0);
  });

  it("reads all pages; if one fails there is no list at all [13]", async () => {
    await using paged = await startStreamable({ ...named("a", "b", "c"), pageSize: 1 });
    expect((await listTools(target(paged.url), never)).tools.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    await using broken = await startStreamable({ ...named("a", "b", "c"), pageSize: 1, failAt: 1 });
    await expect(listTools(target(broken.url), never)).rejects.toMatchObject({ code: "MCP_PROTOCOL" });
    expect(broken.sessions()).toBe(0);
  });

  it("does not open the optional server stream, and does not wait for one [14]", async () => {
    await using server = await startStreamable(named("a"));
    await listTools(target(server.url), never);
    expect(server.requests.some(({ method }) => method === "GET")).toBe(false);
    // A server that answers every GET, and every notification, with a silent stream.
    await using silent = await listen((request, response) => {
      let text = "";
      request.on("data", (chunk) => (text += String(chunk)));
      request.on("end", () => {
        const { id, method } = (text === "" ? {} : JSON.parse(text)) as { id?: number; method?: string };
        if (id === undefined)
          return void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
        const result = method === "initialize" ? { protocolVersion: "2025-06-18", capabilities: {} } : { tools: [] };
        response.writeHead(200, { "content-type": "text/event-stream" });
        // The stream of a response stays open as well; the server sends its own request, with its own id.
        response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n\n`);
        response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
      });
    });
    using deadline = timeoutSignal(systemClock, 10_000);
    expect((await listTools(target(silent.url), deadline.signal)).tools).toEqual([]);
  });

  it("follows a redirect to another path, never to another host", async () => {
    await using server = await startStreamable(named("a"));
    const { origin } = new URL(server.url);
    const sendingTo = (location: string) =>
      listen((request, response) => {
        request.resume();
        response.writeHead(307, { location }).end();
      });
    // Many frameworks redirect a path without its trailing slash.
    await using slashed = await startStreamable({ ...named("a"), redirects: { from: "/mcp", to: "/mcp/" } });
    expect((await listTools(target(slashed.url), never)).tools).toHaveLength(1);
    expect(slashed.sessions()).toBe(0);
    await using elsewhere = await sendingTo(`${origin}/mcp`);
    await expect(listTools(target(elsewhere.url), never)).rejects.toMatchObject({ code: "MCP_HTTP_STATUS" });
    await using circle = await sendingTo("/mcp");
    await expect(listTools(target(circle.url), never)).rejects.toMatchObject({ code: "MCP_HTTP_STATUS" });
    expect(server.requests).toEqual([]);
  });

  it.each([
    ["401", (r: { writeHead(status: number): { end(): void } }) => r.writeHead(401).end(), "MCP_UNAUTHORIZED"],
    ["404", (r: { writeHead(status: number): { end(): void } }) => r.writeHead(404).end(), "MCP_HTTP_STATUS"],
    [
      "HTML",
      (r: { writeHead(s: number, h: object): { end(t: string): void } }) =>
        r.writeHead(200, { "content-type": "text/html" }).end("<p>"),
      "MCP_NOT_MCP",
    ],
    [
      "no JSON",
      (r: { writeHead(s: number, h: object): { end(t: string): void } }) =>
        r.writeHead(200, { "content-type": "application/json" }).end("{"),
      "MCP_PROTOCOL",
    ],
    [
      "no message",
      (r: { writeHead(s: number, h: object): { end(t: string): void } }) =>
        r.writeHead(200, { "content-type": "application/json" }).end("[]"),
      "MCP_PROTOCOL",
    ],
  ])("has a distinct error for a server that answers %s [26]", async (_, answer, code) => {
    await using server = await listen((request, response) => {
      request.resume();
      answer(response as never);
    });
    await expect(listTools(target(server.url), never)).rejects.toMatchObject({ code });
    await expect(listTools(target(server.url, { protocol: "SSE" }), never)).rejects.toMatchObject({
      code: expect.stringMatching(/^MCP_/),
    });
  });

  it("gives up on a list that is too large, and counts a name once [26]", async () => {
    const huge = { tools: () => [{ name: "a", description: "x".repeat(10_000_000) }] };
    await using large = await startStreamable(huge);
    await expect(listTools(target(large.url), never)).rejects.toMatchObject({ code: "MCP_TOO_LARGE" });
    await using twice = await startStreamable(named("a", "b", "a"));
    expect((await listTools(target(twice.url), never)).tools.map(({ name }) => name)).toEqual(["a", "b"]);
  });

  it.each(["SSE", "STREAMABLE_HTTP"] as const)(
    "gives up on a server that never answers at the deadline: %s",
    async (protocol) => {
      const sockets = new Set<{ destroy(): void }>();
      const hung = createServer((socket) => void sockets.add(socket));
      await new Promise<void>((resolve) => hung.listen(0, "127.0.0.1", resolve));
      const { port } = hung.address() as { port: number };
      using deadline = timeoutSignal(systemClock, 200);
      const listing = listTools(target(`http://127.0.0.1:${port}/mcp`, { protocol }), deadline.signal);
      await expect(listing).rejects.toMatchObject({ code: "MCP_TIMEOUT" });
      for (const socket of sockets) socket.destroy();
      hung.close();
      await expect(listTools(target("http://127.0.0.1:1/mcp", { protocol }), never)).rejects.toMatchObject({
        code: "MCP_UNREACHABLE",
      });
    },
  );

  it("trusts the given CA, and presents a client certificate [20]", async () => {
    using folder = certificates();
    const { cert, key, other } = folder;
    await using server = await startStreamable({ ...named("a"), tls: { cert, key } });
    const trusting = (tls: Partial<TlsMaterial>) =>
      listTools(target(server.url, { tls: { withoutSystemCa: false, verify: true, ...tls } }), never);
    await expect(listTools(target(server.url), never)).rejects.toMatchObject({ code: "MCP_TLS" });
    await expect(trusting({ ca: other })).rejects.toMatchObject({ code: "MCP_TLS" });
    for (const tls of [{ ca: cert }, { ca: cert, withoutSystemCa: true }, { verify: false }]) {
      expect((await trusting(tls)).tools).toHaveLength(1);
    }
    await using mutual = await startStreamable({ ...named("a"), tls: { cert, key, ca: cert } });
    const tls = { ca: cert, withoutSystemCa: false, verify: true };
    await expect(listTools(target(mutual.url, { tls }), never)).rejects.toMatchObject({
      code: expect.stringMatching(/MCP_TLS|MCP_UNREACHABLE/),
    });
    expect((await listTools(target(mutual.url, { tls: { ...tls, cert, key } }), never)).tools).toHaveLength(1);
  });
});

describe("listening to the changes of an MCP server", () => {
  it.each([
    ["Streamable HTTP", "STREAMABLE_HTTP", startStreamable],
    ["HTTP with SSE", "SSE", startSse],
  ] as const)("%s: reports each change, and the session ends with the signal", async (_, protocol, start) => {
    await using server = await start({ ...named("a"), announces: true });
    const listed = await listTools(target(server.url, { protocol }), never);
    expect(listed.announcesChanges).toBe(true);
    const stop = new AbortController();
    let changes = 0;
    const watching = watchTools(target(server.url, { protocol }), stop.signal, () => changes++);
    // The first call covers changes before the stream was open.
    await expect.poll(() => changes).toBe(1);
    for (const count of [2, 3]) {
      await server.tellChanged();
      await expect.poll(() => changes).toBe(count);
    }
    expect(server.sessions()).toBe(1);
    stop.abort(new Error("enough"));
    await expect(watching).rejects.toThrow();
    await expect.poll(() => server.sessions()).toBe(0);
  });

  it("does not listen to a server without notifications, and rejects if a stream breaks", async () => {
    await using quiet = await startStreamable(named("a"));
    await watchTools(target(quiet.url), never, () => {});
    expect(quiet.sessions()).toBe(0);
    expect(quiet.requests.some(({ method }) => method === "GET")).toBe(false);
    const server = await startStreamable({ ...named("a"), announces: true });
    let changes = 0;
    const watching = watchTools(target(server.url), never, () => changes++);
    await expect.poll(() => changes).toBe(1);
    const broken = expect(watching).rejects.toMatchObject({ code: expect.stringMatching(/^MCP_/) });
    await server[Symbol.asyncDispose]();
    await broken;
  });
});

function certificates() {
  const folder = mkdtempSync(join(tmpdir(), "agents-tls-"));
  const make = (name: string): readonly [string, string] => {
    const at = (ending: string) => join(folder, `${name}.${ending}`);
    const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-keyout",
        at("key"),
        "-out",
        at("crt"),
        ...subject,
      ],
      { stdio: "ignore" },
    );
    return [readFileSync(at("crt"), "utf8"), readFileSync(at("key"), "utf8")];
  };
  const [cert, key] = make("server");
  const [other] = make("other");
  return { cert, key, other, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}
