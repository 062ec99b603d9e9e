import { isApiError, type Kind, type ReconcileContext } from "setpoint";
import type { Clock } from "setpoint/clock";
import type { ReplicaSet, ReplicaSetStatus } from "setpoint/kinds/apps/v1";
import { Pod } from "setpoint/kinds/v1";
import { claimedObjects } from "../claimed-objects.js";
import { controllerReference } from "../owner-claims.js";
import { isPodActive, isPodTerminating, nextAvailableInMs } from "../pod/pod-state.js";
import type { PodPace } from "../pod-pace.js";
import { podFromTemplate } from "../pod-template.js";
import { serverMessage } from "../server-message.js";
import { deletionOrder } from "./deletion-rank.js";
import { replicaSetStatus } from "./replica-set-status.js";

/** Pods made or deleted in one run; the rest follows in the next. */
const MAX_BURST = 500;

type PodContext = Pick<
  ReconcileContext<ReplicaSet, typeof Pod, never>,
  "byIndex" | "create" | "delete" | "event" | "patch"
>;

export interface ReplicaSync {
  /** ReplicaSet or ReplicationController: whose pods they are. */
  readonly ownerKind: Kind;
  /** The owner; a ReplicationController in the form of a ReplicaSet. */
  readonly set: ReplicaSet;
  /** The pods over which those to be deleted should stay spread. */
  readonly relatedPods: () => Promise<readonly Pod[]>;
  readonly clock: Clock;
  readonly podPace: PodPace;
}

export interface ReplicaOutcome {
  readonly status: ReplicaSetStatus;
  /** What kept it from making or deleting pods. */
  readonly failure: Error | undefined;
  /** When the next pod counts as available, or may be made. */
  readonly nextMs: number | undefined;
}

/** Brings the number of pods to the desired one, and returns the status. */
export async function syncReplicas(sync: ReplicaSync, ctx: PodContext): Promise<ReplicaOutcome> {
  const { ownerKind, set, clock } = sync;
  const pods = await claimedObjects(ownerKind, set, Pod, ctx, { mayAdopt: isPodActive });
  const active = pods.filter(isPodActive);
  const isLeaving = set.metadata.deletionTimestamp !== undefined;
  const { failure, waitMs } = isLeaving ? DONE : await manage(sync, active, ctx);
  const nowMs = clock.now();
  return {
    status: replicaSetStatus(set, active, pods.filter(isPodTerminating), failure, nowMs),
    failure,
    nextMs: waitMs ?? nextAvailableInMs(active, set.spec.minReadySeconds ?? 0, nowMs),
  };
}

/** What kept a step from its end: an error, or the pace. */
interface StepEnd {
  readonly failure: Error | undefined;
  readonly waitMs?: number;
}

const DONE: StepEnd = { failure: undefined };

/** Makes or deletes the pods that are missing or too many. */
async function manage(sync: ReplicaSync, active: readonly Pod[], ctx: PodContext): Promise<StepEnd> {
  const { set, relatedPods, clock } = sync;
  const surplus = active.length - (set.spec.replicas ?? 1);
  if (surplus < 0) return create(sync, Math.min(-surplus, MAX_BURST), ctx);
  if (surplus === 0) return DONE;
  const ordered = surplus < active.length ? deletionOrder(active, await relatedPods(), clock.now()) : active;
  for (const { metadata } of ordered.slice(0, Math.min(surplus, MAX_BURST))) {
    try {
      await ctx.delete(Pod, metadata.name, { preconditions: { uid: metadata.uid } });
      ctx.event("Normal", "SuccessfulDelete", `Deleted pod: ${metadata.name}`);
    } catch (error) {
      if (!isApiError(error)) throw error;
      ctx.event("Warning", "FailedDelete", `Error deleting: ${serverMessage(error)}`);
      return { failure: error };
    }
  }
  return DONE;
}

/** In batches that double: where the first cannot be made, the others are not tried. */
async function create({ ownerKind, set, podPace }: ReplicaSync, count: number, ctx: PodContext): Promise<StepEnd> {
  const pod = podFromTemplate(set.spec.template, controllerReference(ownerKind, set), {
    generateName: `${set.metadata.name}-`,
  });
  for (let made = 0, batch = 1; made < count; made += batch, batch *= 2) {
    const { granted, waitMs } = podPace.take(set.metadata.namespace ?? "", Math.min(batch, count - made));
    const results = await Promise.allSettled(Array.from({ length: granted }, () => ctx.create(Pod, pod)));
    for (const result of results) {
      if (result.status === "fulfilled") {
        ctx.event("Normal", "SuccessfulCreate", `Created pod: ${result.value.metadata.name}`);
        continue;
      }
      const error: unknown = result.reason;
      if (!isApiError(error)) throw error;
      if (error.causes.some(({ reason }) => reason === "NamespaceTerminating")) return DONE;
      ctx.event("Warning", "FailedCreate", `Error creating: ${serverMessage(error)}`);
      return { failure: error };
    }
    if (waitMs !== undefined) return { failure: undefined, waitMs };
  }
  return DONE;
}
