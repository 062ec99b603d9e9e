import type { Duplex } from "node:stream";
import type { RequestInfo } from "./request-info.js";
import type { UserInfo } from "./user.js";

/** A parsed request, from a TLS connection or the in-process transport. */
export interface ApiRequest {
  readonly method: string;
  /** Decoded path, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** What method, path and query ask for. */
  readonly info: RequestInfo;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The whole body, decompressed and within the size limit. Empty if the request has none. */
  readonly body: Uint8Array;
  /** The verified client certificate. Undefined without one, and in-process. */
  readonly clientCertificate?: { readonly commonName: string; readonly organizations: readonly string[] };
  /** The user, if already authenticated. A request over a socket is authenticated before its body is read. */
  readonly user?: UserInfo;
  /** The protocol in the `Upgrade` header. Undefined if the connection cannot switch protocols. */
  readonly upgrade?: string;
  /** The flow whose limits apply. Undefined if the caller has no limits. */
  readonly flow?: string;
  /** For long work: resolves when the request may continue, after other requests had their turn. */
  readonly pause?: () => Promise<void>;
  /** True for the in-process transport. Its caller is the administrator unless it presents other credentials. */
  readonly isInProcess: boolean;
  /** Aborts when the caller leaves or the server stops. Requests may share it, so remove listeners after use. */
  readonly signal: AbortSignal;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** A stream is sent as its chunks arrive, with back-pressure. If the caller leaves, its iterator is closed. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /** For status 101, which only a request with `upgrade` can get. Uses the connection until it ends. */
  readonly takeOver?: (connection: Duplex) => Promise<void>;
}

export type ApiHandler = (request: ApiRequest) => Promise<ApiResponse>;

/** A request without its body. */
export type RequestHead = Omit<ApiRequest, "body">;
