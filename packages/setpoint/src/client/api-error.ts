import { SetpointError } from "../errors/error.js";
import { ownField } from "../kinds/own-field.js";
import { nameOfRequest, type RequestSummary } from "./request-summary.js";
import { isStatus, type Status, type StatusCause, type StatusDetails } from "./status.js";
import { readBytes, startOf } from "./transport/body.js";
import type { TransportResponse } from "./transport/transport.js";

export type ApiErrorCode =
  | "API_BAD_REQUEST"
  | "API_UNAUTHORIZED"
  | "API_FORBIDDEN"
  | "API_NOT_FOUND"
  | "API_NOT_SERVED"
  | "API_METHOD_NOT_ALLOWED"
  | "API_UNSUPPORTED_MEDIA_TYPE"
  | "API_CONFLICT"
  | "API_ALREADY_EXISTS"
  | "API_EXPIRED"
  | "API_TOO_LARGE"
  | "API_INVALID"
  | "API_TOO_MANY_REQUESTS"
  | "API_INTERNAL"
  | "API_UNAVAILABLE"
  | "API_TIMEOUT"
  | "API_FAILED";

/**
 * An error response of the API server: an HTTP error, or the ERROR event of a watch. `code` is stable; `reason` and
 * `status` come from the server. If a proxy wrote the body, `reason` is empty and the message shows the start of the
 * body.
 */
export class ApiError extends SetpointError<ApiErrorCode> {
  override readonly name = "ApiError";
  /** The HTTP status. */
  readonly status: number;
  /** `NotFound`, `Conflict` and so on; empty if the response was not a Status. */
  readonly reason: string;
  /** The server's message without the request; empty if the response was not a Status. */
  readonly serverMessage: string;
  readonly details: StatusDetails | undefined;
  /** The invalid fields of an object, one by one. */
  readonly causes: readonly StatusCause[];
  /** The request with its query; the message omits the query. */
  readonly request: RequestSummary;
  /** When the server wants the next attempt, if it says so. */
  readonly retryAfterMs: number | undefined;
  /** Continues an expired list, but no longer on the same snapshot. */
  readonly continueToken: string | undefined;

  constructor(answer: ErrorAnswer) {
    const { request, status, body } = answer;
    super(codeOf(answer), messageOf(answer));
    this.status = status;
    this.reason = body?.reason ?? "";
    this.serverMessage = body?.message ?? "";
    this.details = body?.details;
    this.causes = body?.details?.causes ?? [];
    this.request = request;
    const seconds = body?.details?.retryAfterSeconds;
    this.retryAfterMs = answer.retryAfterMs ?? (seconds ? seconds * 1000 : undefined);
    this.continueToken = body?.metadata?.continue || undefined;
  }
}

/** What is known about an error response. */
export interface ErrorAnswer {
  readonly request: RequestSummary;
  readonly status: number;
  readonly body?: Status;
  /** The start of a body that is not a Status. */
  readonly text?: string;
  readonly contentType?: string;
  readonly retryAfterMs?: number;
}

const MAX_ERROR_BYTES = 4 * 1024 * 1024;

/** Reads the body of an error response. Never rejects because of its content. */
export async function apiErrorOf(
  request: RequestSummary,
  response: TransportResponse,
  retryAfterMs?: number,
): Promise<ApiError> {
  const bytes = await readBytes(response.body, MAX_ERROR_BYTES);
  const body = parseStatus(bytes.toString("utf8"));
  const contentType = String(response.headers["content-type"] ?? "");
  const known = body ? { body } : { text: startOf(bytes), contentType };
  return new ApiError({ request, status: response.status, retryAfterMs, ...known });
}

/** The error of a watch's ERROR event. */
export function apiErrorOfEvent(request: RequestSummary, object: unknown): ApiError {
  const body = isStatus(object) ? object : undefined;
  const text = body ? undefined : JSON.stringify(object)?.slice(0, 200);
  return new ApiError({ request, status: body?.code ?? 500, body, text });
}

function parseStatus(text: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isStatus(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const CODE_BY_REASON: Readonly<Record<string, ApiErrorCode>> = {
  BadRequest: "API_BAD_REQUEST",
  Unauthorized: "API_UNAUTHORIZED",
  Forbidden: "API_FORBIDDEN",
  NotFound: "API_NOT_FOUND",
  MethodNotAllowed: "API_METHOD_NOT_ALLOWED",
  NotAcceptable: "API_UNSUPPORTED_MEDIA_TYPE",
  UnsupportedMediaType: "API_UNSUPPORTED_MEDIA_TYPE",
  Conflict: "API_CONFLICT",
  AlreadyExists: "API_ALREADY_EXISTS",
  Expired: "API_EXPIRED",
  Gone: "API_EXPIRED",
  RequestEntityTooLarge: "API_TOO_LARGE",
  Invalid: "API_INVALID",
  TooManyRequests: "API_TOO_MANY_REQUESTS",
  InternalError: "API_INTERNAL",
  StoreReadError: "API_INTERNAL",
  ServiceUnavailable: "API_UNAVAILABLE",
  Timeout: "API_TIMEOUT",
  ServerTimeout: "API_TIMEOUT",
};

const CODE_BY_STATUS: Readonly<Record<number, ApiErrorCode>> = {
  400: "API_BAD_REQUEST",
  401: "API_UNAUTHORIZED",
  403: "API_FORBIDDEN",
  404: "API_NOT_SERVED",
  405: "API_METHOD_NOT_ALLOWED",
  406: "API_UNSUPPORTED_MEDIA_TYPE",
  409: "API_CONFLICT",
  410: "API_EXPIRED",
  413: "API_TOO_LARGE",
  415: "API_UNSUPPORTED_MEDIA_TYPE",
  422: "API_INVALID",
  429: "API_TOO_MANY_REQUESTS",
  500: "API_INTERNAL",
  502: "API_UNAVAILABLE",
  503: "API_UNAVAILABLE",
  504: "API_TIMEOUT",
};

function codeOf({ status, body }: ErrorAnswer): ApiErrorCode {
  const code = ownField(CODE_BY_REASON, body?.reason ?? "") ?? CODE_BY_STATUS[status] ?? "API_FAILED";
  // A 404 that names no object means that the path is not served: the kind is not installed, or not in this version.
  return code === "API_NOT_FOUND" && !body?.details?.name ? "API_NOT_SERVED" : code;
}

function messageOf({ request, status, body, text, contentType }: ErrorAnswer): string {
  const head = `${nameOfRequest(request)}: ${status}`;
  if (!body) {
    const type = contentType ? ` (${contentType})` : "";
    return text ? `${head}, an answer that is not a Status${type}: ${text}` : `${head} without a body`;
  }
  const causes = (body.details?.causes ?? []).filter((cause) => cause.field);
  const message = body.message ?? "no message";
  const words = `${head}${body.reason ? ` ${body.reason}` : ""}: `;
  if (causes.length < 2) return words + message;
  // The server's message repeats all causes in brackets on one line. Put each on its own line.
  const list = message.indexOf(": [");
  const first = list >= 0 && message.endsWith("]") ? message.slice(0, list + 1) : message;
  return `${words}${first}${causes.map((cause) => `\n  ${cause.field}: ${cause.message}`).join("")}`;
}

/** Whether an error is a response of the API server; with a code, whether it has that code. */
export function isApiError(error: unknown, code?: ApiErrorCode): error is ApiError {
  return error instanceof ApiError && (code === undefined || error.code === code);
}

/** The object does not exist. False if its kind is not served: see {@link isNotServed}. */
export const isNotFound = (error: unknown): error is ApiError => isApiError(error, "API_NOT_FOUND");
/** The path is not served: the kind is not installed, or not in this version. */
export const isNotServed = (error: unknown): error is ApiError => isApiError(error, "API_NOT_SERVED");
/** The object has changed since it was read (409, `Conflict`): read it again and decide again. */
export const isConflict = (error: unknown): error is ApiError => isApiError(error, "API_CONFLICT");
/** An object of that name exists already (409, `AlreadyExists`). */
export const isAlreadyExists = (error: unknown): error is ApiError => isApiError(error, "API_ALREADY_EXISTS");
/** The user may not do this (403), or an admission webhook denied it. */
export const isForbidden = (error: unknown): error is ApiError => isApiError(error, "API_FORBIDDEN");
/** The server does not accept the credentials (401), even after a renewal. */
export const isUnauthorized = (error: unknown): error is ApiError => isApiError(error, "API_UNAUTHORIZED");
/** The server refused the object (422); `fieldErrors` lists what is wrong with it. */
export const isInvalid = (error: unknown): error is ApiError => isApiError(error, "API_INVALID");
/** 410: the resourceVersion or the continue token is too old. */
export const isExpired = (error: unknown): error is ApiError => isApiError(error, "API_EXPIRED");
/** The server is overloaded (429) and the retries are used up, or an eviction would violate a disruption budget. */
export const isTooManyRequests = (error: unknown): error is ApiError => isApiError(error, "API_TOO_MANY_REQUESTS");

/** The server has not reached the requested resourceVersion yet; it reports that in one of three ways. */
export function isTooLargeResourceVersion(error: unknown): error is ApiError {
  if (!isApiError(error)) return false;
  if (error.causes.some((cause) => cause.reason === "ResourceVersionTooLarge")) return true;
  const words = [error.message, ...error.causes.map((cause) => cause.message ?? "")];
  return error.code === "API_TIMEOUT" && words.some((text) => /too large resource version/i.test(text));
}

/** One line for each field that the server found wrong: `spec.replicas: Invalid value: -1: must be …`. */
export function fieldErrors(error: ApiError): readonly string[] {
  return error.causes.filter((cause) => cause.field).map((cause) => `${cause.field}: ${cause.message}`);
}

/** When the server wants the next attempt, if the error is its response and says so. */
export function retryAfterOf(error: unknown): number {
  const retryAfterMs = (error as { retryAfterMs?: unknown } | undefined)?.retryAfterMs;
  return typeof retryAfterMs === "number" ? retryAfterMs : 0;
}
