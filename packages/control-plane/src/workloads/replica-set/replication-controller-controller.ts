import { type Controller, controller, type ReconcileContext, requeueAfter, scoped } from "setpoint";
import type { ReplicaSet } from "setpoint/kinds/apps/v1";
import { Pod, ReplicationController } from "setpoint/kinds/v1";
import { CLAIM_INDEXES } from "../owner-claims.js";
import { wholeStatus } from "../status-change.js";
import type { PodMakingEnvironment } from "../workloads.js";
import { syncReplicas } from "./replica-sync.js";

type Context = ReconcileContext<ReplicationController, typeof Pod, never>;

/** Keeps the number of pods that a ReplicationController asks for: a ReplicaSet whose selector is a map of labels. */
export function replicationControllerController({
  clock,
  podPace,
}: PodMakingEnvironment): Controller<ReplicationController> {
  const sync = async (owner: ReplicationController, ctx: Context) => {
    const set = asReplicaSet(owner);
    const relatedPods = async (): Promise<readonly Pod[]> => [];
    const outcome = await syncReplicas({ ownerKind: ReplicationController, set, relatedPods, clock, podPace }, ctx);
    const { terminatingReplicas: _, ...status } = outcome.status;
    ctx.status(wholeStatus(owner.status, status, ["replicas"]));
    if (outcome.failure) throw outcome.failure;
    return outcome.nextMs === undefined ? undefined : requeueAfter(outcome.nextMs);
  };
  return controller(ReplicationController, {
    name: "replicationcontrollers",
    uses: [scoped(Pod, { namespaces: "all", indexes: CLAIM_INDEXES })],
    fieldManager: "kube-controller-manager",
    concurrency: 8,
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    when: { changed: ["spec", "status", "metadata.deletionTimestamp"] },
    reconcile: (owner, ctx) => sync(owner, ctx),
    deleting: (owner, ctx) => sync(owner, ctx),
  });
}

function asReplicaSet({ spec, metadata, status }: ReplicationController): ReplicaSet {
  const { selector = {}, ...rest } = spec ?? {};
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata,
    spec: { ...rest, selector: { matchLabels: selector } },
    ...(status && { status }),
  };
}
