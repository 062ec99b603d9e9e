export { type ClientOptions, createClient } from "./api-client.js";
export {
  ApiError,
  type ApiErrorCode,
  fieldErrors,
  isExpired,
  isForbidden,
  isInvalid,
  isNotServed,
  isTooLargeResourceVersion,
  isTooManyRequests,
  isUnauthorized,
} from "./api-error.js";
export type {
  ApplyOptions,
  CallOptions,
  ClientDefaults,
  DeleteOptions,
  GetOptions,
  JsonPatchOperation,
  ListOptions,
  LogOptions,
  ObjectList,
  ObservedRequest,
  Patch,
  PatchOptions,
  RawRequest,
  RequestVerb,
  SubresourceOption,
  SubresourceWrite,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./client.js";
export { bearerToken, type Credentials } from "./cluster/credentials.js";
export type { ConnectOptions } from "./connect.js";
export type {
  DiscoveredGroup,
  DiscoveredResource,
  DiscoveredSubresource,
  DiscoveredVersion,
  Discovery,
  DiscoveryFailure,
} from "./discovery.js";
export { LineDecoder, type LineHandler, type LineOptions, lines } from "./lines.js";
export type { RequestSummary } from "./request-summary.js";
export type { RetryOptions } from "./retry.js";
export type { Status, StatusCause, StatusDetails } from "./status.js";
export { readJson, wholeBody } from "./transport/body.js";
export type { TlsMaterial, TlsSource } from "./transport/dialer.js";
export { type HttpTransportOptions, http1Transport } from "./transport/http1-transport.js";
export { type Http2TransportOptions, http2Transport } from "./transport/http2-transport.js";
export type { Transport, TransportRequest, TransportResponse } from "./transport/transport.js";
export type { WarnedRequest } from "./warned-request.js";
