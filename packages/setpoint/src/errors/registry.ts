import { defineErrors } from "./error.js";

/** Every error code of the package `setpoint`, by area. A test holds this list and `docs/errors.md` together. */
export const errorRegistry = defineErrors({
  ABORTED: {
    summary: "The operation was ended by its AbortSignal.",
    cure: "Nothing to do: the caller asked for it. The signal's reason is the error's cause.",
  },
});

export type ErrorCode = keyof typeof errorRegistry;
