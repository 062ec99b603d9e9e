import { SetpointError } from "setpoint";
import type { ApiHandler } from "../api/api-request.js";
import { StatusError } from "../api/status-error.js";
import { errorResponse } from "../registry/negotiation/error-response.js";

/** Receives one line per unexpected failure, with details that no client sees. */
export type ErrorLog = (message: string, error: unknown) => void;

/** A handler that always answers: a `StatusError` with its status, any other error with 500 and a log line. */
export function safeHandler(handler: ApiHandler, log: ErrorLog): ApiHandler {
  return async (request) => {
    try {
      return await handler(request);
    } catch (error) {
      if (error instanceof StatusError) return errorResponse(error);
      if (!request.signal.aborted) log(`${request.method} ${request.path} failed`, error);
      return errorResponse(internalError(error));
    }
  };
}

/** Our own messages go to the client (a full disk, a failed journal); texts of foreign errors do not. */
function internalError(error: unknown): StatusError {
  const message = error instanceof SetpointError ? error.message : "an unexpected error; see the server's log";
  const text = `Internal error occurred: ${message}`;
  return new StatusError(500, "InternalError", text, { causes: [{ message }] });
}
