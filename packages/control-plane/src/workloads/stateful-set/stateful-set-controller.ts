import { type Controller, controller, isAlreadyExists, type ReconcileContext, requeueAfter, scoped } from "setpoint";
import { ControllerRevision, StatefulSet } from "setpoint/kinds/apps/v1";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds/v1";
import { claimedObjects } from "../claimed-objects.js";
import {
  outlived,
  revisionData,
  revisionHash,
  STATEFUL_HASH_LABEL,
  syncRevision,
  templateOf,
} from "../controller-revision.js";
import { CLAIM_INDEXES, controllerReference } from "../owner-claims.js";
import { nextAvailableInMs } from "../pod/pod-state.js";
import { serverMessage } from "../server-message.js";
import { wholeStatus } from "../status-change.js";
import { unlessTerminating } from "../terminating-namespace.js";
import type { PodMakingEnvironment } from "../workloads.js";
import { ordinalOf, retentionOwners, revisionOfPod, statefulClaims, statefulPod } from "./stateful-pod.js";
import { planStatefulSet, type SetAction } from "./stateful-set-plan.js";

type Kinds = typeof Pod | typeof ControllerRevision | typeof PersistentVolumeClaim;
type Context = ReconcileContext<StatefulSet, Kinds, never>;

/** Maintains the pods of StatefulSets, each with its name and its claims. */
export function statefulSetController({ clock, podPace }: PodMakingEnvironment): Controller<StatefulSet> {
  const sync = async (set: StatefulSet, ctx: Context) => {
    const revisions = await claimedObjects(StatefulSet, set, ControllerRevision, ctx, { releases: false });
    // The set can adopt only pods with one of its names.
    const mayAdopt = (pod: Pod): boolean => ordinalOf(set, pod) !== undefined;
    const pods = await claimedObjects(StatefulSet, set, Pod, ctx, { mayAdopt });
    const { revision: update, collisionCount } = await syncRevision(
      {
        owner: set,
        reference: controllerReference(StatefulSet, set),
        template: set.spec.template,
        hashLabel: STATEFUL_HASH_LABEL,
        hash: (collisions = 0) => revisionHash(revisionData(set.spec.template), collisions),
      },
      revisions,
      set.status?.collisionCount,
      ctx,
    );
    const current = revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
    const names = {
      current: current.metadata.name,
      update: update.metadata.name,
      collisionCount: collisionCount ?? 0,
    };
    const plan = planStatefulSet(set, pods, names, clock.now());
    ctx.status(wholeStatus(set.status, plan.status, ["replicas", "availableReplicas", "collisionCount"]));
    await settleClaims(set, pods, ctx);
    let waitMs: number | undefined;
    for (const action of plan.actions) {
      if (action.type === "create") ({ waitMs } = podPace.take(set.metadata.namespace ?? "", 1));
      if (waitMs !== undefined) break;
      const of = action.type === "create" && action.revision === names.current ? current : update;
      await act(set, action, of, ctx);
    }
    const live = new Set([names.current, names.update, ...pods.map(revisionOfPod)]);
    const unused = outlived(revisions, ({ metadata }) => live.has(metadata.name), set.spec.revisionHistoryLimit ?? 10);
    for (const { metadata } of unused) await ctx.delete(ControllerRevision, metadata.name);
    // Reconcile again, because the status must include the actions of this run.
    if (plan.actions.length > 0) return requeueAfter(waitMs ?? 0);
    const nextMs = nextAvailableInMs(pods, set.spec.minReadySeconds ?? 0, clock.now());
    return nextMs === undefined ? undefined : requeueAfter(nextMs);
  };
  return controller(StatefulSet, {
    name: "statefulsets",
    uses: [
      scoped(Pod, { namespaces: "all", indexes: CLAIM_INDEXES }),
      scoped(ControllerRevision, { namespaces: "all", indexes: CLAIM_INDEXES }),
      scoped(PersistentVolumeClaim, { namespaces: "all" }),
    ],
    fieldManager: "kube-controller-manager",
    concurrency: 8,
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    when: { changed: ["spec", "status", "metadata.deletionTimestamp"] },
    reconcile: (set, ctx) => unlessTerminating(() => sync(set, ctx)),
    deleting: (set, ctx) => sync(set, ctx),
  });
}

async function act(set: StatefulSet, action: SetAction, revision: ControllerRevision, ctx: Context): Promise<void> {
  const { name: setName } = set.metadata;
  if (action.type === "delete") {
    const { name, uid } = action.pod.metadata;
    await ctx.delete(Pod, name, { preconditions: { uid } });
    ctx.event("Normal", "SuccessfulDelete", `Delete Pod ${name} in StatefulSet ${setName} successful`);
    return;
  }
  const pod = statefulPod(set, templateOf(revision), action.revision, action.ordinal);
  const { name = "" } = pod.metadata;
  await createClaims(set, name, action.ordinal, ctx);
  try {
    await ctx.create(Pod, pod);
  } catch (error) {
    if (isAlreadyExists(error)) throw error;
    ctx.event(
      "Warning",
      "FailedCreate",
      `Create Pod ${name} in StatefulSet ${setName} failed error: ${serverMessage(error)}`,
    );
    throw error;
  }
  ctx.event("Normal", "SuccessfulCreate", `Create Pod ${name} in StatefulSet ${setName} successful`);
}

async function createClaims(set: StatefulSet, podName: string, ordinal: number, ctx: Context): Promise<void> {
  for (const claim of statefulClaims(set, ordinal)) {
    const { name } = claim.metadata;
    if (await ctx.find(PersistentVolumeClaim, name)) continue;
    await ctx.create(PersistentVolumeClaim, claim);
    const message = `Create Claim ${name} Pod ${podName} in StatefulSet ${set.metadata.name} success`;
    ctx.event("Normal", "SuccessfulCreate", message);
  }
}

/** Sets the owners of claims by the retention policy before a pod is deleted, so that its claims go with it. */
async function settleClaims(set: StatefulSet, pods: readonly Pod[], ctx: Context): Promise<void> {
  if ((set.spec.volumeClaimTemplates ?? []).length === 0 || set.metadata.deletionTimestamp) return;
  for (const pod of pods) {
    const ordinal = ordinalOf(set, pod);
    if (ordinal === undefined) continue;
    for (const { metadata } of statefulClaims(set, ordinal)) {
      const claim = await ctx.find(PersistentVolumeClaim, metadata.name);
      const owners = claim && retentionOwners(set, pod, ordinal, claim);
      if (!owners) continue;
      const body = { metadata: { ownerReferences: owners.map((owner) => ({ ...owner })) } };
      await ctx.patch(PersistentVolumeClaim, metadata.name, { type: "merge", body });
    }
  }
}
