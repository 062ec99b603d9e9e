/**
 * The seam between Setpoint and an API server: bytes out, bytes in. HTTP/1.1, HTTP/2, the embedded control plane in the
 * same process, and the fault injector all implement it and pass the same contract tests.
 */
export interface Transport extends AsyncDisposable {
  /**
   * Sends one request and resolves when the response headers arrive.
   *
   * Rejects with a `SetpointError`: `TRANSPORT_REFUSED` (nothing was sent), `TRANSPORT_BROKEN` (the connection ended
   * before the headers; the server may have acted), `TRANSPORT_TIMEOUT` (no connection in time), `TRANSPORT_UNTRUSTED`
   * (a certificate was not accepted), `REQUEST_INVALID` (not a well-formed request; not sent), or `ABORTED`. An HTTP
   * error status is a response, not a rejection. Redirects are not followed.
   */
  request(request: TransportRequest): Promise<TransportResponse>;
}

export interface TransportRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "CONNECT" | "TRACE";
  /** Path and query, percent-encoded: `/api/v1/pods?limit=500`. */
  readonly path: string;
  /** Lower-case names. An array becomes repeated headers, which Impersonate-Group needs. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array;
  /** Aborts the request, or the body while it is read. */
  readonly signal?: AbortSignal;
  /**
   * Called right before the first byte is sent, however long the request waited for a connection. If it throws, nothing
   * is sent and the request rejects with that error.
   */
  readonly beforeSend?: () => void;
}

export interface TransportResponse {
  readonly status: number;
  /** Lower-case names. Repeated headers (Warning) keep their order in an array. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /**
   * The body, to be read once. Leaving the loop early closes the stream. A body that ends early rejects with
   * `TRANSPORT_BROKEN`. A caller that does not want the body must still `drain` it, otherwise its connection stays in
   * use.
   */
  readonly body: AsyncIterable<Uint8Array>;
}
