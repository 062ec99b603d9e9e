import { isNotFound } from "setpoint";

/**
 * Changes an object, unless somebody has deleted it meanwhile. That is not a failure: the delete is an event, and the
 * controller runs again for it.
 */
export async function unlessGone<Result>(change: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await change();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
