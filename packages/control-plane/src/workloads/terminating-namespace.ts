import { isApiError } from "setpoint";

/**
 * Does the work, unless the API server refuses part of it because the namespace is being deleted. Its pods are
 * deleted first, and the controllers that would replace them next. So this is not a failure to report or retry.
 */
export async function unlessTerminating<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isApiError(error) && error.causes.some(({ reason }) => reason === "NamespaceTerminating")) return undefined;
    throw error;
  }
}
