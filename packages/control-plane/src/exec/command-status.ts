const FAILURE = { metadata: {}, status: "Failure" };

/** How a command ended, as the kubelet says it. */
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

/** Why a command was not even begun. */
export function failedStatus(message: string): object {
  return {
    ...FAILURE,
    message: `Internal error occurred: ${message}`,
    reason: "InternalError",
    details: { causes: [{ message }] },
    code: 500,
  };
}
