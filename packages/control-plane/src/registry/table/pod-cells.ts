import type { UntypedObject } from "setpoint";
import { type Cells, list, NONE, number, record, text } from "./cell-values.js";
import { ageOf } from "./human-duration.js";

type Data = Readonly<Record<string, unknown>>;

/** Ready, status and restarts of a pod, as kubectl users know them. */
export function podCells({ spec, status, metadata }: UntypedObject, nowMs: number): Cells {
  const pod = record(status);
  const containers = list(pod.containerStatuses).map(record);
  const inits = list(pod.initContainerStatuses).map(record);
  const initReason = initStatus(inits, list(record(spec).initContainers).length);
  const reason = initReason ?? containerReason(containers) ?? text(pod.reason ?? pod.phase);
  const restarts = (initReason === undefined ? containers : inits).reduce(
    (sum, each) => sum + number(each.restartCount),
    0,
  );
  const lastRestart = containers
    .map((each) => record(record(each.lastState).terminated).finishedAt)
    .filter((time) => typeof time === "string")
    .sort()
    .at(-1);
  const isLost = pod.reason === "NodeLost";
  const isDeleting = metadata.deletionTimestamp !== undefined && pod.phase !== "Succeeded" && pod.phase !== "Failed";
  const gates = list(record(spec).readinessGates).map(record);
  return {
    Ready: `${containers.filter(({ ready }) => ready === true).length}/${list(record(spec).containers).length}`,
    Status: isDeleting ? (isLost ? "Unknown" : "Terminating") : reason,
    Restarts:
      restarts > 0 && lastRestart !== undefined ? `${restarts} (${ageOf(lastRestart, nowMs)} ago)` : String(restarts),
    IP: pod.podIP ?? NONE,
    Node: record(spec).nodeName ?? NONE,
    "Nominated Node": pod.nominatedNodeName ?? NONE,
    "Readiness Gates":
      gates.length === 0 ? NONE : `${readyGates(gates, list(pod.conditions).map(record))}/${gates.length}`,
  };
}

function readyGates(gates: readonly Data[], conditions: readonly Data[]): number {
  return gates.filter(({ conditionType }) =>
    conditions.some(({ type, status }) => type === conditionType && status === "True"),
  ).length;
}

/** Why init containers hold the pod up; undefined where they do not. */
function initStatus(statuses: readonly Data[], total: number): string | undefined {
  for (const [index, { state, started, restartCount }] of statuses.entries()) {
    const { terminated, waiting, running } = record(state);
    if (terminated !== undefined && record(terminated).exitCode === 0) continue;
    if (running !== undefined && started === true && number(restartCount) >= 0) continue;
    if (terminated !== undefined) return `Init:${terminatedText(record(terminated))}`;
    const reason = text(record(waiting).reason);
    if (reason !== "" && reason !== "PodInitializing") return `Init:${reason}`;
    return `Init:${index}/${total}`;
  }
  return undefined;
}

function terminatedText({ reason, signal, exitCode }: Data): string {
  if (reason) return text(reason);
  return number(signal) !== 0 ? `Signal:${text(signal)}` : `ExitCode:${text(exitCode)}`;
}

function containerReason(statuses: readonly Data[]): string | undefined {
  let reason: string | undefined;
  let isRunning = false;
  for (const { state, ready } of [...statuses].reverse()) {
    const { waiting, terminated, running } = record(state);
    if (waiting !== undefined && record(waiting).reason) reason = text(record(waiting).reason);
    else if (terminated !== undefined) reason = terminatedText(record(terminated));
    else if (running !== undefined && ready === true) isRunning = true;
  }
  return reason === "Completed" && isRunning ? "Running" : reason;
}
