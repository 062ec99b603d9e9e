import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type KeyPair, secureContext } from "../../app/certificates/certificate.js";
import { isLoopbackCaller } from "../../client/cluster/loopback.js";
import type { Clock } from "../../clock/clock.js";
import { SetpointError } from "../../errors/error.js";

/** The response of an endpoint: text or JSON, or a stream of lines until the caller disconnects. */
export type EndpointAnswer =
  | { readonly status: number; readonly type?: string; readonly body: string }
  | { readonly status: number; readonly type: string; readonly lines: (signal: AbortSignal) => AsyncIterable<string> };

export interface EndpointRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly isLoopback: boolean;
  /** Aborted when the caller disconnects, or the server stops. */
  readonly signal: AbortSignal;
}

export type Endpoint = (request: EndpointRequest) => EndpointAnswer | Promise<EndpointAnswer>;

/** Decides whether a caller may use an endpoint; otherwise returns the response. */
export type Guard = (request: EndpointRequest) => Promise<EndpointAnswer | undefined>;

/** How often the callers of open streams are authorized again: a revoked permission must not outlive its stream. */
const GUARD_AGAIN_MS = 60_000;

/**
 * The small HTTP server of a manager: health, metrics, timeline. Only GET, without request bodies. HTTPS if it has a
 * certificate.
 */
export class EndpointServer implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #server: Server | SecureServer;
  readonly #routes = new Map<string, { readonly endpoint: Endpoint; readonly guard: Guard | undefined }>();
  readonly #stop = new AbortController();

  constructor(clock: Clock, certificate?: KeyPair) {
    this.#clock = clock;
    // Every request in flight listens to it; this is not a leak.
    process.getBuiltinModule("node:events").setMaxListeners(0, this.#stop.signal);
    // Loaded on first use, so that importing this package stays cheap for processes without endpoints.
    const limits = { requestTimeout: 10_000, maxHeaderSize: 16_384 };
    const answer = (request: IncomingMessage, response: ServerResponse): void => void this.#answer(request, response);
    this.#server = certificate
      ? process.getBuiltinModule("node:https").createServer({ ...limits, ...secureContext(certificate) }, answer)
      : process.getBuiltinModule("node:http").createServer(limits, answer);
  }

  /** Presents another certificate to new connections. */
  show(certificate: KeyPair): void {
    if ("setSecureContext" in this.#server) this.#server.setSecureContext(secureContext(certificate));
  }

  route(path: string, endpoint: Endpoint, guard?: Guard): void {
    this.#routes.set(path, { endpoint, guard });
  }

  /**
   * Listens on `host:port`; port 0 takes any free port. Rejects with `ADDRESS_UNAVAILABLE`, which names the purpose.
   * Returns the URL.
   */
  async listen(host: string, port: number, purpose: string): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (cause: NodeJS.ErrnoException) => {
        const why = cause.code === "EADDRINUSE" ? "another process does" : (cause.code ?? cause.message);
        const message = `${purpose}: cannot listen on ${host}:${port}: ${why}`;
        reject(new SetpointError("ADDRESS_UNAVAILABLE", message, { cause }));
      });
      this.#server.listen(port, host, resolve);
    });
    const address = this.#server.address() as AddressInfo;
    const scheme = "setSecureContext" in this.#server ? "https" : "http";
    return `${scheme}://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    incoming.resume();
    // Not parsed as a URL: an invalid one, such as `//`, would throw.
    const [path = "/", ...query] = (incoming.url ?? "/").split("?");
    const route = this.#routes.get(path);
    const gone = new AbortController();
    // Before the first await, so that a caller who disconnects meanwhile is noticed.
    response.once("close", () => gone.abort());
    const onStop = (): void => gone.abort();
    this.#stop.signal.addEventListener("abort", onStop, { once: true });
    const request: EndpointRequest = {
      path,
      query: new URLSearchParams(query.join("?")),
      headers: incoming.headers,
      isLoopback: isLoopbackCaller(incoming.socket.remoteAddress),
      signal: gone.signal,
    };
    try {
      if (incoming.method !== "GET" && incoming.method !== "HEAD")
        return end(response, { status: 405, body: "method not allowed\n" });
      if (!route) return end(response, { status: 404, body: "not found\n" });
      const answer = (await route.guard?.(request)) ?? (await route.endpoint(request));
      if ("body" in answer) end(response, answer);
      else if (!gone.signal.aborted) await this.#stream(request, response, answer, route.guard);
    } catch {
      if (!response.headersSent) end(response, { status: 500, body: "internal error\n" });
      else response.destroy();
    } finally {
      this.#stop.signal.removeEventListener("abort", onStop);
    }
  }

  async #stream(
    request: EndpointRequest,
    response: ServerResponse,
    answer: Extract<EndpointAnswer, { lines: unknown }>,
    guard: Guard | undefined,
  ): Promise<void> {
    const over = new AbortController();
    const end = (): void => over.abort();
    request.signal.addEventListener("abort", end, { once: true });
    void this.#guardAgain(request, guard, over);
    response.writeHead(answer.status, headersFor(answer.type));
    response.flushHeaders();
    for await (const line of answer.lines(over.signal)) {
      if (!response.write(`${line}\n`)) await drained(response);
      if (request.signal.aborted) break;
    }
    over.abort();
    response.end();
  }

  /** Ends a stream whose caller is no longer allowed. While the API server does not answer, the stream continues. */
  async #guardAgain(request: EndpointRequest, guard: Guard | undefined, over: AbortController): Promise<void> {
    if (!guard) return;
    for (;;) {
      try {
        await this.#clock.sleep(GUARD_AGAIN_MS, over.signal);
      } catch {
        return;
      }
      const refusal = await guard(request).catch(() => undefined);
      if (refusal?.status === 401 || refusal?.status === 403) over.abort();
    }
  }
}

/** Resolves when the stream can take more, or the reader is gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) return resolve();
    const onEnd = (): void => {
      response.off("drain", onEnd).off("close", onEnd);
      resolve();
    };
    response.on("drain", onEnd).on("close", onEnd);
  });
}

function end(
  response: ServerResponse,
  { status, type = "text/plain; charset=utf-8", body }: Extract<EndpointAnswer, { body: string }>,
): void {
  response.writeHead(status, headersFor(type));
  response.end(body);
}

function headersFor(type: string): Record<string, string> {
  return { "content-type": type, "cache-control": "no-store", "x-content-type-options": "nosniff" };
}
