import { gunzipSync, gzipSync } from "node:zlib";
import type { Transport, TransportRequest, TransportResponse } from "setpoint/client";
import { describe, expect, it } from "vitest";
import type { ApiHandler, ApiRequest } from "../api/api-request.js";
import { StatusError } from "../api/status-error.js";
import { compressing } from "./compression.js";
import { inProcessTransport } from "./in-process-transport.js";
import { BODY_LIMIT_BYTES } from "./request-body.js";
import { safeHandler } from "./safe-handler.js";

const bytes = (text: string): Uint8Array => Buffer.from(text);

const read = async (response: TransportResponse): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const get = (transport: Transport, path: string, more: Partial<TransportRequest> = {}): Promise<TransportResponse> =>
  transport.request({ method: "GET", path, headers: {}, ...more });

describe("the in-process transport", () => {
  it("passes on method, decoded path, query, headers and body", async () => {
    let seen: ApiRequest | undefined;
    await using transport = inProcessTransport(async (request) => {
      seen = request;
      return { status: 201, headers: { warning: ["a", "b"] }, body: bytes("done") };
    });
    const response = await transport.request({
      method: "POST",
      path: "/api/v1/a%20b?limit=5&x=%2F",
      headers: { "impersonate-group": ["one", "two"] },
      body: bytes("hello"),
    });
    expect([response.status, response.headers.warning, (await read(response)).toString()]).toEqual([
      201,
      ["a", "b"],
      "done",
    ]);
    expect([seen?.method, seen?.path, seen?.query.get("limit"), seen?.query.get("x")]).toEqual([
      "POST",
      "/api/v1/a b",
      "5",
      "/",
    ]);
    expect(seen?.headers["impersonate-group"]).toEqual(["one", "two"]);
    expect(Buffer.from(seen!.body).toString()).toBe("hello");
    expect(seen?.isInProcess).toBe(true);
  });

  it("answers HEAD without a body", async () => {
    await using transport = inProcessTransport(async () => ({ status: 200, headers: {}, body: bytes("done") }));
    const response = await transport.request({ method: "HEAD", path: "/", headers: {} });
    expect([response.status, (await read(response)).length]).toEqual([200, 0]);
  });

  it("decompresses a gzip body, and refuses one that is too large, compressed or not", async () => {
    await using transport = inProcessTransport(async ({ body }) => ({ status: 200, headers: {}, body }));
    const post = (body: Uint8Array, headers: Record<string, string> = {}): Promise<TransportResponse> =>
      transport.request({ method: "POST", path: "/", headers, body });
    const gzip = { "content-encoding": "gzip" };
    expect((await read(await post(gzipSync("hello"), gzip))).toString()).toBe("hello");
    expect((await post(Buffer.alloc(BODY_LIMIT_BYTES))).status).toBe(200);
    expect((await post(Buffer.alloc(BODY_LIMIT_BYTES + 1))).status).toBe(413);
    const bomb = await post(gzipSync(Buffer.alloc(BODY_LIMIT_BYTES + 1)), gzip);
    expect(bomb.status).toBe(413);
    expect(JSON.parse((await read(bomb)).toString()).message).toBe("Request entity too large: limit is 3145728");
    expect((await post(bytes("no gzip"), gzip)).status).toBe(400);
    expect((await post(bytes("x"), { "content-encoding": "br" })).status).toBe(415);
    expect((await get(transport, "/%zz")).status).toBe(400);
  });

  it("ends the handler's stream when the reader leaves, and the reader's when its signal is aborted", async () => {
    const ended: string[] = [];
    const handler: ApiHandler = async ({ path, signal }) => ({
      status: 200,
      headers: {},
      body: (async function* () {
        try {
          yield bytes("one");
          if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
        } finally {
          ended.push(path);
        }
      })(),
    });
    await using transport = inProcessTransport(handler);
    for await (const _ of (await get(transport, "/left")).body) break;
    const abort = new AbortController();
    const response = await get(transport, "/aborted", { signal: abort.signal });
    const reading = read(response);
    abort.abort();
    await expect(reading).rejects.toMatchObject({ code: "ABORTED" });
    const stopped = read(await get(transport, "/stopped"));
    await transport[Symbol.asyncDispose]();
    await expect(stopped).rejects.toMatchObject({ code: "TRANSPORT_BROKEN" });
    expect(ended).toEqual(["/left", "/aborted", "/stopped"]);
    await expect(get(transport, "/")).rejects.toMatchObject({ code: "TRANSPORT_REFUSED" });
  });

  it("does not pass on a request that its caller stops right before", async () => {
    let handled = 0;
    await using transport = inProcessTransport(async () => {
      handled++;
      return { status: 200, headers: {}, body: bytes("") };
    });
    const lost = new Error("the lease has ended");
    const beforeSend = (): never => {
      throw lost;
    };
    await expect(get(transport, "/", { beforeSend })).rejects.toBe(lost);
    expect(handled).toBe(0);
  });

  it("does not wait for a handler whose caller has gone", async () => {
    await using transport = inProcessTransport(() => new Promise(() => {}));
    const abort = new AbortController();
    const request = get(transport, "/", { signal: abort.signal });
    abort.abort();
    await expect(request).rejects.toMatchObject({ code: "ABORTED" });
  });
});

describe("safeHandler", () => {
  it("answers a StatusError with its status and anything else with 500 and a line in the log", async () => {
    const log: string[] = [];
    const handler: ApiHandler = async ({ path }) => {
      throw path === "/known" ? new StatusError(418, "Teapot", "short and stout") : new Error("a secret detail");
    };
    await using transport = inProcessTransport(safeHandler(handler, (message) => log.push(message)));
    const known = await get(transport, "/known");
    expect([known.status, JSON.parse((await read(known)).toString()).reason]).toEqual([418, "Teapot"]);
    const unknown = await get(transport, "/unknown");
    const body = (await read(unknown)).toString();
    expect([unknown.status, JSON.parse(body).reason]).toEqual([500, "InternalError"]);
    expect(body).not.toContain("secret");
    expect(log).toEqual(["GET /unknown failed"]);
  });
});

describe("compressing", () => {
  const large = Buffer.from(JSON.stringify(Array.from({ length: 30_000 }, (_, at) => at)));
  const handler: ApiHandler = async ({ path }) => {
    const body = path === "/small" ? large.subarray(0, 1000) : large;
    const stream = async function* () {
      for (let at = 0; at < body.length; at += 50_000) yield body.subarray(at, at + 50_000);
    };
    return { status: 200, headers: {}, body: path === "/stream" || path === "/api/v1/pods" ? stream() : body };
  };
  const accepting = { headers: { "accept-encoding": "deflate, gzip;q=1.0" } };

  it("compresses large bodies, whole or streamed, for clients that accept it", async () => {
    await using transport = inProcessTransport(compressing(handler));
    for (const path of ["/large", "/stream"]) {
      const response = await get(transport, path, accepting);
      expect(response.headers["content-encoding"]).toBe("gzip");
      expect(gunzipSync(await read(response)).equals(large)).toBe(true);
      const plain = await get(transport, path);
      expect(plain.headers["content-encoding"]).toBeUndefined();
      expect((await read(plain)).equals(large)).toBe(true);
    }
    expect((await get(transport, "/small", accepting)).headers["content-encoding"]).toBeUndefined();
    expect((await get(transport, "/api/v1/pods?watch=true", accepting)).headers["content-encoding"]).toBeUndefined();
  });
});
