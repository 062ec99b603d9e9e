/** What a control plane tells of itself, as a line of the log. */
export function logLine(message: string, error: unknown): string {
  if (error === undefined) return message;
  return `${message}: ${error instanceof Error ? error.stack : String(error)}`;
}
