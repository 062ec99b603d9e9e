import { SetpointError } from "../errors/error.js";

const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})$/;

/** `metav1.Time`: RFC 3339 in UTC with whole seconds (`2026-01-31T12:00:00Z`). Cuts off fractions of a second. */
export function formatTime(epochMs: number): string {
  return `${new Date(checked(epochMs)).toISOString().slice(0, 19)}Z`;
}

/**
 * `metav1.MicroTime`: always six digits after the point, because the server refuses a Lease or an Event with three.
 * Keeps microseconds.
 */
export function formatMicroTime(epochMs: number): string {
  const wholeMs = Math.floor(checked(epochMs));
  const microseconds = String(Math.floor((epochMs - wholeMs) * 1000)).padStart(3, "0");
  return `${new Date(wholeMs).toISOString().slice(0, 23)}${microseconds}Z`;
}

/**
 * Milliseconds since the epoch, of a Time or a MicroTime, with microseconds as a fraction. Throws `TIME_INVALID`.
 */
export function parseTime(text: string): number {
  const match = RFC3339.exec(text);
  const epochMs = match ? Date.parse(`${match[1]}T${match[2]}${match[4]!.toUpperCase()}`) : Number.NaN;
  if (!match || Number.isNaN(epochMs)) {
    throw new SetpointError(
      "TIME_INVALID",
      `${JSON.stringify(text)} is not an RFC 3339 time such as 2026-01-31T12:00:00Z`,
    );
  }
  return epochMs + Number(`0.${(match[3] ?? "0").slice(0, 6)}`) * 1000;
}

function checked(epochMs: number): number {
  const year = new Date(epochMs).getUTCFullYear();
  if (year >= 0 && year <= 9999) return epochMs;
  throw new SetpointError("TIME_INVALID", `${epochMs} milliseconds is not a time between the years 0 and 9999`);
}
