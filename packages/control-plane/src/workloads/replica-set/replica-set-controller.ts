import { type Controller, controller, isApiError, type ReconcileContext, scoped } from "setpoint";
import { ReplicaSet } from "setpoint/kinds/apps/v1";
import { Pod } from "setpoint/kinds/v1";
import { claimedObjects } from "../claimed-objects.js";
import { BY_CONTROLLER, CLAIM_INDEXES, controllerOf, controllerReference } from "../owner-claims.js";
import { isPodActive, isPodTerminating, nextAvailableInMs } from "../pod/pod-state.js";
import { podFromTemplate } from "../pod-template.js";
import { serverMessage } from "../server-message.js";
import { wholeStatus } from "../status-change.js";
import type { WorkloadEnvironment } from "../workloads.js";
import { deletionOrder } from "./deletion-rank.js";
import { replicaSetStatus } from "./replica-set-status.js";

/** Pods made or deleted in one run; the rest follows in the next. */
const MAX_BURST = 500;

type Context = ReconcileContext<ReplicaSet, typeof Pod | typeof ReplicaSet, never>;

/** Keeps as many pods as a ReplicaSet asks for. */
export function replicaSetController({ clock }: WorkloadEnvironment): Controller<ReplicaSet> {
  const sync = async (set: ReplicaSet, ctx: Context) => {
    const pods = await claimedObjects(ReplicaSet, set, Pod, ctx, { mayAdopt: isPodActive });
    const active = pods.filter(isPodActive);
    const isLeaving = set.metadata.deletionTimestamp !== undefined;
    const failure = isLeaving ? undefined : await manage(set, active, ctx, clock.now());
    const nowMs = clock.now();
    const status = replicaSetStatus(set, active, pods.filter(isPodTerminating), failure, nowMs);
    ctx.status(wholeStatus(set.status, status, ["replicas", "terminatingReplicas"]));
    if (failure) throw failure;
    const nextMs = nextAvailableInMs(active, set.spec.minReadySeconds ?? 0, nowMs);
    return nextMs === undefined ? undefined : ctx.requeueAfter(nextMs);
  };
  return controller(ReplicaSet, {
    name: "replicasets",
    uses: [
      scoped(Pod, { namespaces: "all", indexes: CLAIM_INDEXES }),
      scoped(ReplicaSet, { namespaces: "all", indexes: CLAIM_INDEXES }),
    ],
    fieldManager: "kube-controller-manager",
    concurrency: 8,
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    when: { changed: ["spec", "status", "metadata.deletionTimestamp"] },
    reconcile: (set, ctx) => sync(set, ctx),
    deleting: (set, ctx) => sync(set, ctx),
  });
}

/** Makes or deletes the pods that are missing or too many. Gives what kept it from it. */
async function manage(
  set: ReplicaSet,
  active: readonly Pod[],
  ctx: Context,
  nowMs: number,
): Promise<Error | undefined> {
  const surplus = active.length - (set.spec.replicas ?? 1);
  if (surplus < 0) return create(set, Math.min(-surplus, MAX_BURST), ctx);
  if (surplus === 0) return undefined;
  const ordered = surplus < active.length ? deletionOrder(active, await relatedPods(set, ctx), nowMs) : active;
  for (const { metadata } of ordered.slice(0, Math.min(surplus, MAX_BURST))) {
    try {
      await ctx.delete(Pod, metadata.name, { preconditions: { uid: metadata.uid } });
      ctx.event("Normal", "SuccessfulDelete", `Deleted pod: ${metadata.name}`);
    } catch (error) {
      if (!isApiError(error)) throw error;
      ctx.event("Warning", "FailedDelete", `Error deleting: ${serverMessage(error)}`);
      return error;
    }
  }
  return undefined;
}

/** In batches that double: where the first cannot be made, the others are not tried. */
async function create(set: ReplicaSet, count: number, ctx: Context): Promise<Error | undefined> {
  const pod = podFromTemplate(set.spec.template, controllerReference(ReplicaSet, set), {
    generateName: `${set.metadata.name}-`,
  });
  for (let made = 0, batch = 1; made < count; made += batch, batch *= 2) {
    const wanted = Math.min(batch, count - made);
    const results = await Promise.allSettled(Array.from({ length: wanted }, () => ctx.create(Pod, pod)));
    for (const result of results) {
      if (result.status === "fulfilled") {
        ctx.event("Normal", "SuccessfulCreate", `Created pod: ${result.value.metadata.name}`);
        continue;
      }
      const error: unknown = result.reason;
      if (!isApiError(error)) throw error;
      if (error.causes.some(({ reason }) => reason === "NamespaceTerminating")) return undefined;
      ctx.event("Warning", "FailedCreate", `Error creating: ${serverMessage(error)}`);
      return error;
    }
  }
  return undefined;
}

/** The pods of all sets of the same owner: a rollout spreads its pods over them. A set without an owner has no such care. */
async function relatedPods(set: ReplicaSet, ctx: Context): Promise<readonly Pod[]> {
  const owner = controllerOf(set.metadata);
  if (!owner) return [];
  const sets = await ctx.byIndex(ReplicaSet, BY_CONTROLLER, owner.uid, { tracked: false });
  const pods: Pod[] = [];
  for (const { metadata } of sets)
    pods.push(...(await ctx.byIndex(Pod, BY_CONTROLLER, metadata.uid, { tracked: false })));
  return pods.filter(isPodActive);
}
