import { defineErrors } from "./error.js";

/** Every error code of the package `setpoint`, by area. A test holds this list and `docs/errors.md` together. */
export const errorRegistry = defineErrors({
  ABORTED: {
    summary: "The operation was ended by its AbortSignal.",
    cure: "Nothing to do: the caller asked for it. The signal's reason is the error's cause.",
  },
  DURATION_INVALID: {
    summary: "An option that takes a length of time was given something else.",
    cure: "Write a number with a unit (250ms, 10s, 5m, 1.5h) or a number of milliseconds; it must not be negative.",
  },
});

export type ErrorCode = keyof typeof errorRegistry;
