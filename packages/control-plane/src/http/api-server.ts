import { once } from "node:events";
import { type IncomingMessage, ServerResponse } from "node:http";
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Clock, systemClock } from "setpoint/clock";
import type { ApiHandler, ApiResponse, RequestHead } from "../api/api-request.js";
import { isWatch } from "../api/request-info.js";
import { parseTarget } from "../api/request-target.js";
import { StatusError } from "../api/status-error.js";
import { errorResponse } from "../registry/negotiation/error-response.js";
import { type NodeResponse, writeResponse } from "../websocket/response-writer.js";
import { CallerSignals } from "./caller-signals.js";
import { ClientCertificates } from "./client-certificates.js";
import { FlowTurns } from "./flow-turns.js";
import { HeavyLane, isHeavy } from "./heavy-lane.js";
import { CLIENT_GONE, hasBody, isHttp2, type NodeRequest, readBody } from "./incoming-body.js";
import { PlainConnection } from "./plain-connection.js";
import type { PlainRequest } from "./plain-request.js";
import { decodedBody } from "./request-body.js";
import type { Permit, RequestGate } from "./request-gate.js";
import { headersOf } from "./request-headers.js";
import type { ErrorLog } from "./safe-handler.js";
import { Turn } from "./turn.js";
import { headWithoutUpgrade, switchProtocols, upgradeOf } from "./upgrade.js";

export interface ApiServerOptions {
  readonly handler: ApiHandler;
  /** Checks requests before their body is read. Without it there is no authentication and no limit. */
  readonly gate?: RequestGate;
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** PEM. */
  readonly certificate: string;
  readonly privateKey: string;
  /** PEM of the CA that signs client certificates. */
  readonly clientCa: string;
  readonly clock: Clock;
  /** Clock of idle timeouts. Defaults to the machine's clock: sockets live in real time, objects need not. */
  readonly socketClock?: Clock;
  readonly log: ErrorLog;
}

/** Time that running requests get when the server stops; then they are cut off. */
const STOP_GRACE_MS = 1_200;
/** The limits of the real server's Go library: 1 MiB of headers, 90 s without a complete request. */
const MAX_HEADER_BYTES = 2 ** 20;
const IDLE_TIMEOUT_MS = 90_000;
const IDLE_CHECK_MS = 10_000;
/** Streams that a client may have open on one HTTP/2 connection, as on the real server. */
const MAX_STREAMS = 100;
/** Each connection costs memory before the client is authenticated, so their number is limited. */
const MAX_CONNECTIONS = 10_000;

/** Tracks how long an HTTP/2 connection is idle. */
interface SessionState {
  openStreams: number;
  idleSinceMs: number;
}

/** Serves the handler over TLS with HTTP/1.1 and HTTP/2. Client certificates are optional. */
export class ApiServer implements AsyncDisposable {
  readonly #options: ApiServerOptions;
  readonly #server: Http2SecureServer;
  readonly #sockets = new Set<TLSSocket>();
  readonly #sessions = new Map<ServerHttp2Session, SessionState>();
  readonly #heavy: HeavyLane;
  readonly #flowTurns: FlowTurns;
  readonly #turn = new Turn();
  /** Connections whose requests were all plain so far. */
  readonly #plain = new Set<PlainConnection>();
  /** Connections that Node reads, while they wait for a request, and since when. */
  readonly #waiting = new Map<Socket, number>();
  readonly #socketClock: Clock;
  #idleTimer: Disposable | undefined;
  /** The last response that was started on a connection that Node reads. */
  readonly #latest = new WeakMap<object, NodeResponse>();
  readonly #signals = new CallerSignals();
  readonly #certificates = new ClientCertificates();
  #inFlight = 0;
  #onIdle: (() => void) | undefined;
  #isStopping = false;

  private constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#socketClock = options.socketClock ?? systemClock;
    this.#heavy = new HeavyLane(this.#socketClock);
    this.#flowTurns = new FlowTurns(this.#socketClock);
    this.#server = createSecureServer({
      allowHTTP1: true,
      cert: options.certificate,
      key: options.privateKey,
      ca: options.clientCa,
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: "TLSv1.2",
      maxHeaderSize: MAX_HEADER_BYTES,
      settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: MAX_HEADER_BYTES },
    } as Parameters<typeof createSecureServer>[0]);
    // Not every Node version applies its timeouts to such a server; see #closeIdle and readBody.
    Object.assign(this.#server, { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 });
    // Node's HTTP/1.1 server reads its header limit from here.
    Object.assign(this.#server, { maxHeaderSize: MAX_HEADER_BYTES });
    const [toNode] = this.#server.listeners("secureConnection");
    this.#server.removeAllListeners("secureConnection");
    this.#server.on("secureConnection", (socket: TLSSocket) => {
      this.#sockets.add(socket);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        this.#waiting.delete(socket);
      });
      socket.on("error", () => socket.destroy());
      socket.setNoDelay(true);
      const handOver = (): void => toNode!.call(this.#server, socket);
      if (socket.alpnProtocol === "h2") handOver();
      else this.#connect(socket, handOver);
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.on("session", (session) => {
      const state = { openStreams: 0, idleSinceMs: this.#socketClock.monotonic() };
      this.#sessions.set(session, state);
      session.on("stream", (stream: ServerHttp2Stream) => {
        state.openStreams++;
        stream.on("close", () => {
          state.openStreams--;
          state.idleSinceMs = this.#socketClock.monotonic();
        });
      });
      session.on("close", () => this.#sessions.delete(session));
      session.on("error", () => session.destroy());
    });
    this.#server.on("tlsClientError", (_error, socket) => socket.destroy());
    this.#server.on("request", (request, response) => this.#accept(request, response));
    this.#server.on("upgrade", (request: IncomingMessage, socket: TLSSocket, rest: Buffer) => {
      const upgrade = upgradeOf(request);
      if (upgrade !== undefined) return void this.#switch(request, socket, rest, upgrade);
      socket.unshift(Buffer.concat([headWithoutUpgrade(request), rest]));
      toNode!.call(this.#server, socket);
    });
    this.#closeIdle();
  }

  /** Rejects with Node's error if the address is not available (EADDRINUSE, EACCES, EADDRNOTAVAIL). */
  static async listen(options: ApiServerOptions): Promise<ApiServer> {
    const server = new ApiServer(options);
    await new Promise<void>((resolve, reject) => {
      server.#server.once("error", reject);
      server.#server.listen({ host: options.host, port: options.port, backlog: 1024 }, () => {
        server.#server.off("error", reject);
        resolve();
      });
    });
    return server;
  }

  /** Uses this certificate for new connections. Open connections continue. */
  useCertificate(certificate: string, privateKey: string): void {
    this.#server.setSecureContext({
      cert: certificate,
      key: privateKey,
      ca: this.#options.clientCa,
      minVersion: "TLSv1.2",
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    const { host } = this.#options;
    return `https://${host.includes(":") ? `[${host}]` : host}:${this.port}`;
  }

  /** Ends watches, lets other requests finish, and closes every connection within two seconds. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#idleTimer?.[Symbol.dispose]();
    this.#heavy[Symbol.dispose]();
    this.#flowTurns[Symbol.dispose]();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const grace = new AbortController();
    const patience = this.#options.clock.sleep(STOP_GRACE_MS, grace.signal).catch(() => {});
    this.#signals.abortAll(new Error("the server is stopping"));
    if (this.#inFlight > 0) {
      const idle = new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      await Promise.race([idle, patience]);
    }
    // Both send their buffered data first.
    for (const session of this.#sessions.keys()) session.close();
    for (const socket of this.#sockets) if (socket.alpnProtocol !== "h2") socket.destroySoon();
    await Promise.race([closed, patience]);
    grace.abort();
    for (const session of this.#sessions.keys()) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Handles an HTTP/1.1 connection. Plain requests are parsed here, others by Node. */
  #connect(socket: TLSSocket, toNode: () => void): void {
    // The permit of the current request; a connection answers one at a time.
    let permit: Permit | undefined;
    const letIn = (given: Permit): void => {
      permit = given;
    };
    const connection = new PlainConnection({
      socket,
      turn: this.#turn,
      clock: this.#options.clock,
      socketClock: this.#socketClock,
      isLast: () => this.#isStopping,
      answer: (request) => this.#answerPlain(socket, request, letIn),
      onStart: () => {
        this.#inFlight++;
      },
      onDone: ({ method, target }, error) => {
        permit?.release();
        permit = undefined;
        if (error !== undefined && !socket.destroyed) {
          this.#options.log(`${method} ${target}: the response was cut short`, error);
        }
        this.#ended();
      },
      handOver: () => {
        this.#plain.delete(connection);
        this.#waiting.set(socket, this.#socketClock.monotonic());
        toNode();
      },
    });
    this.#plain.add(connection);
    socket.on("close", () => this.#plain.delete(connection));
  }

  #closeIdle(): void {
    this.#idleTimer = this.#socketClock.timer(IDLE_CHECK_MS, () => this.#closeIdle()).unref();
    const idleMs = this.#socketClock.monotonic() - IDLE_TIMEOUT_MS;
    for (const connection of this.#plain) connection.closeIfIdle(idleMs);
    for (const [socket, sinceMs] of this.#waiting) if (sinceMs < idleMs) socket.destroy();
    for (const [session, { openStreams, idleSinceMs }] of this.#sessions) {
      if (openStreams > 0 || idleSinceMs >= idleMs) continue;
      // Close gracefully first; destroy the session at the next check if the client stays.
      if (session.closed) session.destroy();
      else session.close();
    }
  }

  #ended(): void {
    if (--this.#inFlight === 0) this.#onIdle?.();
  }

  async #answerPlain(
    socket: TLSSocket,
    { method, target, headers, body }: PlainRequest,
    letIn: (permit: Permit) => void,
  ): Promise<ApiResponse> {
    let head: RequestHead | undefined;
    try {
      const certificate = this.#certificates.of({ socket }, headers.authorization !== undefined);
      const signal = this.#signals.ofConnection({ socket });
      head = {
        ...parseTarget(method, target),
        headers,
        ...(certificate && { clientCertificate: certificate }),
        isInProcess: false,
        signal,
      };
      const { gate } = this.#options;
      const permit = gate?.enter(head);
      if (permit !== undefined) letIn(permit);
      const encoding = headers["content-encoding"];
      if (encoding === undefined) return await this.#handle(head, target, body, permit);
      if (permit !== undefined) gate!.authorize(head, permit);
      return await this.#handle(head, target, await decodedBody(body, encoding.toString()), permit);
    } catch (error) {
      return this.#refusal(error, head);
    }
  }

  async #handle(head: RequestHead, target: string, body: Uint8Array, permit: Permit | undefined): Promise<ApiResponse> {
    const flow = permit?.flow;
    const known = permit && { user: permit.user, ...(flow !== undefined && { flow }) };
    const { handler } = this.#options;
    let response: ApiResponse;
    if (isHeavy(target.length, body)) {
      const pause = (): Promise<void> => this.#heavy.turn(flow ?? "");
      await pause();
      response = await handler({ ...head, body, ...known, pause });
    } else {
      this.#heavy.noteLight(flow ?? "");
      const begin = (): Promise<ApiResponse> => handler({ ...head, body, ...known });
      const turn = flow === undefined ? undefined : this.#flowTurns.turn(flow);
      if (turn !== undefined) await turn;
      response = await (flow === undefined ? begin() : this.#flowTurns.counted(flow, begin));
    }
    if (permit !== undefined) {
      if (isLongRunning(head, response)) permit.release();
      else if (response.body instanceof Uint8Array) permit.charge(response.body.byteLength);
    }
    return response;
  }

  #refusal(error: unknown, head: RequestHead | undefined): ApiResponse {
    if (error instanceof StatusError && error.status.code === 429) return TOO_MANY_REQUESTS;
    return errorResponse(error, head);
  }

  async #accept(request: NodeRequest, response: NodeResponse, upgrade?: string): Promise<void> {
    this.#inFlight++;
    const connection = isHttp2(request) ? undefined : request.socket;
    if (connection !== undefined) {
      this.#latest.set(connection, response);
      this.#waiting.delete(connection);
    }
    response.on("error", () => response.destroy());
    if (this.#isStopping && connection !== undefined) response.setHeader("connection", "close");
    let isAnonymous = false;
    const letIn = (permit: Permit): void => {
      isAnonymous = permit.user.groups.includes("system:unauthenticated");
      response.on("close", () => permit.release());
    };
    try {
      const answer = await this.#answer(request, response, letIn, upgrade);
      // As on the real server: HTTP/2 is cheap to abuse, so a client without credentials gets one request per connection.
      if (isHttp2(request) && (isAnonymous || answer.status === 401)) request.stream.session?.close();
      if (response.destroyed) return;
      if (answer.takeOver !== undefined) await switchProtocols(response as ServerResponse, answer);
      else await writeResponse(response, answer, this.#options.clock);
    } catch (error) {
      // Do not log a client that leaves: it may do so a thousand times a second.
      const isNews = error !== CLIENT_GONE && !response.destroyed;
      if (isNews) this.#options.log(`${request.method} ${request.url}: the response was cut short`, error);
      response.destroy();
    } finally {
      if (connection !== undefined && !connection.destroyed) {
        this.#waiting.set(connection, this.#socketClock.monotonic());
      }
      this.#ended();
    }
  }

  /** Answers an upgrade request: switches the protocol, or answers normally. Then the connection ends. */
  async #switch(request: IncomingMessage, socket: TLSSocket, rest: Buffer, upgrade: string): Promise<void> {
    if (rest.length > 0) socket.unshift(rest);
    const before = this.#latest.get(socket);
    if (before !== undefined && !before.closed) await once(before, "close");
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on("finish", () => socket.destroySoon());
    await this.#accept(request, response, upgrade);
  }

  async #answer(
    request: NodeRequest,
    response: NodeResponse,
    letIn: (permit: Permit) => void,
    upgrade?: string,
  ): Promise<ApiResponse> {
    let head: RequestHead | undefined;
    try {
      if (!isHttp2(request) && request.httpVersionMajor !== 1) throw unsupportedVersion();
      const headers = headersOf(request.rawHeaders);
      const certificate = this.#certificates.of(request, headers.authorization !== undefined);
      const target = request.url ?? "/";
      head = {
        ...parseTarget(request.method ?? "GET", request.url ?? "/"),
        headers,
        ...(certificate && { clientCertificate: certificate }),
        ...(upgrade !== undefined && { upgrade }),
        isInProcess: false,
        signal: isHttp2(request) ? this.#signals.ofStream(response) : this.#signals.ofConnection(request),
      };
      const { gate, clock } = this.#options;
      const permit = gate?.enter(head);
      if (permit !== undefined) letIn(permit);
      if (!hasBody(request, headers)) return await this.#handle(head, target, NO_BODY, permit);
      if (permit !== undefined) gate!.authorize(head, permit);
      const sent = await readBody(request, headers, clock, (bytes) => permit?.reserve(bytes));
      const encoding = headers["content-encoding"];
      const body = encoding === undefined ? sent : await decodedBody(sent, encoding.toString());
      return await this.#handle(head, target, body, permit);
    } catch (error) {
      const answer = this.#refusal(error, head);
      if (!request.complete) leaveUnread(request, response);
      return answer;
    }
  }
}

/** Otherwise the rest of a rejected body would be read as the next request, or kept in memory. */
function leaveUnread(request: NodeRequest, response: NodeResponse): void {
  if (isHttp2(request)) response.on("finish", () => request.stream.close(constants.NGHTTP2_NO_ERROR));
  else response.setHeader("connection", "close");
}

/** Long-running requests do not count once they are under way, as on the real server. */
function isLongRunning(head: RequestHead, { body, takeOver }: ApiResponse): boolean {
  if (takeOver !== undefined) return true;
  return !(body instanceof Uint8Array) && (isWatch(head.info) || head.path.endsWith("/log"));
}

/** Worded like the real server's Go library. */
function unsupportedVersion(): StatusError {
  return new StatusError(505, undefined, "HTTP Version Not Supported: unsupported protocol version");
}

const NO_BODY = new Uint8Array();

/** The real server's response before content negotiation. */
const TOO_MANY_REQUESTS: ApiResponse = {
  status: 429,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff", "retry-after": "1" },
  body: Buffer.from("Too many requests, please try again later.\n"),
};
