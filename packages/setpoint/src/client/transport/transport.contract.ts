import { Buffer } from "node:buffer";
import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../clock/random.js";
import { systemClock } from "../../clock/system-clock.js";
import { isSetpointError } from "../../errors/error.js";
import type { Handler } from "../testing/http-server.js";
import { readBytes } from "./body.js";
import type { Transport, TransportRequest, TransportResponse } from "./transport.js";

/** A transport whose requests go to `handler`. */
export interface OpenTransport extends AsyncDisposable {
  readonly transport: Transport;
}

export interface ContractLimits {
  /** The largest body that the server accepts. Defaults to more than any case sends. */
  readonly maxBodyBytes?: number;
}

/** A transport with real connections, and how many it has made. */
export interface ConnectingTransport extends OpenTransport {
  readonly server: { connections(): number };
}

/** A case for every transport with connections: a request whose fence closes during the connect is not sent. */
export async function holdsBackLateRequests(open: (handler: Handler) => Promise<ConnectingTransport>): Promise<void> {
  const seen: string[] = [];
  await using opened = await open(async ({ path }) => reply(String(seen.push(path))));
  let isHeld = true;
  const beforeSend = (): void => {
    if (!isHeld) throw new Error("the lease has ended");
  };
  const waiting = opened.transport.request({ ...get("/late"), beforeSend });
  isHeld = false;
  await expect(waiting).rejects.toThrow("the lease has ended");
  await readBytes((await opened.transport.request(get("/next"))).body);
  expect([seen, opened.server.connections()]).toEqual([["/next"], 1]);
}

/** What every transport must do. Calls `open` for each case. */
export function transportContract(
  name: string,
  open: (handler: Handler) => Promise<OpenTransport>,
  { maxBodyBytes = 9_000_000 }: ContractLimits = {},
): void {
  describe(`${name}, as a transport`, () => {
    it("carries method, path, query, headers and body to the server, and status, headers and body back", async () => {
      const seen: TransportRequest[] = [];
      await using opened = await open(async (request) => {
        seen.push(request);
        return reply("pong", { "content-type": "text/plain", "x-answer": "42" }, 201);
      });
      const { status, headers, body } = await opened.transport.request({
        method: "POST",
        path: "/api/v1/pods?labelSelector=a%3Db",
        headers: { "content-type": "application/json", "x-question": "grüß".normalize() },
        body: Buffer.from('{"a":"ü"}'),
      });
      expect(status).toBe(201);
      expect(headers).toMatchObject({ "content-type": "text/plain", "x-answer": "42" });
      expect((await readBytes(body)).toString()).toBe("pong");
      expect(seen).toMatchObject([{ method: "POST", path: "/api/v1/pods?labelSelector=a%3Db" }]);
      expect(seen[0]!.headers["content-type"]).toBe("application/json");
      expect(Buffer.from(seen[0]!.body!).toString()).toBe('{"a":"ü"}');
    });

    it("keeps repeated headers apart in both directions", async () => {
      let groups: unknown;
      await using opened = await open(async ({ headers }) => {
        groups = headers["impersonate-group"];
        return reply("", { warning: ['299 - "one"', '299 - "two, with comma"'] });
      });
      const headers = { "impersonate-group": ["a", "b,c"] };
      const response = await opened.transport.request({ method: "GET", path: "/", headers });
      expect(groups).toEqual(["a", "b,c"]);
      expect(response.headers.warning).toEqual(['299 - "one"', '299 - "two, with comma"']);
      await readBytes(response.body);
    });

    it("sends nothing and rejects with the error of beforeSend, then serves further requests", async () => {
      const seen: string[] = [];
      await using opened = await open(async ({ path }) => {
        seen.push(path);
        return reply("pong");
      });
      const lost = new Error("the lease has ended");
      const stop = (): never => {
        throw lost;
      };
      // Without a connection, and with a kept one.
      await expect(opened.transport.request({ ...get("/first"), beforeSend: stop })).rejects.toBe(lost);
      const { body } = await opened.transport.request({ ...get("/second"), beforeSend: () => {} });
      await readBytes(body);
      await expect(opened.transport.request({ ...get("/third"), beforeSend: stop })).rejects.toBe(lost);
      await readBytes((await opened.transport.request(get("/fourth"))).body);
      expect(seen).toEqual(["/second", "/fourth"]);
    });

    it("passes an error status on as a response", async () => {
      await using opened = await open(async () => reply("no", {}, 503));
      const { status, body } = await opened.transport.request(get("/"));
      expect([status, (await readBytes(body)).toString()]).toEqual([503, "no"]);
    });

    it("has an empty body for HEAD, 204 and an empty response", async () => {
      await using opened = await open(async ({ path }) =>
        path === "/204" ? reply("", {}, 204) : reply(path === "/head" ? "not sent" : ""),
      );
      for (const [method, path] of [
        ["HEAD", "/head"],
        ["GET", "/204"],
        ["DELETE", "/empty"],
      ] as const) {
        const { body } = await opened.transport.request({ method, path, headers: {} });
        expect(await readBytes(body), path).toHaveLength(0);
      }
    });

    it("carries large bodies unchanged", async () => {
      const large = Buffer.alloc(maxBodyBytes, "0123456789abcdefghijklmnopqrstuvwxyzäöü");
      await using opened = await open(async ({ body }) => reply(body!));
      const { body } = await opened.transport.request({ method: "PUT", path: "/", headers: {}, body: large });
      expect((await readBytes(body)).equals(large)).toBe(true);
    });

    it("delivers received chunks before the response is complete", async () => {
      const gate = deferred();
      await using opened = await open(async () => ({
        ...reply(""),
        body: (async function* () {
          yield Buffer.from("first\n");
          await gate.promise;
          yield Buffer.from("second\n");
        })(),
      }));
      const { body } = await opened.transport.request(get("/"));
      const reader = body[Symbol.asyncIterator]();
      expect(Buffer.from((await reader.next()).value!).toString()).toBe("first\n");
      gate.resolve(undefined);
      expect(Buffer.from((await reader.next()).value!).toString()).toBe("second\n");
      expect((await reader.next()).done).toBe(true);
    });

    it("applies backpressure to the server while its reader pauses", async () => {
      let sent = 0;
      await using opened = await open(async () => ({
        ...reply(""),
        body: (async function* () {
          for (; sent < 400_000_000; sent += 65_536) yield Buffer.alloc(65_536);
        })(),
      }));
      const { body } = await opened.transport.request(get("/"));
      const reader = body[Symbol.asyncIterator]();
      await reader.next();
      let before = -1;
      while (before !== sent) {
        before = sent;
        await systemClock.sleep(100);
      }
      expect(sent).toBeLessThan(80_000_000);
      await reader.return?.();
    });

    it("closes the stream when its reader stops", async () => {
      const closed = deferred();
      await using opened = await open(async (request) => endless(request, closed.resolve));
      const { body } = await opened.transport.request(get("/"));
      for await (const _ of body) break;
      await closed.promise;
    });

    it("rejects with ABORTED and the reason: before sending, while waiting and within the body", async () => {
      const asked = deferred();
      await using opened = await open(async (request) => {
        if (request.path === "/stream") return endless(request);
        asked.resolve(undefined);
        await new Promise((resolve) => request.signal?.addEventListener("abort", resolve));
        throw new Error("left");
      });
      const reason = new Error("enough");
      const before = opened.transport.request({ ...get("/"), signal: AbortSignal.abort(reason) });
      await expect(before).rejects.toMatchObject({ code: "ABORTED", cause: reason });

      const waiting = new AbortController();
      const response = opened.transport.request({ ...get("/wait"), signal: waiting.signal });
      await asked.promise;
      waiting.abort(reason);
      await expect(response).rejects.toMatchObject({ code: "ABORTED", cause: reason });

      const reading = new AbortController();
      const { body } = await opened.transport.request({ ...get("/stream"), signal: reading.signal });
      const reader = body[Symbol.asyncIterator]();
      await reader.next();
      reading.abort(reason);
      await expect(exhaust(reader)).rejects.toMatchObject({ code: "ABORTED", cause: reason });
      expect(getEventListeners(waiting.signal, "abort")).toHaveLength(0);
      expect(getEventListeners(reading.signal, "abort")).toHaveLength(0);
    });

    it("leaves no listener on a signal that outlives its requests", async () => {
      await using opened = await open(async () => reply("x"));
      const { signal } = new AbortController();
      for (let count = 0; count < 20; count++) {
        await readBytes((await opened.transport.request({ ...get("/"), signal })).body);
      }
      expect(getEventListeners(signal, "abort")).toHaveLength(0);
    });

    it("rejects with TRANSPORT_BROKEN if the connection ends before the head", async () => {
      await using opened = await open(async () => {
        throw new Error("the server dies");
      });
      await expect(opened.transport.request(get("/"))).rejects.toSatisfy((error) =>
        isSetpointError(error, "TRANSPORT_BROKEN"),
      );
    });

    it("delivers the received part of a truncated body, then rejects with TRANSPORT_BROKEN", async () => {
      const arrived = deferred();
      await using opened = await open(async () => ({
        ...reply(""),
        body: (async function* () {
          yield Buffer.from("half a li");
          await arrived.promise;
          throw new Error("the server dies");
        })(),
      }));
      const { body } = await opened.transport.request(get("/"));
      const received: Uint8Array[] = [];
      const reading = (async () => {
        for await (const chunk of body) {
          received.push(chunk);
          arrived.resolve(undefined);
        }
      })();
      await expect(reading).rejects.toMatchObject({ code: "TRANSPORT_BROKEN" });
      expect(Buffer.concat(received).toString()).toBe("half a li");
    });

    it("carries a hundred streams and other requests at once", async () => {
      await using opened = await open(async (request) =>
        request.path === "/stream" ? endless(request) : reply(request.path),
      );
      const streams = await Promise.all(
        Array.from({ length: 100 }, async () => {
          const { body } = await opened.transport.request(get("/stream"));
          const reader = body[Symbol.asyncIterator]();
          await reader.next();
          return reader;
        }),
      );
      const answers = await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          const { body } = await opened.transport.request(get(`/${index}`));
          return (await readBytes(body)).toString();
        }),
      );
      expect(answers).toEqual(Array.from({ length: 100 }, (_, index) => `/${index}`));
      for (const reader of streams) await reader.return?.();
    });

    it("settles every request despite aborts, broken connections and readers that stop, then serves the next", async () => {
      const random = seededRandom(Number(process.env.SETPOINT_SEED));
      const chance = (probability: number): boolean => random.next() < probability;
      await using opened = await open(async ({ path }) => {
        if (path === "/calm") return reply("calm");
        await systemClock.sleep(random.next() * 5);
        if (chance(0.1)) throw new Error("the server dies");
        return {
          ...reply(""),
          body: (async function* () {
            for (let count = 0; count < 5; count++) {
              yield Buffer.alloc(Math.floor(random.next() * 50_000), "x");
              if (chance(0.05)) throw new Error("the server dies");
            }
          })(),
        };
      });
      const one = async (): Promise<string> => {
        const stop = new AbortController();
        const timer = chance(0.3) ? systemClock.timer(random.next() * 10, () => stop.abort()) : undefined;
        try {
          const { body } = await opened.transport.request({ ...get("/wild"), signal: stop.signal });
          for await (const _ of body) if (chance(0.05)) return "left";
          return "read";
        } catch (error) {
          return isSetpointError(error) ? error.code : `not ours: ${error}`;
        } finally {
          timer?.[Symbol.dispose]();
        }
      };
      const outcomes = new Set<string>();
      const worker = async (): Promise<void> => {
        for (let count = 0; count < 25; count++) outcomes.add(await one());
      };
      await Promise.all(Array.from({ length: 16 }, worker));
      const expected = ["left", "read", "ABORTED", "TRANSPORT_BROKEN", "TRANSPORT_REFUSED"];
      expect([...outcomes].filter((outcome) => !expected.includes(outcome))).toEqual([]);
      expect(outcomes).toContain("read");
      const calm = await opened.transport.request(get("/calm"));
      expect((await readBytes(calm.body)).toString()).toBe("calm");
    });

    it("refuses requests once it is disposed", async () => {
      await using opened = await open(async () => reply("x"));
      await readBytes((await opened.transport.request(get("/"))).body);
      await opened.transport[Symbol.asyncDispose]();
      await expect(opened.transport.request(get("/"))).rejects.toMatchObject({ code: "TRANSPORT_REFUSED" });
    });
  });
}

export function get(path: string): TransportRequest {
  return { method: "GET", path, headers: {} };
}

export function reply(
  body: string | Uint8Array,
  headers: TransportResponse["headers"] = {},
  status = 200,
): TransportResponse {
  return {
    status,
    headers,
    body: (async function* () {
      if (body.length > 0) yield Buffer.from(body as string);
    })(),
  };
}

function endless(request: TransportRequest, onClose: (value?: unknown) => void = () => {}): TransportResponse {
  return {
    ...reply(""),
    body: (async function* () {
      try {
        while (!request.signal?.aborted) {
          yield Buffer.from("tick\n");
          await systemClock.sleep(10);
        }
      } finally {
        onClose();
      }
    })(),
  };
}

async function exhaust(reader: AsyncIterator<Uint8Array>): Promise<void> {
  while (!(await reader.next()).done);
}

function deferred(): { promise: Promise<unknown>; resolve: (value: unknown) => void } {
  let resolve: (value: unknown) => void = () => {};
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
}
