import { type Controller, controller, type ReconcileContext, requeueAfter, scoped } from "setpoint";
import { ControllerRevision, DaemonSet } from "setpoint/kinds/apps/v1";
import { Node, Pod } from "setpoint/kinds/v1";
import { claimedObjects } from "../claimed-objects.js";
import { outlived, REVISION_HASH, syncRevision } from "../controller-revision.js";
import { CLAIM_INDEXES, controllerReference } from "../owner-claims.js";
import { nextAvailableInMs } from "../pod/pod-state.js";
import { wholeStatus } from "../status-change.js";
import { templateHash } from "../template-hash.js";
import { unlessTerminating } from "../terminating-namespace.js";
import type { WorkloadEnvironment } from "../workloads.js";
import { daemonPod } from "./daemon-pod.js";
import { planDaemonSet } from "./daemon-set-plan.js";

type Context = ReconcileContext<DaemonSet, typeof Pod | typeof ControllerRevision | typeof Node, never>;

const SHOWN = [
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "collisionCount",
] as const;

/** Keeps one pod of each DaemonSet on every eligible node. */
export function daemonSetController({ clock }: WorkloadEnvironment): Controller<DaemonSet> {
  const sync = async (set: DaemonSet, ctx: Context) => {
    const revisions = await claimedObjects(DaemonSet, set, ControllerRevision, ctx, { releases: false });
    const { revision, collisionCount } = await syncRevision(
      {
        owner: set,
        reference: controllerReference(DaemonSet, set),
        template: set.spec.template,
        hashLabel: REVISION_HASH,
        hash: (collisions) => templateHash(set.spec.template, collisions),
      },
      revisions,
      set.status?.collisionCount,
      ctx,
    );
    const hash = revision.metadata.labels?.[REVISION_HASH] ?? "";
    const pods = await claimedObjects(DaemonSet, set, Pod, ctx);
    const plan = planDaemonSet(set, pods, await ctx.list(Node), hash, clock.now());
    const status = collisionCount === undefined ? plan.status : { ...plan.status, collisionCount };
    ctx.status(wholeStatus(set.status, status, SHOWN));
    for (const { metadata } of plan.deleted) {
      await ctx.delete(Pod, metadata.name, { preconditions: { uid: metadata.uid } });
      ctx.event("Normal", "SuccessfulDelete", `Deleted pod: ${metadata.name}`);
    }
    for (const node of plan.created) {
      const { metadata } = await ctx.create(Pod, daemonPod(set, node, hash));
      ctx.event("Normal", "SuccessfulCreate", `Created pod: ${metadata.name}`);
    }
    const live = new Set([hash, ...pods.map(({ metadata }) => metadata.labels?.[REVISION_HASH])]);
    const isLive = ({ metadata }: ControllerRevision): boolean => live.has(metadata.labels?.[REVISION_HASH]);
    for (const { metadata } of outlived(revisions, isLive, set.spec.revisionHistoryLimit ?? 10)) {
      await ctx.delete(ControllerRevision, metadata.name);
    }
    const nextMs = nextAvailableInMs(pods, set.spec.minReadySeconds ?? 0, clock.now());
    return nextMs === undefined ? undefined : requeueAfter(nextMs);
  };
  return controller(DaemonSet, {
    name: "daemonsets",
    uses: [
      scoped(Pod, { namespaces: "all", indexes: CLAIM_INDEXES }),
      scoped(ControllerRevision, { namespaces: "all", indexes: CLAIM_INDEXES }),
      Node,
    ],
    fieldManager: "kube-controller-manager",
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    when: { changed: ["spec", "status", "metadata.deletionTimestamp"] },
    reconcile: (set, ctx) => unlessTerminating(() => sync(set, ctx)),
    deleting: (set, ctx) => sync(set, ctx),
  });
}
