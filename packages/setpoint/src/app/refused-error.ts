import { isApiError } from "../client/api-error.js";
import type { Status, StatusDetails } from "../client/status.js";
import { SetpointError } from "../errors/error.js";
import { messageOf } from "../loop/outcome.js";

/** An admission handler or a route throws this to refuse a request with its own status and reason. */
export class RefusedError extends SetpointError<"REQUEST_REFUSED"> {
  override readonly name = "RefusedError";
  /** An HTTP status of 400 or more. */
  readonly status: number;
  /** `Forbidden`, `Conflict` and so on, for programs. */
  readonly reason: string;
  readonly details: StatusDetails | undefined;

  constructor(status: number, reason: string, message: string, details?: StatusDetails) {
    super("REQUEST_REFUSED", message);
    this.status = status;
    this.reason = reason;
    this.details = details;
  }
}

/**
 * The error as the Status that a client gets. An error with status and reason keeps both, including an `ApiError` that
 * a handler passes on. Any other is an internal error.
 */
export function statusOf(error: unknown): Status & { readonly code: number; readonly apiVersion: "v1" } {
  const { status, reason, details } = (error ?? {}) as Partial<RefusedError>;
  const isStated = isRefusal(error);
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: (isApiError(error) && error.serverMessage) || messageOf(error),
    reason: isStated ? (typeof reason === "string" ? reason : "") : "InternalError",
    ...(details ? { details } : {}),
    code: isStated ? status! : 500,
  };
}

/** Whether an error says which status answers it. Any other is probably a bug. */
export function isRefusal(error: unknown): boolean {
  const { status } = (error ?? {}) as Partial<RefusedError>;
  return typeof status === "number" && status >= 400 && status < 600;
}
