import { SetpointError } from "../../errors/error.js";

export type TransportErrorCode =
  | "TRANSPORT_REFUSED"
  | "TRANSPORT_BROKEN"
  | "TRANSPORT_TIMEOUT"
  | "TRANSPORT_UNTRUSTED"
  | "ABORTED";

export function transportError(code: TransportErrorCode, message: string, cause?: unknown): SetpointError {
  return new SetpointError(code, message, cause === undefined ? undefined : { cause });
}

export function abortedError(signal: AbortSignal): SetpointError {
  return transportError("ABORTED", "the request was aborted", signal.reason);
}

/** Describes a system error: its code says more than its message, which may be empty. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as NodeJS.ErrnoException).code;
  const parts = error instanceof AggregateError ? error.errors.map(describe) : [];
  const text = error.message || parts.join("; ") || error.name;
  return code && !text.includes(code) ? `${text} (${code})` : text;
}

/** The same promise, but it rejects with `ABORTED` as soon as the signal is aborted. The underlying work continues. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  if (signal.aborted) return Promise.reject(abortedError(signal));
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortedError(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
