import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import fc from "fast-check";
import {
  http1Transport,
  http2Transport,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from "setpoint/client";
import { type Clock, systemClock, systemRandom } from "setpoint/clock";
import { VirtualClock } from "setpoint/testing";
import { describe, expect, it, vi } from "vitest";
import type { ApiHandler, ApiRequest } from "../api/api-request.js";
import { StatusError } from "../api/status-error.js";
import { CertificateAuthority } from "../auth/certificates/certificate-authority.js";
import { ApiServer } from "./api-server.js";
import { BODY_LIMIT_BYTES } from "./request-body.js";
import { safeHandler } from "./safe-handler.js";

const authority = CertificateAuthority.create({ clock: systemClock, random: systemRandom });
const serving = authority.issueServer("test", ["127.0.0.1"]);
const client = authority.issueClient({ commonName: "ann", organizations: ["one", "two"] });

const serve = (handler: ApiHandler, clock: Clock = systemClock): Promise<ApiServer> =>
  ApiServer.listen({
    handler: safeHandler(handler, () => {}),
    host: "127.0.0.1",
    port: 0,
    ...serving,
    clientCa: authority.certificate,
    clock,
    log: () => {},
  });

const tls = { ca: authority.certificate, cert: client.certificate, key: client.privateKey };

const rawConnection = async (server: ApiServer, credentials: object = {}): Promise<TLSSocket> => {
  const socket = connect({ host: "127.0.0.1", port: server.port, ca: authority.certificate, ...credentials });
  await once(socket, "secureConnect");
  return socket;
};

const readAll = async (socket: TLSSocket): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const text = async (response: TransportResponse): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

const get = (transport: Transport, path: string, more: Partial<TransportRequest> = {}): Promise<TransportResponse> =>
  transport.request({ method: "GET", path, headers: {}, ...more });

const ok = (body = "ok"): Awaited<ReturnType<ApiHandler>> => ({ status: 200, headers: {}, body: Buffer.from(body) });

/** Yields until the caller leaves, and reports when that was. */
const endless = (ended: () => void): ApiHandler => {
  return async ({ signal }) => ({
    status: 200,
    headers: { "content-type": "application/json" },
    body: (async function* () {
      try {
        yield Buffer.from("first\n");
        if (!signal.aborted) await once(signal, "abort");
      } finally {
        ended();
      }
    })(),
  });
};

describe.each([
  ["HTTP/1.1", http1Transport],
  ["HTTP/2", http2Transport],
] as const)("the server over %s", (_name, open) => {
  const transportTo = (server: ApiServer): Transport => open({ server: server.url, clock: systemClock, tls });

  it("passes on the request, including the certificate of the caller", async () => {
    let seen: ApiRequest | undefined;
    await using server = await serve(async (request) => {
      seen = request;
      return { status: 201, headers: { warning: ["299 - a", "299 - b"] }, body: Buffer.from("done") };
    });
    await using transport = transportTo(server);
    const response = await transport.request({
      method: "PATCH",
      path: "/api/v1/a%2Fb?x=1&x=2",
      headers: { "content-type": "text/plain", "impersonate-group": ["g1", "g2"] },
      body: Buffer.from("hello"),
    });
    expect([response.status, response.headers.warning, await text(response)]).toEqual([
      201,
      ["299 - a", "299 - b"],
      "done",
    ]);
    expect([seen?.method, seen?.path, seen?.query.getAll("x")]).toEqual(["PATCH", "/api/v1/a/b", ["1", "2"]]);
    expect([seen?.headers["content-type"], seen?.headers["impersonate-group"]]).toEqual(["text/plain", ["g1", "g2"]]);
    expect(Buffer.from(seen!.body).toString()).toBe("hello");
    expect(seen?.clientCertificate).toEqual({ commonName: "ann", organizations: ["one", "two"] });
    expect(seen?.isInProcess).toBe(false);
  });

  it("streams, and tells the handler when the reader leaves", async () => {
    let ended = (): void => {};
    const hasEnded = new Promise<void>((resolve) => {
      ended = resolve;
    });
    await using server = await serve(endless(() => ended()));
    await using transport = transportTo(server);
    for await (const chunk of (await get(transport, "/watch")).body) {
      expect(Buffer.from(chunk).toString()).toBe("first\n");
      break;
    }
    await hasEnded;
  });

  it("cuts off a response that fails midway, so that it does not look complete", async () => {
    const broken = async function* (): AsyncIterable<Uint8Array> {
      yield Buffer.from("half");
      await systemClock.sleep(20);
      throw new Error("the disk is gone");
    };
    await using server = await serve(async () => ({ status: 200, headers: {}, body: broken() }));
    await using transport = transportTo(server);
    for (const body of [Buffer.alloc(0), Buffer.alloc(100_000)]) {
      const answer = await transport.request({ method: "POST", path: "/", headers: {}, body });
      await expect(text(answer)).rejects.toMatchObject({ code: "TRANSPORT_BROKEN" });
    }
  });

  it("refuses a body above the limit and goes on", async () => {
    await using server = await serve(async ({ body }) => ok(String(body.byteLength)));
    await using transport = transportTo(server);
    const post = (size: number): Promise<TransportResponse> =>
      transport.request({ method: "POST", path: "/", headers: {}, body: Buffer.alloc(size) });
    expect(await text(await post(BODY_LIMIT_BYTES))).toBe(String(BODY_LIMIT_BYTES));
    // The server answers and closes while the body is still being sent: either may be seen first.
    const refused = await post(BODY_LIMIT_BYTES + 1).catch((error: { code: string }) => error.code);
    expect(["TRANSPORT_BROKEN", 413]).toContain(typeof refused === "string" ? refused : refused.status);
    expect((await get(transport, "/")).status).toBe(200);
  });

  it("accepts heads of many kilobytes, as the real server does", async () => {
    await using server = await serve(async ({ query }) => ok(String(query.get("x")?.length)));
    await using transport = transportTo(server);
    expect(await text(await get(transport, `/?x=${"y".repeat(60_000)}`))).toBe("60000");
  });

  it("answers errors of a handler, and goes on", async () => {
    await using server = await serve(async ({ path }) => {
      if (path === "/teapot") throw new StatusError(418, "Teapot", "short and stout");
      throw new TypeError("a bug");
    });
    await using transport = transportTo(server);
    expect((await get(transport, "/teapot")).status).toBe(418);
    expect((await get(transport, "/bug")).status).toBe(500);
    expect((await get(transport, "/%zz")).status).toBe(400);
  });

  it("ends watches cleanly and lets other requests finish when it stops", async () => {
    let finish: (() => void) | undefined;
    const server = await serve(async (request) => {
      if (request.path === "/watch") return endless(() => {})(request);
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return ok("late");
    });
    await using transport = transportTo(server);
    const watch = text(await get(transport, "/watch"));
    const slow = get(transport, "/slow").then(text);
    await vi.waitUntil(() => finish, { timeout: 10_000 });
    const stopped = server[Symbol.asyncDispose]();
    await systemClock.sleep(20);
    finish?.();
    expect(await watch).toBe("first\n");
    expect(await slow).toBe("late");
    await stopped;
    await expect(get(transport, "/")).rejects.toMatchObject({ code: expect.stringMatching(/^TRANSPORT_/) });
  });
});

/** A request in one of its forms, and the expected response. */
interface Form {
  request(index: number): string;
  answer(index: number): string;
}

const form = (method: string, path: string, rest: string, body = ""): Form => ({
  request: (index) => `${method} /${path}${index} HTTP/1.1\r\nhost: a\r\n${rest}`,
  answer: (index) => `${method} /${path}${index} ${body};`,
});

const FORMS: readonly Form[] = [
  form("GET", "plain", "\r\n"),
  form("POST", "plain", "content-length: 5\r\n\r\nhello", "hello"),
  form("POST", "chunked", "transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc"),
  form("POST", "large", `content-length: 300\r\n\r\n${"x".repeat(300)}`, "x".repeat(300)),
];
const CLOSING = form("GET", "closing", "connection: close\r\n\r\n");

/** A text cut at the given positions. */
function pieces(text: string, cuts: readonly number[]): [number, number][] {
  const places = [...new Set([0, ...cuts.filter((cut) => cut < text.length), text.length])].sort((a, b) => a - b);
  return places.slice(1).map((to, index) => [places[index]!, to]);
}

describe("the server", () => {
  it("refuses a certificate of another authority, unless there are other credentials", async () => {
    await using server = await serve(async ({ clientCertificate }) => ok(clientCertificate?.commonName ?? "nobody"));
    const stranger = CertificateAuthority.create({ clock: systemClock, random: systemRandom });
    const { certificate, privateKey } = stranger.issueClient({ commonName: "ann", organizations: ["system:masters"] });
    const ask = async (credentials: object, header = ""): Promise<string> => {
      const socket = await rawConnection(server, credentials);
      socket.write(`GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${header}\r\n`);
      return readAll(socket);
    };
    expect(await ask({ cert: certificate, key: privateKey })).toContain("HTTP/1.1 401");
    expect(await ask({ cert: certificate, key: privateKey }, "authorization: Bearer x\r\n")).toMatch(/nobody$/);
    expect(await ask({})).toMatch(/nobody$/);
    expect(await ask({ cert: client.certificate, key: client.privateKey })).toMatch(/ann$/);
  });

  it("survives garbage, broken requests and callers that hang up", async () => {
    await using server = await serve(async () => ok());
    for (const bytes of [
      "\0\u0001\u0002garbage\r\n\r\n",
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf",
      "GET / HT",
    ]) {
      const socket = await rawConnection(server);
      socket.on("error", () => {});
      socket.write(bytes);
      await systemClock.sleep(10);
      socket.destroy();
    }
    const socket = await rawConnection(server);
    socket.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    expect(await readAll(socket)).toContain("200 OK");
  });

  it("answers requests in order, wherever their bytes are cut and whatever their form", async () => {
    await using server = await serve(async ({ method, path, body }) => {
      // The later ones are ready first.
      if (path.endsWith("0")) await systemClock.sleep(5);
      return ok(`${method} ${path} ${Buffer.from(body).toString()};`);
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...FORMS), { minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(600), { maxLength: 6 }),
        async (forms, cuts) => {
          const sent = [...forms, CLOSING].map((form, index) => form.request(index)).join("");
          const socket = await rawConnection(server);
          const answers = readAll(socket);
          for (const [from, to] of pieces(sent, cuts)) {
            socket.write(sent.slice(from, to));
            await systemClock.sleep(1);
          }
          const expected = [...forms, CLOSING].map((form, index) => form.answer(index));
          expect((await answers).match(/(?:GET|POST) \/\w+ \w*;/g)).toEqual(expected);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("reads a request with a body as if it had not asked for an upgrade", async () => {
    await using server = await serve(async ({ method, upgrade, body }) =>
      ok(`${method} ${upgrade} ${body.byteLength};`),
    );
    const socket = await rawConnection(server);
    const head = "host: a\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\n";
    socket.write(`POST / HTTP/1.1\r\n${head}content-length: 4\r\n\r\nbo`);
    await systemClock.sleep(10);
    socket.write(`dyGET / HTTP/1.1\r\n${head}\r\n`);
    expect((await readAll(socket)).match(/\w+ \S+ \d;/g)).toEqual(["POST undefined 4;", "GET SPDY/3.1 0;"]);
  });

  it("lets a response switch the protocol of the connection, from its first byte on", async () => {
    await using server = await serve(async ({ upgrade }) => ({
      status: 101,
      headers: { upgrade: upgrade!, connection: "Upgrade" },
      body: new Uint8Array(),
      takeOver: async (connection) => {
        const [first] = (await once(connection, "data")) as [Buffer];
        connection.end(`you said ${first.toString()}`);
      },
    }));
    const socket = await rawConnection(server);
    socket.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nhello");
    expect(await readAll(socket)).toBe(
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: Upgrade\r\n\r\nyou said hello",
    );
  });

  it("refuses a response whose header contains a line break", async () => {
    await using server = await serve(async () => ({ ...ok(), headers: { warning: "a\r\nset-cookie: b" } }));
    const socket = await rawConnection(server);
    socket.on("error", () => {});
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    expect(await readAll(socket).catch(() => "")).toBe("");
  });

  it("applies backpressure to a handler whose reader does not read", async () => {
    let produced = 0;
    await using server = await serve(async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        for (; produced < 1000; produced++) yield Buffer.alloc(2 ** 20);
      })(),
    }));
    const socket = await rawConnection(server);
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    await systemClock.sleep(300);
    expect(produced).toBeLessThan(100);
    socket.destroy();
  });

  it("cuts off a reader that reads nothing for half a minute, and tells the handler", async () => {
    const clock = new VirtualClock();
    let isReturned = false;
    await using server = await serve(
      async () => ({
        status: 200,
        headers: {},
        body: (async function* () {
          try {
            for (;;) yield Buffer.alloc(2 ** 20);
          } finally {
            isReturned = true;
          }
        })(),
      }),
      clock,
    );
    const socket = await rawConnection(server);
    const closed = once(socket, "close");
    socket.on("error", () => {});
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    while (clock.pendingTimers === 0) await systemClock.sleep(10);
    await clock.advance(31_000);
    socket.resume();
    await closed;
    expect(isReturned).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });
});
