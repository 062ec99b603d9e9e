import { isApiError } from "setpoint";

/** What an API server said, without the request that it said it to. */
export function serverMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!isApiError(error)) return error.message;
  const head = `: ${error.status} ${error.reason}: `;
  const at = error.message.indexOf(head);
  return at < 0 ? error.message : error.message.slice(at + head.length);
}
