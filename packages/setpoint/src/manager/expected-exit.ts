import { systemClock } from "../clock/system-clock.js";
import { isSetpointError } from "../errors/error.js";

/** Expected reasons for the end of a process: users need the message, not the stack. */
const EXPECTED: ReadonlySet<string> = new Set([
  "LEASE_LOST",
  "WEBHOOK_TAKEN",
  "CONFIGURATION_INVALID",
  "CLUSTER_NOT_CHOSEN",
  "KUBECONFIG_NOT_FOUND",
  "KUBECONFIG_INVALID",
  "CREDENTIALS_FAILED",
  "LEASE_INVALID",
  "ADDRESS_UNAVAILABLE",
  "METRICS_CERTIFICATE_INVALID",
  "WEBHOOK_CERTIFICATE_INVALID",
  "WEBHOOK_UNREACHABLE",
]);

/** Whether an error is told in one line where nobody catches it. */
export function isExpectedEnd(error: unknown): boolean {
  return isSetpointError(error) && EXPECTED.has(error.code);
}

/**
 * Makes Node print one line instead of a source line and a stack if nobody catches this error. Has no effect on code
 * that catches it.
 */
export function tellInOneLine(error: unknown, print = (line: string) => void process.stderr.write(`${line}\n`)): void {
  if (!isSetpointError(error) || !isExpectedEnd(error)) return;
  const onUncaught = (thrown: unknown): void => {
    if (thrown === error) print(`${error.code}: ${error.message}`);
    else console.error(thrown);
    process.exit(1);
  };
  process.once("uncaughtException", onUncaught);
  // By then an uncaught error has ended the process.
  systemClock.timer(0, () => void process.off("uncaughtException", onUncaught)).unref();
}
