import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Transport, TransportRequest } from "../transport/transport.js";
import { type CertificatePair, makeCertificate } from "./certificate.js";

/** Answers like a transport, so that one list of cases serves every transport. */
export type Handler = Transport["request"];

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  /** The CA to trust; undefined for plain HTTP. */
  readonly ca: string | undefined;
  /** Connections accepted so far. */
  readonly connections: () => number;
}

export interface TestServerOptions {
  readonly protocol: "http" | "https" | "h2" | "h2c";
  readonly hosts?: readonly string[];
  /** Requests client certificates. The handler gets the name in a certificate of this CA as `x-client-certificate`. */
  readonly clientCa?: string;
  readonly certificate?: CertificatePair;
}

/** A real server on loopback around a handler. A handler or body that throws breaks the connection. */
export async function serve(handler: Handler, options: TestServerOptions): Promise<TestServer> {
  const { protocol, hosts = ["localhost", "127.0.0.1"] } = options;
  const pair = options.certificate ?? makeCertificate({ commonName: "setpoint test", hosts });
  const tls = {
    ...pair,
    ...(options.clientCa ? { ca: options.clientCa, requestCert: true, rejectUnauthorized: false } : {}),
  };
  const listener: RequestListener = (request, response) => void answer(handler, request, response);
  const server = await make(protocol, tls, listener);
  let connections = 0;
  const sockets = new Set<Socket>();
  const onConnection = (socket: Socket): void => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
  };
  server.on("connection", onConnection).on("secureConnection", (socket) => socket.on("error", () => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const scheme = protocol === "http" || protocol === "h2c" ? "http" : "https";
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    ca: scheme === "https" ? pair.cert : undefined,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function make(protocol: TestServerOptions["protocol"], tls: object, listener: RequestListener): Promise<Server> {
  switch (protocol) {
    case "http":
      return (await import("node:http")).createServer({ keepAlive: true }, listener);
    case "https":
      return (await import("node:https")).createServer(tls, listener);
    case "h2":
      return (await import("node:http2")).createSecureServer(tls, listener as never);
    case "h2c":
      return (await import("node:http2")).createServer(listener as never);
  }
}

async function answer(handler: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const left = new AbortController();
  response.once("close", () => left.abort());
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const { status, headers, body } = await handler({
      method: request.method as TransportRequest["method"],
      path: request.url!,
      headers: { ...repeatedHeaders(request.rawHeaders), ...clientName(request.socket) },
      body: Buffer.concat(chunks),
      signal: left.signal,
    });
    response.writeHead(status, headers as Record<string, string | string[]>);
    if (request.method !== "HEAD" && status !== 204) {
      // Send the headers at once, as an API server does for a watch.
      response.flushHeaders?.();
      for await (const chunk of body) {
        if (left.signal.aborted) break;
        if (!response.write(chunk)) await drained(response);
      }
    }
    response.end();
  } catch {
    abandon(request, response);
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off("drain", settle).off("close", settle);
      resolve();
    };
    response.on("drain", settle).on("close", settle);
  });
}

function abandon(request: IncomingMessage, response: ServerResponse): void {
  const stream = (response as unknown as { stream?: { close(code: number): void } }).stream;
  if (stream) stream.close(2);
  else request.socket.destroy();
}

function clientName(socket: Socket | TLSSocket): { "x-client-certificate"?: string } {
  if (!("authorized" in socket) || !socket.authorized) return {};
  return { "x-client-certificate": String(socket.getPeerCertificate().subject.CN) };
}

function repeatedHeaders(raw: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index]!.toLowerCase();
    const before = headers[name];
    const value = raw[index + 1]!;
    headers[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return headers;
}
