import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../clock/system-clock.js";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { makeCertificate } from "../testing/certificate.js";
import { type Handler, serve, type TestServerOptions } from "../testing/http-server.js";
import { readBytes } from "./body.js";
import type { TlsMaterial } from "./dialer.js";
import { type HttpTransportOptions, http1Transport } from "./http1-transport.js";
import { get, holdsBackLateRequests, reply, transportContract } from "./transport.contract.js";
import type { Transport, TransportRequest } from "./transport.js";

for (const protocol of ["http", "https"] as const) {
  transportContract(`HTTP/1.1 over ${protocol === "http" ? "TCP" : "TLS"}`, (handler) => open(handler, { protocol }));
}

async function open(handler: Handler, server: TestServerOptions, options: Partial<HttpTransportOptions> = {}) {
  const served = await serve(handler, server);
  const transport = http1Transport({ server: served.url, clock: systemClock, tls: { ca: served.ca }, ...options });
  return {
    transport,
    server: served,
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
    },
  };
}

async function text(transport: Transport, request: TransportRequest = get("/")): Promise<string> {
  return (await readBytes((await transport.request(request)).body)).toString();
}

describe("connections of HTTP/1.1", () => {
  it("that open too late for their request are kept for others, and the request is not sent", () =>
    holdsBackLateRequests((handler) => open(handler, { protocol: "https" })));

  it("are reused: a thousand sequential requests use one", async () => {
    await using opened = await open(async () => reply("x"), { protocol: "http" });
    for (let count = 0; count < 1000; count++) await text(opened.transport);
    expect(opened.server.connections()).toBe(1);
  });

  it("never exceed their limit; further requests wait", async () => {
    let active = 0;
    let most = 0;
    let fill: (value?: unknown) => void = () => {};
    const full = new Promise((resolve) => (fill = resolve));
    const handler: Handler = async () => {
      most = Math.max(most, ++active);
      if (active === 3) fill();
      await full;
      await systemClock.sleep(5);
      active--;
      return reply("x");
    };
    await using opened = await open(handler, { protocol: "http" }, { maxConnections: 3 });
    await Promise.all(Array.from({ length: 30 }, () => text(opened.transport)));
    expect([most, opened.server.connections()]).toEqual([3, 3]);
  });

  it("can be waited for, and the wait can be aborted", async () => {
    let answerNow: (value?: unknown) => void = () => {};
    const gate = new Promise((resolve) => (answerNow = resolve));
    await using opened = await open(
      async () => {
        await gate;
        return reply("x");
      },
      { protocol: "http" },
      { maxConnections: 1 },
    );
    const first = text(opened.transport);
    const stop = new AbortController();
    const waiting = opened.transport.request({ ...get("/"), signal: stop.signal });
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: "ABORTED" });
    answerNow();
    expect(await first).toBe("x");
    expect(await text(opened.transport)).toBe("x");
  });

  it("are closed when unused for a minute", async () => {
    const clock = new VirtualClock();
    await using opened = await open(async () => reply("x"), { protocol: "http" }, { clock });
    await text(opened.transport);
    await clock.advance(59_000);
    await text(opened.transport);
    await clock.advance(59_999);
    await text(opened.transport);
    expect(opened.server.connections()).toBe(1);
    await clock.advance(60_000);
    await text(opened.transport);
    expect(opened.server.connections()).toBe(2);
  });

  it("are not reused after a response that closes them, nor after an unread body", async () => {
    const handler: Handler = async ({ path }) =>
      reply("x".repeat(100_000), path === "/close" ? { connection: "close" } : {});
    await using opened = await open(handler, { protocol: "http" });
    await text(opened.transport, get("/close"));
    const { body } = await opened.transport.request(get("/"));
    for await (const _ of body) break;
    await text(opened.transport);
    expect(opened.server.connections()).toBeGreaterThanOrEqual(2);
  });

  it("are replaced when certificates change, while requests in flight go on", async () => {
    const issuer = makeCertificate({ commonName: "CA" });
    const identity = (commonName: string) => makeCertificate({ commonName, issuer: { ...issuer, commonName: "CA" } });
    let finish: (value?: unknown) => void = () => {};
    const gate = new Promise((resolve) => (finish = resolve));
    const handler: Handler = async ({ path, headers }) => {
      if (path === "/slow") await gate;
      return reply(String(headers["x-client-certificate"]));
    };
    const certificate = makeCertificate({ commonName: "server", hosts: ["127.0.0.1"] });
    let material: TlsMaterial = { ca: certificate.cert, ...identity("one") };
    const server = { protocol: "https", clientCa: issuer.cert, certificate } as const;
    await using opened = await open(handler, server, { tls: () => material });
    const slow = text(opened.transport, get("/slow"));
    expect(await text(opened.transport)).toBe("one");
    material = { ca: certificate.cert, ...identity("two") };
    expect(await text(opened.transport)).toBe("two");
    finish();
    expect(await slow).toBe("one");
    expect(await text(opened.transport)).toBe("two");
  });

  it("fail with TRANSPORT_REFUSED, TRANSPORT_UNTRUSTED or TRANSPORT_TIMEOUT, depending on the peer", async () => {
    await using opened = await open(async () => reply("x"), { protocol: "https" });
    const stranger = http1Transport({ server: opened.server.url, clock: systemClock });
    await expect(stranger.request(get("/"))).rejects.toMatchObject({ code: "TRANSPORT_UNTRUSTED" });
    const nowhere = http1Transport({ server: "https://127.0.0.1:1", clock: systemClock });
    await expect(nowhere.request(get("/"))).rejects.toMatchObject({
      code: "TRANSPORT_REFUSED",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    await using again = await open(async () => reply("x"), { protocol: "https" }, { tls: { cert: "x", key: "y" } });
    await expect(again.transport.request(get("/"))).rejects.toMatchObject({
      code: "TRANSPORT_UNTRUSTED",
      message: expect.stringContaining("cannot be used"),
    });
    const clock = new VirtualClock();
    const tunnel = (_: unknown, signal: AbortSignal): Promise<Socket> =>
      new Promise((__, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const nobody = http1Transport({ server: "https://example.invalid", clock, tunnel });
    const waiting = nobody.request(get("/"));
    const outcome = expect(waiting).rejects.toMatchObject({ code: "TRANSPORT_TIMEOUT" });
    await clock.advance(30_000);
    await outcome;
  });
});

describe("a server that breaks the rules of HTTP/1.1", () => {
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** A server that answers each request with these bytes, and then acts as told. */
  async function raw(bytes: string, then: "keep" | "end" | "reset" = "keep") {
    const server = createServer((socket) => {
      sockets.push(socket.on("error", () => {}));
      socket.on("data", () => {
        socket.write(bytes, "latin1", () => {
          if (then === "end") socket.end();
          else if (then === "reset") socket.resetAndDestroy();
        });
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const transport = http1Transport({ server: url, clock: systemClock });
    return {
      transport,
      async [Symbol.asyncDispose]() {
        await transport[Symbol.asyncDispose]();
        server.close();
      },
    };
  }

  it.each([
    ["closes without a word", "", "end"],
    ["resets without a word", "", "reset"],
    ["closes within the head", "HTTP/1.1 200 OK\r\nCont", "end"],
    ["speaks another protocol", "SSH-2.0-x\r\n\r\n", "keep"],
    ["speaks HTTP/2", "\0\0\x12\x04\0\0\0\0\0\r\n\r\n", "keep"],
  ] as const)("and %s is TRANSPORT_BROKEN", async (_, bytes, then) => {
    await using server = await raw(bytes, then);
    await expect(server.transport.request(get("/"))).rejects.toMatchObject({ code: "TRANSPORT_BROKEN" });
  });

  it.each([
    ["stops short of its content-length", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"],
    ["stops within a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc"],
    ["stops before the last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"],
  ])("and %s breaks the body", async (_, bytes) => {
    await using server = await raw(bytes, "end");
    const { body } = await server.transport.request(get("/"));
    await expect(readBytes(body)).rejects.toMatchObject({ code: "TRANSPORT_BROKEN" });
  });

  it("and sends unrequested data loses its connection, not the next request", async () => {
    await using server = await raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\n\r\n");
    expect(await text(server.transport)).toBe("a");
    expect(await text(server.transport)).toBe("a");
  });
});

describe("a request of HTTP/1.1", () => {
  it.each([
    ["a line break in a header", { headers: { x: "a\r\nHost: evil" } }],
    ["a line break in a header's name", { headers: { "x\r\ny": "a" } }],
    ["a line break in the path", { path: "/a\r\nHost: evil" }],
    ["a space in the path", { path: "/a b" }],
    ["an invalid path", { path: "http://evil/" }],
  ])("with %s is refused before it is sent", async (_, change) => {
    const seen: TransportRequest[] = [];
    await using opened = await open(
      async (request) => {
        seen.push(request);
        return reply("x");
      },
      { protocol: "http" },
    );
    await expect(opened.transport.request({ ...get("/"), ...change })).rejects.toMatchObject({
      code: "REQUEST_INVALID",
    });
    expect(seen).toEqual([]);
    expect(await text(opened.transport)).toBe("x");
  });
});
