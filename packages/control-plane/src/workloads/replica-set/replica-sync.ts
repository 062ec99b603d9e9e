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

/** Maximum number of pods created or deleted in one run. The next run does the rest. */
const MAX_BURST = 500;

type PodContext = Pick<
  ReconcileContext<ReplicaSet, typeof Pod, never>,
  "byIndex" | "create" | "delete" | "event" | "patch"
>;

export interface ReplicaSync {
  /** The kind of the owner: ReplicaSet or ReplicationController. */
  readonly ownerKind: Kind;
  /** The owner; a ReplicationController is converted to a ReplicaSet. */
  readonly set: ReplicaSet;
  /** The pods that should stay spread over nodes after a deletion. */
  readonly relatedPods: () => Promise<readonly Pod[]>;
  readonly clock: Clock;
  readonly podPace: PodPace;
}

export interface ReplicaOutcome {
  readonly status: ReplicaSetStatus;
  /** The error that prevented creating or deleting pods. */
  readonly failure: Error | undefined;
  /** When the next pod becomes available or may be created. */
  readonly nextMs: number | undefined;
}

/** Creates or deletes pods to reach the desired number, and returns the status. */
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

/** Why a step stopped early: an error, or the pod rate limit. */
interface StepEnd {
  readonly failure: Error | undefined;
  readonly waitMs?: number;
}

const DONE: StepEnd = { failure: undefined };

/** Creates missing pods or deletes surplus ones. */
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

/** Creates pods in batches that double in size. If a batch fails, the next ones are not tried. */
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
