/** The request of an error. Has no headers, so no credentials. */
export interface RequestSummary {
  readonly method: string;
  /** With its query. */
  readonly path: string;
}

/**
 * A request as messages name it: `GET /api/v1/pods`. Without the query, which differs between pages of one list and
 * would hide the cause.
 */
export function nameOfRequest({ method, path }: RequestSummary): string {
  return `${method} ${path.split("?", 1)[0]}`;
}
