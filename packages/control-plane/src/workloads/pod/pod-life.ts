import { formatTime, parseTime } from "setpoint/kinds";
import type { ContainerStatus, Pod, PodCondition, PodStatus } from "setpoint/kinds/v1";
import { type ContainerScript, containerStep, earlier, triesMs, waitingContainer } from "./container-life.js";
import type { PodScript } from "./pod-script.js";
import { isPodOver } from "./pod-state.js";

/** A pod's next status, and when it next changes by itself. */
export interface PodStep {
  readonly status: PodStatus;
  readonly nextMs: number | undefined;
}

export interface PodPlace {
  readonly hostIP: string;
  readonly podIP: string;
}

/**
 * The next status of a bound pod, as a kubelet would report it. Containers are created and init containers run one
 * after the other. Then the other containers run, become ready, end and restart as the script says. The result
 * depends only on the pod, so a restarted control plane continues where it was.
 */
export function podStep(pod: Pod, script: PodScript, place: PodPlace, nowMs: number): PodStep {
  const current = pod.status ?? {};
  if (isPodOver(pod)) return { status: current, nextMs: undefined };
  const status = current.startTime ? current : admitted(pod, place, nowMs);
  const startMs = parseTime(status.startTime!) + script.startAfterMs;
  if (startMs > nowMs) return { status, nextMs: startMs };
  const inits = initStep(pod, status, script, startMs, nowMs);
  if (inits.isUnfinished)
    return told(pod, status, inits.statuses, status.containerStatuses ?? [], inits.nextMs, place, nowMs);
  let nextMs = inits.nextMs;
  const statuses = pod.spec.containers.map((container) => {
    const known = status.containerStatuses?.find(({ name }) => name === container.name);
    const step = containerStep(
      known ?? waitingContainer(container, "ContainerCreating"),
      scriptOf(pod, script, known?.restartCount ?? 0, startMs),
      nowMs,
    );
    nextMs = earlier(nextMs, step.nextMs);
    return step.status;
  });
  const step = told(pod, status, inits.statuses, statuses, nextMs, place, nowMs);
  return script.failure === "eviction" ? evictedInTime(pod, step, script, nowMs) : step;
}

function scriptOf(pod: Pod, script: PodScript, restartCount: number, startMs: number): ContainerScript {
  const { failure, failures } = script;
  const isFailing = restartCount < failures;
  const crashes = isFailing && (failure === "crash-loop" || failure === "out-of-memory");
  const exitCode = crashes ? (failure === "out-of-memory" ? 137 : script.exitCode || 1) : script.exitCode;
  const isScripted = failure !== "crash-loop" && failure !== "out-of-memory" && failure !== "eviction";
  const { restartPolicy = "Always" } = pod.spec;
  return {
    runForMs: crashes || isScripted ? script.runForMs : undefined,
    exitCode,
    endReason: crashes && failure === "out-of-memory" ? "OOMKilled" : exitCode === 0 ? "Completed" : "Error",
    readyAfterMs: failure === "never-ready" ? Number.POSITIVE_INFINITY : script.readyAfterMs,
    isRestarted: (code) => restartPolicy === "Always" || (restartPolicy === "OnFailure" && code !== 0),
    pullableAtMs: failure === "image-pull" ? startMs + triesMs(failures) : 0,
  };
}

interface InitStep {
  readonly statuses: readonly ContainerStatus[];
  readonly isUnfinished: boolean;
  readonly nextMs: number | undefined;
}

/** Runs init containers one after the other. Sidecars (`restartPolicy: Always`) keep running beside the next ones. */
function initStep(pod: Pod, status: PodStatus, script: PodScript, startMs: number, nowMs: number): InitStep {
  const statuses: ContainerStatus[] = [];
  let isUnfinished = false;
  let nextMs: number | undefined;
  for (const container of pod.spec.initContainers ?? []) {
    const known = status.initContainerStatuses?.find(({ name }) => name === container.name);
    const before = known ?? waitingContainer(container, "PodInitializing");
    if (isUnfinished) {
      statuses.push(before);
      continue;
    }
    const isSidecar = (container as { readonly restartPolicy?: string }).restartPolicy === "Always";
    const crashes = script.failure === "init-crash-loop" && before.restartCount < script.failures;
    const restartPolicy = pod.spec.restartPolicy ?? "Always";
    const step = containerStep(
      before,
      {
        runForMs: isSidecar ? undefined : script.initForMs,
        exitCode: crashes ? script.exitCode || 1 : 0,
        endReason: crashes ? "Error" : "Completed",
        readyAfterMs: 0,
        isRestarted: (code) => isSidecar || (code !== 0 && restartPolicy !== "Never"),
        pullableAtMs: startMs,
      },
      nowMs,
    );
    const isOver = step.status.state?.terminated?.exitCode === 0 || (isSidecar && step.status.started === true);
    statuses.push({ ...step.status, ready: isOver });
    nextMs = earlier(nextMs, step.nextMs);
    isUnfinished = !isOver;
  }
  return { statuses, isUnfinished, nextMs };
}

/** The status of a pod that has just reached its node, with its containers waiting. */
function admitted(pod: Pod, { hostIP }: PodPlace, nowMs: number): PodStatus {
  const { initContainers = [], containers } = pod.spec;
  const waits = initContainers.length > 0 ? "PodInitializing" : "ContainerCreating";
  const status: PodStatus = {
    ...pod.status,
    phase: "Pending",
    hostIP,
    hostIPs: [{ ip: hostIP }],
    startTime: formatTime(nowMs),
    ...(initContainers.length > 0 && {
      initContainerStatuses: initContainers.map((each) => waitingContainer(each, "PodInitializing")),
    }),
    containerStatuses: containers.map((each) => waitingContainer(each, waits)),
  };
  return { ...status, conditions: conditionsOf(pod, status, nowMs) };
}

/** The pod status that results from the container statuses. */
function told(
  pod: Pod,
  before: PodStatus,
  inits: readonly ContainerStatus[],
  containers: readonly ContainerStatus[],
  nextMs: number | undefined,
  { podIP }: PodPlace,
  nowMs: number,
): PodStep {
  const phase = phaseOf(pod, inits, containers);
  const isCreated = [...inits, ...containers].some(({ state }) => state?.running ?? state?.terminated);
  const status: PodStatus = {
    ...before,
    phase,
    ...(isCreated && { podIP: before.podIP ?? podIP, podIPs: [{ ip: before.podIP ?? podIP }] }),
    ...(inits.length > 0 && { initContainerStatuses: inits }),
    containerStatuses: containers,
  };
  const isOver = phase === "Succeeded" || phase === "Failed";
  return { status: { ...status, conditions: conditionsOf(pod, status, nowMs) }, nextMs: isOver ? undefined : nextMs };
}

function phaseOf(
  pod: Pod,
  inits: readonly ContainerStatus[],
  containers: readonly ContainerStatus[],
): NonNullable<PodStatus["phase"]> {
  const { restartPolicy = "Always" } = pod.spec;
  const failed = ({ state }: ContainerStatus): boolean => (state?.terminated?.exitCode ?? 0) !== 0;
  if (restartPolicy === "Never" && inits.some(failed)) return "Failed";
  if (containers.some(({ state, lastState }) => state?.running ?? lastState?.terminated)) return "Running";
  if (!containers.every(({ state }) => state?.terminated)) return "Pending";
  if (restartPolicy === "Always") return "Running";
  if (!containers.some(failed)) return "Succeeded";
  return restartPolicy === "Never" ? "Failed" : "Running";
}

/** The kubelet's conditions, in its order. A lastTransitionTime moves only with its status. */
function conditionsOf(pod: Pod, status: PodStatus, nowMs: number): readonly PodCondition[] {
  const { initContainerStatuses: inits = [], containerStatuses: containers = [], phase } = status;
  const isOver = phase === "Succeeded" || phase === "Failed";
  const waiting = inits.filter(({ ready }) => !ready).map(({ name }) => name);
  const unready = containers.filter(({ ready }) => !ready).map(({ name }) => name);
  const isCreated = status.podIP !== undefined;
  const unmet = unmetGates(pod);
  const notReady = containersCondition(phase, unready);
  const gates = { reason: "ReadinessGatesNotReady", message: unmet.join(", ") };
  const wanted: readonly (readonly [string, boolean, { readonly reason?: string; readonly message?: string }])[] = [
    ["PodReadyToStartContainers", isCreated && !isOver, {}],
    [
      "Initialized",
      waiting.length === 0,
      { reason: "ContainersNotInitialized", message: `containers with incomplete status: [${waiting.join(" ")}]` },
    ],
    ["Ready", !notReady && unmet.length === 0, notReady ?? gates],
    ["ContainersReady", !notReady, notReady ?? {}],
    ["PodScheduled", true, {}],
  ];
  const known = pod.status?.conditions ?? [];
  const own = wanted.map(([type, holds, why]): PodCondition => {
    const before = known.find((condition) => condition.type === type);
    const state = holds ? "True" : "False";
    const lastTransitionTime =
      before?.status === state && before.lastTransitionTime ? before.lastTransitionTime : formatTime(nowMs);
    const reason = type === "Initialized" && phase === "Succeeded" ? { reason: "PodCompleted" } : {};
    return { type, status: state, lastTransitionTime, ...(holds ? reason : why) };
  });
  return [...own, ...known.filter(({ type }) => !own.some((condition) => condition.type === type))];
}

function containersCondition(
  phase: PodStatus["phase"],
  unready: readonly string[],
): { readonly reason: string; readonly message?: string } | undefined {
  if (phase === "Succeeded") return { reason: "PodCompleted" };
  if (phase === "Failed") return { reason: "PodFailed" };
  if (unready.length === 0) return undefined;
  return { reason: "ContainersNotReady", message: `containers with unready status: [${unready.join(" ")}]` };
}

function unmetGates({ spec, status }: Pod): readonly string[] {
  return (spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = status?.conditions?.find(({ type }) => type === conditionType);
    if (condition?.status === "True") return [];
    const why = condition ? `status is not "True", but "${condition.status}"` : "does not exist.";
    return [`corresponding condition of pod readiness gate "${conditionType}" ${why}`];
  });
}

/** Evicts the pod because its node is low on memory. The pod fails for good. */
function evictedInTime(pod: Pod, step: PodStep, script: PodScript, nowMs: number): PodStep {
  const startedAt = step.status.containerStatuses?.[0]?.state?.running?.startedAt;
  if (startedAt === undefined) return step;
  const evictMs = parseTime(startedAt) + (script.runForMs ?? 0);
  if (evictMs > nowMs) return { ...step, nextMs: earlier(step.nextMs, evictMs) };
  return { status: evicted(pod, step.status, "The node was low on resource: memory. ", nowMs), nextMs: undefined };
}

export function evicted(pod: Pod, before: PodStatus, message: string, nowMs: number): PodStatus {
  const stopped = stoppedContainers(before.containerStatuses ?? [], 137, nowMs);
  const status: PodStatus = { ...before, phase: "Failed", reason: "Evicted", message, containerStatuses: stopped };
  const target: PodCondition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "TerminationByKubelet",
    message,
    lastTransitionTime: formatTime(nowMs),
  };
  return { ...status, conditions: [...conditionsOf(pod, status, nowMs), target] };
}

/** Container statuses after a node has stopped the containers. */
export function stoppedContainers(
  containers: readonly ContainerStatus[],
  exitCode: number,
  nowMs: number,
): readonly ContainerStatus[] {
  return containers.map((container) => {
    const startedAt = container.state?.running?.startedAt;
    if (container.state?.terminated) return container;
    const terminated = {
      exitCode,
      reason: exitCode === 0 ? "Completed" : "Error",
      finishedAt: formatTime(nowMs),
      ...(startedAt && { startedAt }),
    };
    return { ...container, ready: false, started: false, state: { terminated } };
  });
}
