import { systemClock } from "../clock/system-clock.js";
import { isSetpointError } from "../errors/error.js";

/** Ends of a process that are no mistake in its code: their reader needs the message, not the stack. */
const EXPECTED: ReadonlySet<string> = new Set([
  "LEASE_LOST",
  "WEBHOOK_TAKEN",
  "CONFIGURATION_INVALID",
  "CLUSTER_NOT_CHOSEN",
  "ADDRESS_UNAVAILABLE",
]);

/**
 * Has Node print one line, in place of a source line and a stack, where nobody catches this error. Those who catch it notice
 * nothing.
 */
export function tellInOneLine(error: unknown, print = (line: string) => void process.stderr.write(`${line}\n`)): void {
  if (!isSetpointError(error) || !EXPECTED.has(error.code)) return;
  const onUncaught = (thrown: unknown): void => {
    if (thrown === error) print(`${error.code}: ${error.message}`);
    else console.error(thrown);
    process.exit(1);
  };
  process.once("uncaughtException", onUncaught);
  // An error that is not caught by then stays uncaught, and has ended the process.
  systemClock.timer(0, () => void process.off("uncaughtException", onUncaught)).unref();
}
