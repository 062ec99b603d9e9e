import { StorageFailure } from "@setpoint/control-plane";
import type { ListenAddress } from "./listen-address.js";

export const EXIT_ADDRESS = 3;
export const EXIT_DATA = 4;

/** Why a control plane could not start on this machine, with a message that says what to do. */
export function startFailure(
  error: unknown,
  { host, port }: ListenAddress,
  option: string,
): { readonly message: string; readonly exitCode: number } | undefined {
  if (error instanceof StorageFailure) return { message: `${error.message} [${error.code}]`, exitCode: EXIT_DATA };
  switch ((error as NodeJS.ErrnoException).code) {
    case "EADDRINUSE":
      return {
        message: `${host}:${port} is in use; choose another with ${option}, 0 for any free port`,
        exitCode: EXIT_ADDRESS,
      };
    case "EACCES":
      return {
        message: `this user may not listen on ${host}:${port}; choose a port above 1023`,
        exitCode: EXIT_ADDRESS,
      };
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return { message: `${host} is not an address of this machine`, exitCode: EXIT_ADDRESS };
    default:
      return undefined;
  }
}
