/** The registry's entry of an error code: what happened, and what to do. */
export interface ErrorEntry {
  /** One sentence that names the situation; details go into the message of each instance. */
  readonly summary: string;
  /** What to do about it, in one or two sentences. */
  readonly cure: string;
}

/**
 * An error with a stable code. Codes never change their meaning; `docs/errors.md` has a row for each with its cure.
 * Messages are for people and may change. `cause` keeps what led to it.
 *
 * ```ts
 * try {
 *   await client.get(Website, "a", { namespace: "default" });
 * } catch (error) {
 *   if (!isSetpointError(error, "API_NOT_FOUND")) throw error;
 * }
 * ```
 */
export class SetpointError<Code extends string = string> extends Error {
  override readonly name: string = "SetpointError";
  readonly code: Code;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether an error is a SetpointError; with a code, whether it has that code. */
export function isSetpointError<Code extends string>(error: unknown, code?: Code): error is SetpointError<Code> {
  return error instanceof SetpointError && (code === undefined || error.code === code);
}

/** Declares a package's error codes; the type of the result keeps them literal. */
export function defineErrors<const Entries extends Readonly<Record<string, ErrorEntry>>>(entries: Entries): Entries {
  return entries;
}
