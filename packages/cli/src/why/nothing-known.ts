import type { LoopStatus } from "setpoint/manager";
import type { TimelineSource } from "./timeline-source.js";

/** A process that was asked, with its loops of the kind. */
export interface AskedProcess {
  readonly source: Pick<TimelineSource, "name">;
  readonly loops: readonly LoopStatus[];
}

const NOBODY =
  "setpoint why: found no process of Setpoint: no .setpoint/manager.json here or above, and no running pod with " +
  "the label app.kubernetes.io/managed-by=setpoint. Start one with setpoint up, or name it: --url (of an operator with " +
  "--metrics-bind-address), --data-dir, --pod";

/** Why no run of an object is known: one line per process that was asked, and advice. */
export function nothingKnown(
  asked: readonly AskedProcess[],
  isMeant: (loop: LoopStatus) => boolean,
  kind: string,
  keys: readonly string[],
): string {
  if (asked.length === 0) return NOBODY;
  const lines = asked.map((each) => `setpoint why: ${each.source.name} ${answerOf(each, isMeant, kind, keys)}`);
  const isUnknown = asked.every(({ loops }) => !loops.some(isMeant));
  const elsewhere = "To ask an operator that runs in its own process, use --url, --pod or --workload.";
  return [...lines, ...(isUnknown ? [elsewhere] : [])].join("\n");
}

function answerOf(
  { loops }: AskedProcess,
  isMeant: (loop: LoopStatus) => boolean,
  kind: string,
  keys: readonly string[],
): string {
  const own = loops.filter(isMeant);
  if (own.length === 0) {
    const kinds = [...new Set(loops.map((loop) => loop.kind))];
    return `runs no controller for the kind ${kind}; it runs ${kinds.length > 0 ? kinds.join(", ") : "nothing at all"}`;
  }
  const troubled = own.filter(({ trouble }) => trouble.length > 0);
  if (troubled.length > 0) {
    const reasons = troubled.map(({ type, name, trouble }) => `${type} ${name}: ${trouble.join("; ")}`).join("; ");
    return `cannot work on the kind ${kind}: ${reasons}. Check that the kind is installed and RBAC allows it: setpoint rbac`;
  }
  if (own.every(({ isLeading }) => !isLeading)) return `does not lead: ask the process that holds the lease`;
  const names = own.map(({ type, name }) => `${type} ${name}`).join(", ");
  const advice =
    "check its name and namespace, and that the controller selects it; the timeline keeps only recent runs";
  return `has no run of ${kind} ${keys.at(-1)} by ${names}: ${advice}`;
}
