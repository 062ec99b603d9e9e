import { isApiError } from "setpoint";

/**
 * Does the work, unless the server refuses a part of it because the namespace is being deleted: its pods go first, and
 * whoever would make new ones for them goes next. That is no failure to report or to repeat.
 */
export async function unlessTerminating<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isApiError(error) && error.causes.some(({ reason }) => reason === "NamespaceTerminating")) return undefined;
    throw error;
  }
}
