import { once } from "node:events";
import { type IncomingMessage, ServerResponse } from "node:http";
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Clock, systemClock } from "setpoint";
import { answerError } from "../registry/negotiation/answer.js";
import { StatusError } from "../registry/status-error.js";
import type { ApiHandler, ApiResponse } from "./api-request.js";
import { CallerSignals } from "./caller-signals.js";
import { ClientCertificates } from "./client-certificates.js";
import { hasBody, type NodeRequest, readBody } from "./incoming-body.js";
import { PlainConnection } from "./plain-connection.js";
import type { PlainRequest } from "./plain-request.js";
import { decodedBody } from "./request-body.js";
import { headersOf } from "./request-headers.js";
import { parseTarget } from "./request-target.js";
import { type NodeResponse, writeResponse } from "./response-writer.js";
import type { ErrorLog } from "./safe-handler.js";
import { Turn } from "./turn.js";
import { headWithoutUpgrade, switchProtocols, upgradeOf } from "./upgrade.js";

export interface ApiServerOptions {
  readonly handler: ApiHandler;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** PEM. */
  readonly certificate: string;
  readonly privateKey: string;
  /** PEM of the CA that signs client certificates. */
  readonly clientCa: string;
  readonly clock: Clock;
  /** When connections have idled for too long. Defaults to the machine's: it is about sockets, not about objects. */
  readonly socketClock?: Clock;
  readonly log: ErrorLog;
}

/** What is left running after this is cut off when the server stops. */
const STOP_GRACE_MS = 1_200;
/** The limits of the real server's Go library: 1 MiB of headers, 90 s without a request that has come in whole. */
const MAX_HEADER_BYTES = 2 ** 20;
const IDLE_TIMEOUT_MS = 90_000;
const IDLE_CHECK_MS = 10_000;

/** The handler on a TLS socket: HTTP/1.1 and HTTP/2, client certificates asked for and not required. */
export class ApiServer implements AsyncDisposable {
  readonly #options: ApiServerOptions;
  readonly #server: Http2SecureServer;
  readonly #sockets = new Set<TLSSocket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #turn = new Turn();
  /** Those whose requests are all plain so far. */
  readonly #plain = new Set<PlainConnection>();
  /** Those whose requests Node reads, while they wait for one, and since when. */
  readonly #waiting = new Map<Socket, number>();
  readonly #socketClock: Clock;
  #idleTimer: Disposable | undefined;
  /** The answer that was begun last on a connection which Node reads. */
  readonly #latest = new WeakMap<object, NodeResponse>();
  readonly #signals = new CallerSignals();
  readonly #certificates = new ClientCertificates();
  #inFlight = 0;
  #onIdle: (() => void) | undefined;
  #isStopping = false;

  private constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#socketClock = options.socketClock ?? systemClock;
    this.#server = createSecureServer({
      allowHTTP1: true,
      cert: options.certificate,
      key: options.privateKey,
      ca: options.clientCa,
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: "TLSv1.2",
      maxHeaderSize: MAX_HEADER_BYTES,
      settings: { maxConcurrentStreams: 1000, maxHeaderListSize: MAX_HEADER_BYTES },
    } as Parameters<typeof createSecureServer>[0]);
    // Node's own timeouts do not cover such a server in all of its versions: see #closeIdle and readBody.
    Object.assign(this.#server, { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 });
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
    this.#server.on("session", (session) => {
      this.#sessions.add(session);
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

  /** Rejects with Node's error where the address cannot be had (EADDRINUSE, EACCES, EADDRNOTAVAIL). */
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

  /** New connections are answered with this certificate; those that are open go on. */
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

  /** Ends watches, lets other requests finish, and closes every connection, within two seconds. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#idleTimer?.[Symbol.dispose]();
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
    // Both send what is still in their buffers first.
    for (const session of this.#sessions) session.close();
    for (const socket of this.#sockets) if (socket.alpnProtocol !== "h2") socket.destroySoon();
    await Promise.race([closed, patience]);
    grace.abort();
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Requests over HTTP/1.1: plain ones are read here, others by Node. */
  #connect(socket: TLSSocket, toNode: () => void): void {
    const connection = new PlainConnection({
      socket,
      turn: this.#turn,
      clock: this.#options.clock,
      socketClock: this.#socketClock,
      isLast: () => this.#isStopping,
      answer: (request) => this.#answerPlain(socket, request),
      onStart: () => {
        this.#inFlight++;
      },
      onDone: ({ method, target }, error) => {
        if (error !== undefined && !socket.destroyed) {
          this.#options.log(`${method} ${target}: the answer broke off`, error);
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
  }

  #ended(): void {
    if (--this.#inFlight === 0) this.#onIdle?.();
  }

  async #answerPlain(socket: TLSSocket, { method, target, headers, body }: PlainRequest): Promise<ApiResponse> {
    try {
      const certificate = this.#certificates.of({ socket }, headers.authorization !== undefined);
      const encoding = headers["content-encoding"];
      return await this.#options.handler({
        method,
        ...parseTarget(target),
        headers,
        body: encoding === undefined ? body : await decodedBody(body, encoding.toString()),
        ...(certificate && { clientCertificate: certificate }),
        isInProcess: false,
        signal: this.#signals.ofConnection({ socket }),
      });
    } catch (error) {
      if (error instanceof StatusError) return answerError(error);
      throw error;
    }
  }

  async #accept(request: NodeRequest, response: NodeResponse, upgrade?: string): Promise<void> {
    this.#inFlight++;
    const connection = request.httpVersionMajor === 1 ? request.socket : undefined;
    if (connection !== undefined) {
      this.#latest.set(connection, response);
      this.#waiting.delete(connection);
    }
    response.on("error", () => response.destroy());
    if (this.#isStopping && request.httpVersionMajor === 1) response.setHeader("connection", "close");
    try {
      const answer = await this.#answer(request, response, upgrade);
      if (response.destroyed) return;
      if (answer.takeOver !== undefined) await switchProtocols(response as ServerResponse, answer);
      else await writeResponse(response, answer, this.#options.clock);
    } catch (error) {
      if (!response.destroyed) this.#options.log(`${request.method} ${request.url}: the answer broke off`, error);
      response.destroy();
    } finally {
      if (connection !== undefined && !connection.destroyed) {
        this.#waiting.set(connection, this.#socketClock.monotonic());
      }
      this.#ended();
    }
  }

  /** Answers a request that asks for another protocol: with that, or as if it had not asked, and nothing after it. */
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

  async #answer(request: NodeRequest, response: NodeResponse, upgrade?: string): Promise<ApiResponse> {
    try {
      const headers = headersOf(request.rawHeaders);
      const certificate = this.#certificates.of(request, headers.authorization !== undefined);
      const target = parseTarget(request.url ?? "/");
      const sent = hasBody(request, headers) ? await readBody(request, headers, this.#options.clock) : NO_BODY;
      const encoding = headers["content-encoding"];
      const body = encoding === undefined ? sent : await decodedBody(sent, encoding.toString());
      return await this.#options.handler({
        method: request.method ?? "GET",
        path: target.path,
        query: target.query,
        headers,
        body,
        ...(certificate && { clientCertificate: certificate }),
        ...(upgrade !== undefined && { upgrade }),
        isInProcess: false,
        signal: "stream" in request ? this.#signals.ofStream(response) : this.#signals.ofConnection(request),
      });
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      // The rest of a refused body would otherwise be read as the next request, or kept in memory.
      if (!request.complete && request.httpVersionMajor === 1) response.setHeader("connection", "close");
      return answerError(error);
    }
  }
}

const NO_BODY = new Uint8Array();
