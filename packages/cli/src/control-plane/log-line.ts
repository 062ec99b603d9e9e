/** A message of the control plane as a line of the log. */
export function logLine(message: string, error: unknown): string {
  if (error === undefined) return message;
  return `${message}: ${error instanceof Error ? error.stack : String(error)}`;
}
