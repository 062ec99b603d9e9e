import { type Condition, findCondition } from "setpoint";
import type { UntypedObject } from "setpoint/kinds";

/** How far an object is from its desired state. */
export interface Readiness {
  readonly state: "ready" | "progressing" | "failed";
  readonly message: string;
}

const READY: Readiness = { state: "ready", message: "ready" };

/**
 * Whether an object is what it states, by the rules that tools share: a controller that has not seen the newest
 * generation has yet to work; some built-in kinds count; for all others the conditions Ready, Available, Established or
 * Complete decide, and an object without any is ready.
 */
export function readinessOf(object: UntypedObject): Readiness {
  const { metadata } = object;
  const status = (object.status ?? {}) as Status;
  if (metadata.deletionTimestamp) return progressing("is being deleted");
  if (status.observedGeneration !== undefined && status.observedGeneration < (metadata.generation ?? 0)) {
    return progressing("its controller has not seen the change yet");
  }
  return BY_KIND[`${object.apiVersion.split("/")[0]} ${object.kind}`]?.(object, status) ?? byConditions(status);
}

interface Status {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly phase?: string;
  readonly message?: string;
  readonly [field: string]: unknown;
}

type Rule = (object: UntypedObject, status: Status) => Readiness | undefined;

const BY_KIND: Readonly<Record<string, Rule>> = {
  "apps Deployment": (object, status) => {
    const progress = conditionOf(status, "Progressing");
    if (progress?.reason === "ProgressDeadlineExceeded") return failed(describe(progress));
    const wanted = replicasOf(object);
    return counted(status, wanted, ["updatedReplicas", "availableReplicas"], ["replicas"]);
  },
  "apps StatefulSet": (object, status) => counted(status, replicasOf(object), ["updatedReplicas", "readyReplicas"]),
  "apps ReplicaSet": (object, status) => counted(status, replicasOf(object), ["availableReplicas"], ["replicas"]),
  "apps DaemonSet": (_, status) =>
    counted(status, Number(status.desiredNumberScheduled ?? Number.NaN), ["updatedNumberScheduled", "numberAvailable"]),
  "batch Job": (_, status) => {
    const failure = conditionOf(status, "Failed");
    if (failure?.status === "True") return failed(describe(failure));
    return conditionOf(status, "Complete")?.status === "True" ? READY : progressing("has not completed");
  },
  "v1 Pod": (_, status) => {
    if (status.phase === "Failed") return failed(status.message ?? "failed");
    if (status.phase === "Succeeded") return READY;
    const ready = conditionOf(status, "Ready");
    return ready?.status === "True"
      ? READY
      : progressing(ready ? describe(ready) : (status.phase ?? "is not scheduled"));
  },
  "v1 PersistentVolumeClaim": (_, { phase }) => (phase === "Bound" ? READY : progressing(phase ?? "is not bound")),
  "v1 Namespace": (_, { phase }) => (phase === "Active" ? READY : progressing(phase ?? "has no phase yet")),
  "v1 Service": ({ spec }, { loadBalancer }) => {
    if ((spec as { type?: string } | undefined)?.type !== "LoadBalancer") return READY;
    const { ingress = [] } = (loadBalancer ?? {}) as { ingress?: readonly unknown[] };
    return ingress.length > 0 ? READY : progressing("has no load balancer yet");
  },
  "apiextensions.k8s.io CustomResourceDefinition": (_, status) => {
    const names = conditionOf(status, "NamesAccepted");
    if (names?.status === "False") return failed(describe(names));
    return conditionOf(status, "Established")?.status === "True" ? READY : progressing("is not established");
  },
};

function byConditions(status: Status): Readiness {
  const stalled = conditionOf(status, "Stalled");
  if (stalled?.status === "True") return failed(describe(stalled));
  const reconciling = conditionOf(status, "Reconciling");
  if (reconciling?.status === "True") return progressing(describe(reconciling));
  for (const type of ["Ready", "Available", "Established", "Complete"]) {
    const condition = conditionOf(status, type);
    if (condition) return condition.status === "True" ? READY : progressing(describe(condition));
  }
  return READY;
}

/** Counters that must have reached the wanted number, and those that must not be above it: old ones are still there. */
function counted(
  status: Status,
  wanted: number,
  reaching: readonly string[],
  notAbove: readonly string[] = [],
): Readiness {
  if (status.observedGeneration === undefined || Number.isNaN(wanted)) {
    return progressing("its controller has not seen it yet");
  }
  const number = (field: string): number => Number(status[field] ?? 0);
  for (const field of reaching) {
    if (number(field) < wanted) return progressing(`${number(field)} of ${wanted} ${words(field)}`);
  }
  for (const field of notAbove) {
    if (number(field) > wanted) return progressing(`${number(field) - wanted} old ${words(field)} to go`);
  }
  return READY;
}

function replicasOf({ spec }: UntypedObject): number {
  return (spec as { replicas?: number } | undefined)?.replicas ?? 1;
}

function conditionOf({ conditions = [] }: Status, type: string): Condition | undefined {
  return findCondition(conditions, type);
}

function describe({ type, reason, message }: Condition): string {
  return [reason || type, message].filter((text) => text).join(": ");
}

function words(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function progressing(message: string): Readiness {
  return { state: "progressing", message };
}

function failed(message: string): Readiness {
  return { state: "failed", message };
}
