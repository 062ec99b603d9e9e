import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SetpointError } from "../errors/error.js";

/** What an endpoint answers: text or JSON at once, or lines as they come until the caller goes away. */
export type EndpointAnswer =
  | { readonly status: number; readonly type?: string; readonly body: string }
  | { readonly status: number; readonly type: string; readonly lines: (signal: AbortSignal) => AsyncIterable<string> };

export interface EndpointRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly isLoopback: boolean;
}

export type Endpoint = (request: EndpointRequest) => EndpointAnswer | Promise<EndpointAnswer>;

/** Says whether a caller may see an endpoint; the answer otherwise. */
export type Guard = (request: EndpointRequest) => Promise<EndpointAnswer | undefined>;

/** The small HTTP server of a manager: health, metrics, timeline. GET alone, no bodies taken. */
export class EndpointServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #routes = new Map<string, { readonly endpoint: Endpoint; readonly guard: Guard | undefined }>();
  readonly #stop = new AbortController();

  constructor() {
    // Loaded when first needed: importing this package must stay cheap for those who serve nothing.
    const { createServer } = process.getBuiltinModule("node:http");
    this.#server = createServer({ requestTimeout: 10_000, maxHeaderSize: 16_384 }, (request, response) => {
      void this.#answer(request, response);
    });
  }

  route(path: string, endpoint: Endpoint, guard?: Guard): void {
    this.#routes.set(path, { endpoint, guard });
  }

  /** Listens on `host:port`; port 0 takes any. Rejects with `ADDRESS_UNAVAILABLE`, which says for what. Gives the URL. */
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
    return `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    incoming.resume();
    // No URL is made of it: what is none, as `//`, would throw.
    const [path = "/", ...query] = (incoming.url ?? "/").split("?");
    const route = this.#routes.get(path);
    const request: EndpointRequest = {
      path,
      query: new URLSearchParams(query.join("?")),
      headers: incoming.headers,
      isLoopback: isLoopback(incoming.socket.remoteAddress ?? ""),
    };
    try {
      if (incoming.method !== "GET" && incoming.method !== "HEAD")
        return end(response, { status: 405, body: "method not allowed\n" });
      if (!route) return end(response, { status: 404, body: "not found\n" });
      const answer = (await route.guard?.(request)) ?? (await route.endpoint(request));
      if ("body" in answer) end(response, answer);
      else await this.#stream(response, answer);
    } catch {
      if (!response.headersSent) end(response, { status: 500, body: "internal error\n" });
      else response.destroy();
    }
  }

  async #stream(response: ServerResponse, answer: Extract<EndpointAnswer, { lines: unknown }>): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    response.writeHead(answer.status, { "content-type": answer.type, "cache-control": "no-store" });
    response.flushHeaders();
    for await (const line of answer.lines(AbortSignal.any([gone.signal, this.#stop.signal]))) {
      if (!response.write(`${line}\n`)) await drained(response);
      if (gone.signal.aborted) return;
    }
    response.end();
  }
}

/** Resolves when more may be written, or nobody reads any more. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
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
  response.writeHead(status, {
    "content-type": type,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(body);
}

function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.") || address.startsWith("::ffff:127.");
}
