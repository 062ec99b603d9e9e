import { isNotFound } from "setpoint";

/**
 * Changes an object, unless somebody has deleted it meanwhile. A missing object is not a failure: its delete is an
 * event that requeues the controller.
 */
export async function unlessGone<Result>(change: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await change();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
