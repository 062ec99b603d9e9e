import { type Controller, controller, type ReconcileContext, requeueAfter, scoped } from "setpoint";
import { ReplicaSet } from "setpoint/kinds/apps/v1";
import { Pod } from "setpoint/kinds/v1";
import { BY_CONTROLLER, CLAIM_INDEXES, controllerOf } from "../owner-claims.js";
import { isPodActive } from "../pod/pod-state.js";
import { wholeStatus } from "../status-change.js";
import type { PodMakingEnvironment } from "../workloads.js";
import { syncReplicas } from "./replica-sync.js";

type Context = ReconcileContext<ReplicaSet, typeof Pod | typeof ReplicaSet, never>;

/** Keeps the number of pods that a ReplicaSet asks for. */
export function replicaSetController({ clock, podPace }: PodMakingEnvironment): Controller<ReplicaSet> {
  const sync = async (set: ReplicaSet, ctx: Context) => {
    const related = () => relatedPods(set, ctx);
    const outcome = await syncReplicas({ ownerKind: ReplicaSet, set, relatedPods: related, clock, podPace }, ctx);
    ctx.status(wholeStatus(set.status, outcome.status, ["replicas", "terminatingReplicas"]));
    if (outcome.failure) throw outcome.failure;
    return outcome.nextMs === undefined ? undefined : requeueAfter(outcome.nextMs);
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

/**
 * The pods of all ReplicaSets of the same owner, because a rollout spreads its pods over them. Empty without an
 * owner.
 */
async function relatedPods(set: ReplicaSet, ctx: Context): Promise<readonly Pod[]> {
  const owner = controllerOf(set.metadata);
  if (!owner) return [];
  const sets = await ctx.byIndex(ReplicaSet, { [BY_CONTROLLER]: owner.uid }, { tracked: false });
  const pods: Pod[] = [];
  for (const { metadata } of sets)
    pods.push(...(await ctx.byIndex(Pod, { [BY_CONTROLLER]: metadata.uid }, { tracked: false })));
  return pods.filter(isPodActive);
}
