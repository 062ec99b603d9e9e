import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isSetpointError } from "setpoint";
import { PipelinesError } from "../errors.js";
import type { EventLog, LoggedEvent } from "./event-log.js";

/** The answers of the server, which the runtime provides. All values are plain JSON. */
export interface PipelinesApi {
  readonly events: EventLog;
  resources(): unknown;
  resource(name: string): unknown;
  project(): unknown;
  explain(name: string): unknown;
  plan(signal: AbortSignal): Promise<unknown>;
  refresh(request: unknown, signal: AbortSignal): Promise<unknown>;
  query(request: unknown, signal: AbortSignal): Promise<unknown>;
}

export interface ServeOptions {
  readonly api: PipelinesApi;
  readonly token: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Whether to take any other port if this one is in use. */
  readonly orAnyPort?: boolean;
}

const HOST = "127.0.0.1";
const MAX_BODY_BYTES = 1_048_576;
const OWN_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * Serves the state of a project to this machine only. A caller must send the token of `server.json`, which only the
 * owner of the folder can read. The server checks `Host` and `Origin`, so that no web page can reach it through a host
 * name of its own.
 */
export class PipelinesServer implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://${HOST}:${(server.address() as AddressInfo).port}`;
  }

  static async listen({ api, token, port, orAnyPort = false }: ServeOptions): Promise<PipelinesServer> {
    const limits = { requestTimeout: 30_000, maxHeaderSize: 16_384 };
    const server = createServer(limits, (request, response) => void respond(api, token, request, response));
    try {
      await listenOn(server, port);
    } catch (cause) {
      if (!orAnyPort || (cause as NodeJS.ErrnoException).code !== "EADDRINUSE") {
        const { code = String(cause) } = cause as NodeJS.ErrnoException;
        const message = `cannot listen on ${HOST}:${port}: ${code}`;
        throw new PipelinesError("PIPELINES_ADDRESS_UNAVAILABLE", message, { cause });
      }
      await listenOn(server, 0);
    }
    return new PipelinesServer(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

function listenOn(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, HOST, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function respond(
  api: PipelinesApi,
  token: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort(new Error("the caller has gone")));
  const [path = "/"] = (request.url ?? "/").split("?");
  const refusal = refusalOf(request, token);
  if (refusal) return end(response, refusal);
  if (path === "/api/v1/events" && request.method === "GET") return follow(api, request, response, gone.signal);
  try {
    end(response, await answer(api, path, request, gone.signal));
  } catch (error) {
    end(response, failureOf(error));
  }
}

/** The response to a request that is refused; undefined if it is allowed. */
function refusalOf({ headers }: IncomingMessage, token: string): Answer | undefined {
  const refused = (status: number, message: string): Answer => ({ status, body: { error: { message } } });
  const { host, origin, authorization = "" } = headers;
  if (host === undefined || !OWN_HOST.test(host)) return refused(403, "this server answers only requests to localhost");
  if (origin !== undefined && origin !== `http://${host}`) {
    return refused(403, "this server refuses requests from pages of other sites");
  }
  const [given, wanted] = [Buffer.from(authorization), Buffer.from(`Bearer ${token}`)];
  const isSame = given.length === wanted.length && timingSafeEqual(given, wanted);
  return isSame ? undefined : refused(401, "the token of .setpoint/server.json is missing or wrong");
}

async function answer(api: PipelinesApi, path: string, request: IncomingMessage, signal: AbortSignal): Promise<Answer> {
  const [, , , what = "", ...rest] = path.split("/").map(decodeURIComponent);
  const name = rest.join("/");
  const isGet = request.method === "GET";
  const found = (body: unknown): Answer => ({ status: 200, body });
  if (path.startsWith("/api/v1/")) {
    if (isGet && what === "resources") return found(name === "" ? api.resources() : api.resource(name));
    if (isGet && what === "project" && name === "") return found(api.project());
    if (isGet && what === "explain") return found(api.explain(name));
    if (isGet && what === "plan" && name === "") return found(await api.plan(signal));
    if (request.method === "POST" && what === "refresh" && name === "") {
      return found(await api.refresh(await bodyOf(request), signal));
    }
    if (request.method === "POST" && what === "query" && name === "") {
      return found(await api.query(await bodyOf(request), signal));
    }
  }
  return { status: 404, body: { error: { message: `not found: ${request.method} ${path}` } } };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new PipelinesError("PIPELINES_REQUEST_INVALID", "the body is longer than 1 MiB");
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch (cause) {
    throw new PipelinesError("PIPELINES_REQUEST_INVALID", "the body is not JSON", { cause });
  }
}

function failureOf(error: unknown): Answer {
  if (!isSetpointError(error)) return { status: 500, body: { error: { message: "internal error" } } };
  const status = error.code === "PIPELINES_RESOURCE_UNKNOWN" ? 404 : 400;
  return { status, body: { error: { code: error.code, message: error.message } } };
}

/** Sends server-sent events: first a snapshot, or the events after `Last-Event-ID`; then each change. */
function follow(api: PipelinesApi, request: IncomingMessage, response: ServerResponse, signal: AbortSignal): void {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  const send = ({ id, type, data }: LoggedEvent): boolean =>
    response.write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  const { events } = api;
  let at = String(request.headers["last-event-id"] ?? "");
  const sendMore = (): void => {
    while (!signal.aborted) {
      const more = events.since(at);
      if (more?.length === 0) return;
      for (const event of more ?? [{ id: events.lastId, type: "snapshot", data: snapshotOf(api) }]) {
        // A client that does not read gets no more until it does.
        if (response.writableNeedDrain) return;
        at = event.id;
        send(event);
      }
    }
  };
  const listening = events.listen(sendMore);
  response.on("drain", sendMore);
  signal.addEventListener("abort", () => listening[Symbol.dispose](), { once: true });
  sendMore();
}

function snapshotOf(api: PipelinesApi): unknown {
  return { resources: api.resources(), project: api.project() };
}

function end(response: ServerResponse, { status, body }: Answer): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(`${JSON.stringify(body)}\n`);
}
