import { once } from "node:events";
import { constants, createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer as createTcpServer, type Socket, connect as tcpConnect } from "node:net";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../clock/system-clock.js";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import { createClient } from "../api-client.js";
import { type Handler, serve, type TestServerOptions } from "../testing/http-server.js";
import { readBytes } from "./body.js";
import { type Http2TransportOptions, http2Transport } from "./http2-transport.js";
import { get, holdsBackLateRequests, reply, transportContract } from "./transport.contract.js";
import type { Transport } from "./transport.js";

for (const protocol of ["h2c", "h2"] as const) {
  transportContract(`HTTP/2 over ${protocol === "h2c" ? "TCP" : "TLS"}`, (handler) => open(handler, { protocol }));
}

async function open(handler: Handler, server: TestServerOptions, options: Partial<Http2TransportOptions> = {}) {
  const served = await serve(handler, server);
  const transport = http2Transport({ server: served.url, clock: systemClock, tls: { ca: served.ca }, ...options });
  return {
    transport,
    server: served,
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
    },
  };
}

async function text(transport: Transport, path = "/"): Promise<string> {
  return (await readBytes((await transport.request(get(path))).body)).toString();
}

/** A body that stays open until its reader stops. */
const endless: Handler = async ({ signal }) => ({
  ...reply(""),
  body: (async function* () {
    yield Buffer.from("x");
    await new Promise((resolve) => signal!.addEventListener("abort", resolve));
  })(),
});

describe("sessions of HTTP/2", () => {
  it("that open too late for their request are kept for others, and the request is not sent", () =>
    holdsBackLateRequests((handler) => open(handler, { protocol: "h2" })));

  it("carry many streams each; another is opened when one is full", async () => {
    await using opened = await open(endless, { protocol: "h2" }, { maxStreamsPerSession: 10 });
    const responses = await Promise.all(Array.from({ length: 35 }, () => opened.transport.request(get("/"))));
    expect(opened.server.connections()).toBe(4);
    await Promise.all(responses.map(({ body }) => body[Symbol.asyncIterator]().return?.()));
  });

  it("do not let a slow reader block the others", async () => {
    const large: Handler = async () => ({
      ...reply(""),
      body: (async function* () {
        for (let count = 0; count < 600; count++) yield Buffer.alloc(65_536);
      })(),
    });
    await using opened = await open(
      (request) => (request.path === "/large" ? large(request) : Promise.resolve(reply("x"))),
      { protocol: "h2" },
    );
    const slow = await opened.transport.request(get("/large"));
    const reader = slow.body[Symbol.asyncIterator]();
    await reader.next();
    expect(await text(opened.transport)).toBe("x");
    expect((await readBytes((await opened.transport.request(get("/large"))).body)).length).toBe(600 * 65_536);
    await reader.return?.();
  });

  it("that end with GOAWAY finish their streams, and another session takes over", async () => {
    const sessions: ServerHttp2Session[] = [];
    let finish: (value?: unknown) => void = () => {};
    const gate = new Promise((resolve) => (finish = resolve));
    const server = createServer((request, response) => {
      if (request.url === "/slow") void gate.then(() => response.end("slow"));
      else response.end("fast");
    }).on("session", (session) => sessions.push(session));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using transport = http2Transport({ server: url, clock: systemClock });
    const slow = text(transport, "/slow");
    expect(await text(transport)).toBe("fast");
    sessions[0]!.goaway(0);
    // This response shows that the client has read everything before it.
    await new Promise<void>((resolve) => sessions[0]!.ping(() => resolve()));
    expect(await text(transport)).toBe("fast");
    finish();
    expect(await slow).toBe("slow");
    expect(sessions).toHaveLength(2);
    server.close();
  });

  it("that refuse a stream by RST or GOAWAY have done nothing, so even a write is sent again", async () => {
    for (const refuse of [
      (stream: ServerHttp2Stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM),
      (stream: ServerHttp2Stream) => stream.session?.goaway(constants.NGHTTP2_NO_ERROR, stream.id! - 2),
    ]) {
      let asked = 0;
      const server = createServer().on("stream", (stream) => {
        stream.on("error", () => {});
        if (++asked === 2) return refuse(stream);
        stream.respond({ ":status": 201, "content-type": "application/json" });
        stream.end('{"metadata":{"name":"a","namespace":"n"}}');
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const transport = http2Transport({ server: url, clock: systemClock });
      await using client = createClient({ transport, server: url });
      await client.get(ConfigMap, "a", { namespace: "n" });
      const made = await client.create(ConfigMap, { metadata: { name: "a", namespace: "n" } });
      expect([made.metadata.name, asked]).toEqual(["a", 3]);
      server.close();
    }
  });

  it("that are half open are detected by a PING after 30 s and closed 15 s later", async () => {
    const clock = new VirtualClock();
    const asked: (() => void)[] = [];
    const server = createServer((_, response) => {
      response.write("first");
      asked.push(() => response.write("after the answer to the PING"));
    }).on("session", (session) => session.on("ping", () => asked[0]!()));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    // A proxy that stops forwarding bytes without closing anything.
    const pairs: [Socket, Socket][] = [];
    const proxy = createTcpServer((socket) => {
      const upstream = tcpConnect((server.address() as AddressInfo).port, "127.0.0.1");
      for (const each of [socket, upstream]) each.on("error", () => {});
      socket.pipe(upstream).pipe(socket);
      pairs.push([socket, upstream]);
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    await using transport = http2Transport({ server: url, clock });
    const { body } = await transport.request(get("/"));
    const reader = body[Symbol.asyncIterator]();
    await reader.next();
    await clock.advance(30_000);
    // The PING was answered: the next one is due 30 s later.
    expect(Buffer.from((await reader.next()).value!).toString()).toBe("after the answer to the PING");
    const silent = reader.next();
    for (const [socket, upstream] of pairs) {
      socket.unpipe();
      upstream.unpipe();
    }
    await clock.advance(30_000);
    await clock.advance(14_999);
    const outcome = expect(silent).rejects.toMatchObject({
      code: "TRANSPORT_BROKEN",
      message: "the server did not answer a PING within 15 s",
    });
    await clock.advance(1);
    await outcome;
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    proxy.close();
    server.close();
  });

  it("fail the bodies of their streams if the connection is cut", async () => {
    const sockets: Socket[] = [];
    const server = createServer((_, response) => void response.write("x")).on("connection", (socket) =>
      sockets.push(socket),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using transport = http2Transport({ server: url, clock: systemClock });
    const reader = (await transport.request(get("/"))).body[Symbol.asyncIterator]();
    await reader.next();
    const next = reader.next();
    for (const socket of sockets) socket.destroy();
    await expect(next).rejects.toMatchObject({ code: "TRANSPORT_BROKEN" });
    server.close();
  });

  it("are closed when unused for a minute", async () => {
    const clock = new VirtualClock();
    await using opened = await open(async () => reply("x"), { protocol: "h2" }, { clock, pingAfter: 1e9 });
    await text(opened.transport);
    await clock.advance(59_999);
    await text(opened.transport);
    expect(opened.server.connections()).toBe(1);
    await clock.advance(60_000);
    await text(opened.transport);
    expect(opened.server.connections()).toBe(2);
  });

  it("fail with TRANSPORT_REFUSED if nobody listens, or the server has no HTTP/2", async () => {
    await using nowhere = http2Transport({ server: "https://127.0.0.1:1", clock: systemClock });
    await expect(nowhere.request(get("/"))).rejects.toMatchObject({ code: "TRANSPORT_REFUSED" });
    await using old = await serve(async () => reply("x"), { protocol: "https" });
    await using transport = http2Transport({ server: old.url, clock: systemClock, tls: { ca: old.ca } });
    await expect(transport.request(get("/"))).rejects.toMatchObject({
      code: expect.stringMatching(/^TRANSPORT_(REFUSED|UNTRUSTED)$/),
    });
  });

  it("refuse only the request with a bad header", async () => {
    await using opened = await open(async () => reply("x"), { protocol: "h2" });
    await expect(opened.transport.request({ ...get("/"), headers: { x: "a\r\nb" } })).rejects.toMatchObject({
      code: "REQUEST_INVALID",
    });
    expect(await text(opened.transport)).toBe("x");
  });
});
