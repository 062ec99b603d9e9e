import type { Duplex } from "node:stream";
import type { RequestInfo } from "./request-info.js";
import type { UserInfo } from "./user.js";

/** A request as the layers above the wire see it, whether it came over TLS or in-process. */
export interface ApiRequest {
  readonly method: string;
  /** Decoded path, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** What method, path and query mean together. */
  readonly info: RequestInfo;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The whole body, within the size limit and already gunzipped. Empty where there was none. */
  readonly body: Uint8Array;
  /** What TLS knows of the caller; undefined in-process and without a client certificate. */
  readonly clientCertificate?: { readonly commonName: string; readonly organizations: readonly string[] };
  /** The authenticated user, found before the body is read; undefined before authentication. */
  readonly user?: UserInfo;
  /** What the caller would have this connection speak from now on (`Upgrade`); undefined where that cannot be done. */
  readonly upgrade?: string;
  /** Whose limits count for the request; undefined for those without any. */
  readonly flow?: string;
  /** Of a request whose work takes long: resolves when it may go on, once others had their turn. */
  readonly pause?: () => Promise<void>;
  /** True for the in-process transport, whose caller is the administrator unless it says otherwise. */
  readonly isInProcess: boolean;
  /** Aborted when the caller goes away or the server stops. May serve several requests: take listeners off again. */
  readonly signal: AbortSignal;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** A stream is written as it comes, with back-pressure; its iterator is returned when the caller goes away. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /** With status 101, which only a request with `upgrade` may have: speaks on the connection until it is over. */
  readonly takeOver?: (connection: Duplex) => Promise<void>;
}

export type ApiHandler = (request: ApiRequest) => Promise<ApiResponse>;

/** What is known of a request before its body is read. */
export type RequestHead = Omit<ApiRequest, "body">;
