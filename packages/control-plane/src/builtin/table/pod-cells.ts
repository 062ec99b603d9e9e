import type { UntypedObject } from "setpoint/kinds";
import { type Cells, list, NONE, number, record, text } from "./cell-values.js";
import { ageOf } from "./human-duration.js";

type Data = Readonly<Record<string, unknown>>;

/** Summary of the container statuses. */
interface Summary {
  /** Undefined if the pod's own reason applies. */
  readonly reason?: string;
  readonly ready: number;
  readonly restarts: number;
  readonly lastRestart?: string;
}

/** Ready, Status and Restarts of a pod, as kubectl shows them. */
export function podCells({ spec, status, metadata }: UntypedObject, nowMs: number): Cells {
  const pod = record(status);
  const conditions = list(pod.conditions).map(record);
  const { restarts, ready, lastRestart, reason } = summaryOf(record(spec), pod, conditions);
  const sidecars = list(record(spec).initContainers).filter(isSidecar).length;
  const gates = list(record(spec).readinessGates).map(record);
  return {
    Ready: `${ready}/${list(record(spec).containers).length + sidecars}`,
    Status: metadata.deletionTimestamp === undefined ? reason : deletedText(pod, text(reason)),
    Restarts:
      restarts > 0 && lastRestart !== undefined ? `${restarts} (${ageOf(lastRestart, nowMs)} ago)` : `${restarts}`,
    IP: record(list(pod.podIPs)[0]).ip || NONE,
    Node: record(spec).nodeName || NONE,
    "Nominated Node": pod.nominatedNodeName || NONE,
    "Readiness Gates": gates.length === 0 ? NONE : `${readyGates(gates, conditions)}/${gates.length}`,
  };
}

function deletedText(pod: Data, reason: string): string {
  if (pod.reason === "NodeLost") return "Unknown";
  return pod.phase === "Succeeded" || pod.phase === "Failed" ? reason : "Terminating";
}

function readyGates(gates: readonly Data[], conditions: readonly Data[]): number {
  return gates.filter(({ conditionType }) => isTrue(conditions, text(conditionType))).length;
}

function isTrue(conditions: readonly Data[], wanted: string): boolean {
  return conditions.find(({ type }) => type === wanted)?.status === "True";
}

function isSidecar(container: unknown): boolean {
  return record(container).restartPolicy === "Always";
}

function summaryOf(spec: Data, pod: Data, conditions: readonly Data[]): Summary {
  const isGated = conditions.some(({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated");
  const own = isGated ? "SchedulingGated" : text(pod.reason || pod.phase);
  const inits = initSummary(list(spec.initContainers).map(record), list(pod.initContainerStatuses).map(record));
  if (inits.isHolding && !isTrue(conditions, "Initialized")) return inits;
  const statuses = list(pod.containerStatuses).map(record);
  const lastRestart = latest([inits.lastSidecarRestart, ...statuses.map(restartOf)]);
  return {
    reason: containerReason(statuses, isTrue(conditions, "Ready"), inits.reason ?? own),
    ready: inits.ready + statuses.filter(({ ready, state }) => ready === true && record(state).running).length,
    restarts: inits.sidecarRestarts + restartsOf(statuses),
    ...(lastRestart !== undefined && { lastRestart }),
  };
}

interface InitSummary extends Summary {
  /** Whether an init container prevents the others from starting. */
  readonly isHolding: boolean;
  readonly sidecarRestarts: number;
  readonly lastSidecarRestart?: string;
}

/** Summarizes init containers up to the first that is neither complete nor a running sidecar. */
function initSummary(containers: readonly Data[], statuses: readonly Data[]): InitSummary {
  const sidecars = new Set(containers.filter(isSidecar).map(({ name }) => name));
  const isPassed = ({ name, state, started }: Data): boolean =>
    record(record(state).terminated).exitCode === 0 || (sidecars.has(name) && started === true);
  const holder = statuses.findIndex((status) => !isPassed(status));
  const seen = holder === -1 ? statuses : statuses.slice(0, holder + 1);
  const running = seen.filter(({ name }) => sidecars.has(name));
  const isReady = ({ started, ready, state }: Data): boolean =>
    record(record(state).terminated).exitCode !== 0 && started === true && ready === true;
  const lastRestart = latest(seen.map(restartOf));
  const lastSidecarRestart = latest(running.map(restartOf));
  return {
    ...(holder !== -1 && { reason: `Init:${holdingReason(statuses[holder]!, holder, containers.length)}` }),
    isHolding: holder !== -1,
    ready: running.filter(isReady).length,
    restarts: restartsOf(seen),
    sidecarRestarts: restartsOf(running),
    ...(lastRestart !== undefined && { lastRestart }),
    ...(lastSidecarRestart !== undefined && { lastSidecarRestart }),
  };
}

function holdingReason({ state }: Data, index: number, total: number): string {
  const { terminated, waiting } = record(state);
  if (terminated !== undefined) return terminatedText(record(terminated));
  const reason = text(record(waiting).reason);
  return reason !== "" && reason !== "PodInitializing" ? reason : `${index}/${total}`;
}

function restartsOf(statuses: readonly Data[]): number {
  return statuses.reduce((sum, { restartCount }) => sum + number(restartCount), 0);
}

function restartOf({ lastState }: Data): string | undefined {
  const { finishedAt } = record(record(lastState).terminated);
  return typeof finishedAt === "string" ? finishedAt : undefined;
}

function latest(times: readonly (string | undefined)[]): string | undefined {
  return times
    .filter((time) => time !== undefined)
    .sort()
    .at(-1);
}

function terminatedText({ reason, signal, exitCode }: Data): string {
  if (reason) return text(reason);
  return number(signal) !== 0 ? `Signal:${text(signal)}` : `ExitCode:${text(exitCode)}`;
}

/** The first container that waits or has terminated gives the reason. A completed one does not while others run. */
function containerReason(statuses: readonly Data[], isPodReady: boolean, own: string): string {
  let reason = own;
  let failure: string | undefined;
  let isRunning = false;
  for (const { state, ready } of [...statuses].reverse()) {
    const { waiting, terminated, running } = record(state);
    if (record(waiting).reason) reason = text(record(waiting).reason);
    else if (terminated !== undefined) {
      reason = terminatedText(record(terminated));
      if (number(record(terminated).exitCode) !== 0) failure = reason;
    } else if (running !== undefined && ready === true) isRunning = true;
  }
  if (reason !== "Completed") return reason;
  if (isRunning && isPodReady) return "Running";
  return failure ?? (isRunning ? "NotReady" : reason);
}
