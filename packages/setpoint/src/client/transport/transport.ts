/**
 * The one seam between Setpoint and an API server: bytes out, bytes in. HTTP/1.1, HTTP/2, the embedded control plane
 * in the same process, and the fault injector all implement it, and all pass the same contract tests.
 */
export interface Transport extends AsyncDisposable {
  /**
   * Sends one request and resolves when the response's head is there.
   *
   * Rejects with a `SetpointError`: `TRANSPORT_REFUSED` (nothing was sent), `TRANSPORT_BROKEN` (the connection ended
   * before the head; the server may or may not have acted), `TRANSPORT_TIMEOUT` (no connection in time),
   * `TRANSPORT_UNTRUSTED` (a certificate was not accepted), `REQUEST_INVALID` (not sent: it is no well-formed request),
   * or `ABORTED`. An HTTP error status is a response, not a rejection; redirects are not followed.
   */
  request(request: TransportRequest): Promise<TransportResponse>;
}

export interface TransportRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "CONNECT" | "TRACE";
  /** Path and query, percent-encoded: `/api/v1/pods?limit=500`. */
  readonly path: string;
  /** Lower-case names. An array is sent as repeated headers (Impersonate-Group needs that). */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array;
  /** Ends the request, or the body while it is read. */
  readonly signal?: AbortSignal;
  /**
   * Called right before the first byte is sent, however long the request has waited for a connection; what it throws is
   * what the request rejects with, and nothing is sent.
   */
  readonly beforeSend?: () => void;
}

export interface TransportResponse {
  readonly status: number;
  /** Lower-case names. Repeated headers (Warning) keep their order in an array. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /**
   * The body, once. Leaving the loop early closes the stream. A body that ends before its time rejects with
   * `TRANSPORT_BROKEN`; a caller that does not want it must still end it (`drain`), or its connection stays in use.
   */
  readonly body: AsyncIterable<Uint8Array>;
}
