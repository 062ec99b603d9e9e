import {
  type Controller,
  controller,
  isAlreadyExists,
  isApiError,
  type JsonObject,
  type ReconcileContext,
  requeueAfter,
  scoped,
} from "setpoint";
import { Deployment, ReplicaSet } from "setpoint/kinds/apps/v1";
import { Pod } from "setpoint/kinds/v1";
import { claimedObjects } from "../claimed-objects.js";
import { BY_CONTROLLER, CLAIM_INDEXES } from "../owner-claims.js";
import { isPodOver } from "../pod/pod-state.js";
import { serverMessage } from "../server-message.js";
import { wholeStatus } from "../status-change.js";
import { unlessTerminating } from "../terminating-namespace.js";
import type { WorkloadEnvironment } from "../workloads.js";
import { type DeploymentPlan, newestOf, planDeployment, type SetChange } from "./deployment-plan.js";
import { deadlineCheckInMs, hasDeadline, PROGRESSING, plainStatus, withCondition } from "./deployment-status.js";
import { isRollingUpdate, replicasOf } from "./replica-counts.js";
import { REVISION } from "./revision.js";

type Context = ReconcileContext<Deployment, typeof Deployment | typeof ReplicaSet | typeof Pod, never>;

/** Rolls Deployments out over ReplicaSets. */
export function deploymentController({ clock }: WorkloadEnvironment): Controller<Deployment> {
  return controller(Deployment, {
    name: "deployments",
    uses: [
      Deployment,
      scoped(ReplicaSet, { namespaces: "all", indexes: CLAIM_INDEXES }),
      scoped(Pod, { namespaces: "all", indexes: CLAIM_INDEXES }),
    ],
    fieldManager: "kube-controller-manager",
    concurrency: 8,
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    when: { changed: ["spec", "status", "metadata.annotations", "metadata.deletionTimestamp"] },
    async reconcile(deployment, ctx) {
      const nowMs = clock.now();
      const sets = await claimedObjects(Deployment, deployment, ReplicaSet, ctx);
      const plan = planDeployment(deployment, sets, await hasOldPods(deployment, sets, ctx), nowMs);
      const { created } = plan;
      if (created && !(await unlessTerminating(() => createSet(deployment, created, ctx, nowMs)))) return;
      await open(deployment, plan, ctx);
      for (const change of plan.changes) await changeSet(change, ctx);
      for (const { metadata } of plan.removed)
        await ctx.delete(ReplicaSet, metadata.name, { preconditions: { uid: metadata.uid } });
      ctx.status(wholeStatus(deployment.status, plan.status, ["terminatingReplicas", "collisionCount"]));
      const checkInMs = deadlineCheckInMs(deployment, plan.status, nowMs);
      return checkInMs === undefined ? undefined : requeueAfter(checkInMs);
    },
    async deleting(deployment, ctx) {
      const sets = await claimedObjects(Deployment, deployment, ReplicaSet, ctx);
      const status = plainStatus(deployment, sets, newestOf(deployment, sets), clock.now());
      ctx.status(wholeStatus(deployment.status, status, ["terminatingReplicas", "collisionCount"]));
    },
  });
}

/** Whether pods of old ReplicaSets still live. Only the Recreate strategy needs this. */
async function hasOldPods(deployment: Deployment, sets: readonly ReplicaSet[], ctx: Context): Promise<boolean> {
  if (isRollingUpdate(deployment)) return false;
  const newest = newestOf(deployment, sets);
  for (const set of sets) {
    if (set === newest) continue;
    const pods = await ctx.byIndex(Pod, { [BY_CONTROLLER]: set.metadata.uid });
    if (!pods.every(isPodOver)) return true;
  }
  return false;
}

/** False if the name is taken: the next run tries another name. */
async function createSet(deployment: Deployment, set: ReplicaSet, ctx: Context, nowMs: number): Promise<boolean> {
  const { name } = set.metadata;
  try {
    await ctx.create(ReplicaSet, set);
  } catch (error) {
    if (isAlreadyExists(error)) {
      const existing = await ctx.find(ReplicaSet, name, { cached: false });
      const isOurs = existing?.metadata.ownerReferences?.some(({ uid }) => uid === deployment.metadata.uid);
      if (existing && isOurs && newestOf(deployment, [existing])) return true;
      await patchStatus(deployment, { status: { collisionCount: (deployment.status?.collisionCount ?? 0) + 1 } }, ctx);
      throw error;
    }
    if (isApiError(error)) await tellFailure(deployment, name, error, ctx, nowMs);
    throw error;
  }
  const replicas = replicasOf(set);
  if (replicas > 0) ctx.event("Normal", "ScalingReplicaSet", `Scaled up replica set ${name} from 0 to ${replicas}`);
  return true;
}

async function tellFailure(
  deployment: Deployment,
  name: string,
  error: Error,
  ctx: Context,
  nowMs: number,
): Promise<void> {
  const message = `Failed to create new replica set "${name}": ${serverMessage(error)}`;
  ctx.event("Warning", "ReplicaSetCreateError", message);
  if (!hasDeadline(deployment)) return;
  const condition = { type: PROGRESSING, status: "False", reason: "ReplicaSetCreateError", message };
  ctx.status({ conditions: withCondition(deployment.status?.conditions ?? [], condition, nowMs) });
}

/** Writes the revision and the first condition of a step before the step itself. */
async function open(deployment: Deployment, { revision, opening }: DeploymentPlan, ctx: Context): Promise<void> {
  if (revision === undefined && opening === undefined) return;
  const body = {
    ...(revision !== undefined && { metadata: { annotations: { [REVISION]: revision } } }),
    ...(opening !== undefined && { status: { conditions: opening.map((condition) => ({ ...condition })) } }),
  };
  await patchStatus(deployment, body, ctx);
}

async function patchStatus({ metadata }: Deployment, body: JsonObject, ctx: Context): Promise<void> {
  await ctx.patch(Deployment, metadata.name, { type: "merge", body }, { subresource: "status" });
}

async function changeSet({ set, replicas, annotations, minReadySeconds }: SetChange, ctx: Context): Promise<void> {
  const { name, uid } = set.metadata;
  const body = {
    metadata: { uid, ...(annotations && { annotations }) },
    spec: { ...(replicas !== undefined && { replicas }), ...(minReadySeconds !== undefined && { minReadySeconds }) },
  };
  await ctx.patch(ReplicaSet, name, { type: "merge", body });
  const before = replicasOf(set);
  if (replicas === undefined || replicas === before) return;
  const direction = replicas > before ? "up" : "down";
  ctx.event("Normal", "ScalingReplicaSet", `Scaled ${direction} replica set ${name} from ${before} to ${replicas}`);
}
