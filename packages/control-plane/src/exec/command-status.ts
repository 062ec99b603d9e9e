const FAILURE = { metadata: {}, status: "Failure" };

/** The result of a command, as the kubelet reports it. */
export function exitStatus(exitCode: number, command: readonly string[]): object {
  if (exitCode === 0) return { metadata: {}, status: "Success" };
  const why = `error executing command [${command.join(" ")}], exit code ${exitCode}`;
  return {
    ...FAILURE,
    message: `command terminated with non-zero exit code: ${why}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  };
}

/** Why a command could not start. */
export function failedStatus(message: string): object {
  return {
    ...FAILURE,
    message: `Internal error occurred: ${message}`,
    reason: "InternalError",
    details: { causes: [{ message }] },
    code: 500,
  };
}
