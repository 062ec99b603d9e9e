import { formatTime } from "setpoint/kinds";
import type { Node, NodeCondition, NodeStatus, Taint } from "setpoint/kinds/v1";
import { isLost, NOT_READY_TAINT, readinessOf, UNREACHABLE_TAINT, UNSCHEDULABLE_TAINT } from "./node-state.js";

const CAPACITY = { cpu: "32", memory: "256Gi", "ephemeral-storage": "1Ti", pods: "1000" } as const;

/** Conditions of a healthy node besides `Ready`: type, reason and message. */
const PRESSURES = [
  ["MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
  ["DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
  ["PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
] as const;

const SILENT = { reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." } as const;
const READY = { reason: "KubeletReady", message: "kubelet is posting ready status" } as const;

/** The conditions of a healthy node. */
export const HEALTHY_CONDITIONS: readonly Omit<NodeCondition, "lastTransitionTime" | "lastHeartbeatTime">[] = [
  { type: "Ready", status: "True", ...READY },
  ...PRESSURES.map(([type, reason, message]) => ({ type, status: "False", reason, message })),
];

/** The reasons that the simulation sets. A condition with another reason belongs to another client and stays. */
const OWN_REASONS = [SILENT.reason, READY.reason, ...PRESSURES.map(([, reason]) => reason)] as const;

/** The status of a simulated node: capacity and addresses, unless its author set them, and conditions. */
export function nodeStatus(node: Node, address: string, nowMs: number): NodeStatus {
  const { status = {}, metadata } = node;
  const capacity = status.capacity ?? CAPACITY;
  return {
    ...status,
    capacity,
    allocatable: status.allocatable ?? capacity,
    addresses: status.addresses ?? [
      { type: "InternalIP", address },
      { type: "Hostname", address: metadata.name },
    ],
    nodeInfo: status.nodeInfo?.kubeletVersion ? status.nodeInfo : nodeInfo(metadata.name, metadata.uid),
    conditions: conditionsOf(node, nowMs),
  };
}

function conditionsOf(node: Node, nowMs: number): readonly NodeCondition[] {
  const known = node.status?.conditions ?? [];
  const lost = isLost(node);
  const condition = (type: string, state: string, why: { readonly reason: string; readonly message: string }) => {
    const before = known.find((each) => each.type === type);
    if (before?.reason && !lost && !OWN_REASONS.some((reason) => reason === before.reason)) return before;
    const isSame = before?.status === state;
    const now = formatTime(nowMs);
    const lastTransitionTime = isSame && before.lastTransitionTime ? before.lastTransitionTime : now;
    const lastHeartbeatTime = (isSame || lost) && before?.lastHeartbeatTime ? before.lastHeartbeatTime : now;
    return { type, status: state, ...why, lastTransitionTime, lastHeartbeatTime };
  };
  const own = [
    ...PRESSURES.map(([type, reason, message]) =>
      condition(type, lost ? "Unknown" : "False", lost ? SILENT : { reason, message }),
    ),
    condition("Ready", lost ? "Unknown" : "True", lost ? SILENT : READY),
  ];
  return [...own, ...known.filter(({ type }) => !own.some((each) => each.type === type))];
}

function nodeInfo(name: string, uid: string): NonNullable<NodeStatus["nodeInfo"]> {
  return {
    architecture: "amd64",
    bootID: uid,
    containerRuntimeVersion: "simulated://1",
    kernelVersion: "simulated",
    kubeProxyVersion: "",
    kubeletVersion: "v1.36.3",
    machineID: name,
    operatingSystem: "linux",
    osImage: "simulated",
    systemUUID: uid,
  };
}

/** The taints for the node's state (unreachable, not ready, unschedulable), plus taints that others set. */
export function nodeTaints(node: Node, nowMs: number): readonly Taint[] {
  const { taints = [], unschedulable } = node.spec ?? {};
  const own = [UNREACHABLE_TAINT, UNSCHEDULABLE_TAINT, NOT_READY_TAINT];
  const kept = (taint: Taint): Taint =>
    taints.find(({ key, effect }) => key === taint.key && effect === taint.effect) ?? taint;
  const others = taints.filter(({ key }) => !own.includes(key));
  const wanted: Taint[] = [];
  if (unschedulable) wanted.push({ key: UNSCHEDULABLE_TAINT, effect: "NoSchedule", timeAdded: formatTime(nowMs) });
  const readiness = isLost(node) ? "Unknown" : readinessOf(node);
  if (readiness === "Unknown" || readiness === "False") {
    const key = readiness === "Unknown" ? UNREACHABLE_TAINT : NOT_READY_TAINT;
    for (const effect of ["NoSchedule", "NoExecute"] as const)
      wanted.push({ key, effect, timeAdded: formatTime(nowMs) });
  }
  return [...others, ...wanted.map(kept)];
}
