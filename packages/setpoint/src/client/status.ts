/** The body of an error response, and of a watch's ERROR event. */
export interface Status {
  readonly kind: "Status";
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: StatusDetails;
  readonly metadata?: { readonly continue?: string; readonly resourceVersion?: string };
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  /** `spec.containers[0].image`; empty if the cause is not about a field. */
  readonly field?: string;
}

export function isStatus(value: unknown): value is Status {
  return typeof value === "object" && value !== null && (value as { kind?: unknown }).kind === "Status";
}
