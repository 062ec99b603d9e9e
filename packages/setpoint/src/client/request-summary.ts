/** The request that an error answers. Carries no header, so no credential. */
export interface RequestSummary {
  readonly method: string;
  /** With its query. */
  readonly path: string;
}

/**
 * A request as messages name it: `GET /api/v1/pods`. Without its query, which differs from page to page of one list and
 * hides what went wrong behind what nobody has written.
 */
export function nameOfRequest({ method, path }: RequestSummary): string {
  return `${method} ${path.split("?", 1)[0]}`;
}
