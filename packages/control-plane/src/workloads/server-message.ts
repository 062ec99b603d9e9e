import { isApiError } from "setpoint";

/** The API server's message, without the request that the error text starts with. */
export function serverMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!isApiError(error)) return error.message;
  const head = `: ${error.status} ${error.reason}: `;
  const at = error.message.indexOf(head);
  return at < 0 ? error.message : error.message.slice(at + head.length);
}
