import { type Controller, controller, type ReconcileContext, requeueAfter, scoped } from "setpoint";
import { formatLabelSelector } from "setpoint/kinds";
import { Deployment, ReplicaSet, StatefulSet } from "setpoint/kinds/apps/v1";
import { PodDisruptionBudget } from "setpoint/kinds/policy/v1";
import { Pod, ReplicationController } from "setpoint/kinds/v1";
import { controllerOf } from "../owner-claims.js";
import { wholeStatus } from "../status-change.js";
import type { WorkloadEnvironment } from "../workloads.js";
import { budgetStatus, type ExpectedPods, needsScale } from "./budget-status.js";

type Kinds = typeof Pod | typeof ReplicaSet | typeof ReplicationController | typeof Deployment | typeof StatefulSet;
type Context = ReconcileContext<PodDisruptionBudget, Kinds, never>;

const SHOWN = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] as const;

const UNMANAGED =
  "Pods selected by this PodDisruptionBudget were found to be unmanaged. As a result, the status of the PDB cannot be " +
  'calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" ' +
  "field of the PDB to an integer value.";

/** Updates how many pods each PodDisruptionBudget lets the eviction subresource evict. */
export function disruptionBudgetController({ clock }: WorkloadEnvironment): Controller<PodDisruptionBudget> {
  return controller(PodDisruptionBudget, {
    name: "disruptionbudgets",
    uses: [
      scoped(Pod, { namespaces: "all" }),
      scoped(ReplicaSet, { namespaces: "all" }),
      scoped(ReplicationController, { namespaces: "all" }),
      scoped(Deployment, { namespaces: "all" }),
      scoped(StatefulSet, { namespaces: "all" }),
    ],
    fieldManager: "kube-controller-manager",
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    async reconcile(budget, ctx) {
      const { selector } = budget.spec ?? {};
      const pods = selector ? await ctx.list(Pod, { labelSelector: formatLabelSelector(selector) }) : [];
      const nowMs = clock.now();
      const { status, nextMs } = budgetStatus(budget, pods, await expectedPods(budget, pods, ctx), nowMs);
      if (pods.length === 0) ctx.event("Normal", "NoPods", "No matching pods found");
      ctx.status(wholeStatus(budget.status, status, SHOWN));
      return nextMs === undefined ? undefined : requeueAfter(nextMs - nowMs);
    },
  });
}

/** The sum of the replicas of the pods' controllers, each controller counted once. */
async function expectedPods(budget: PodDisruptionBudget, pods: readonly Pod[], ctx: Context): Promise<ExpectedPods> {
  if (!needsScale(budget)) return { count: pods.length };
  const sizes = new Map<string, number>();
  const unmanaged: string[] = [];
  for (const pod of pods) {
    const owner = controllerOf(pod.metadata);
    if (!owner) {
      unmanaged.push(pod.metadata.name);
      continue;
    }
    const scale = await scaleOf(owner.kind, owner.name, ctx);
    if (!scale) return { problem: `found no controllers for pod "${pod.metadata.name}"` };
    sizes.set(scale.uid, scale.replicas);
  }
  if (unmanaged.length > 0) ctx.event("Warning", "UnmanagedPods", UNMANAGED);
  return { count: [...sizes.values()].reduce((sum, size) => sum + size, 0) };
}

async function scaleOf(
  kind: string,
  name: string,
  ctx: Context,
): Promise<{ readonly uid: string; readonly replicas: number } | undefined> {
  if (kind === "StatefulSet") return asScale(await ctx.find(StatefulSet, name));
  if (kind === "ReplicationController") return asScale(await ctx.find(ReplicationController, name));
  if (kind !== "ReplicaSet") return undefined;
  const set = await ctx.find(ReplicaSet, name);
  const owner = set && controllerOf(set.metadata);
  return asScale(owner?.kind === "Deployment" ? await ctx.find(Deployment, owner.name) : set);
}

function asScale(object: Deployment | ReplicaSet | ReplicationController | StatefulSet | undefined) {
  return object && { uid: object.metadata.uid, replicas: object.spec?.replicas ?? 1 };
}
