import { isApiError } from "setpoint";

/** What an API server said, without the request that it said it to. */
export function serverMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!isApiError(error)) return error.message;
  const { method, path } = error.request;
  return error.message.replace(`${method} ${path}: ${error.status} ${error.reason}: `, "");
}
