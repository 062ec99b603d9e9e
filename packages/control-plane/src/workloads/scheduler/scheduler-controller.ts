import { controller, isConflict, isNotFound, type Loop, requeueAfter, watcher } from "setpoint";
import { formatTime, keyOf } from "setpoint/kinds";
import { Node, Pod, type PodCondition } from "setpoint/kinds/v1";
import type { WorkloadEnvironment } from "../workloads.js";
import { NodeLoads } from "./node-loads.js";
import { placePod } from "./placement.js";

const NAME = "default-scheduler";
/** The fields of a waiting pod that decide where it may go. Binding changes none of them. */
const PLACED_BY = ["schedulingGates", "nodeSelector", "affinity", "tolerations", "containers"] as const;

/**
 * Binds pods to nodes that fit: selectors, required node and pod affinity, taints, requests and topology spread
 * constraints. The node with the fewest pods wins.
 */
export function schedulerController({ clock }: WorkloadEnvironment): readonly Loop[] {
  const loads = new NodeLoads();
  const counting = watcher(Pod, {
    name: "scheduler-loads",
    concurrency: 1,
    add: (pod) => loads.see(pod),
    update: (pod) => loads.see(pod),
    delete: (pod) => loads.forget(keyOf(pod)),
  });
  const binding = controller(Pod, {
    name: "scheduler",
    uses: [Node, Pod],
    fieldManager: "kube-scheduler",
    // One at a time, because each placement depends on those before it.
    concurrency: 1,
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    when: { matches: isWaiting, changed: ["metadata.labels", ...PLACED_BY.map((field) => `spec.${field}` as const)] },
    async reconcile(pod, ctx) {
      if (!isWaiting(pod)) return;
      const nodes = await ctx.list(Node);
      const placement = placePod(
        pod,
        nodes.map((node) => loads.of(node)),
        loads,
      );
      const { name } = pod.metadata;
      if (placement.type === "none") {
        ctx.event("Warning", "FailedScheduling", placement.message);
        const reason = { reason: "Unschedulable", message: placement.message };
        ctx.status({ conditions: withUnscheduled(pod.status?.conditions ?? [], reason, clock.now()) });
        return requeueAfter("10s");
      }
      loads.assume(pod, placement.name);
      try {
        await ctx.createSubresource(Pod, name, {
          subresource: "binding",
          body: {
            apiVersion: "v1",
            kind: "Binding",
            metadata: { name },
            target: { kind: "Node", name: placement.name },
          },
        });
      } catch (error) {
        loads.forget(keyOf(pod));
        if (isConflict(error) || isNotFound(error)) return;
        throw error;
      }
      ctx.event("Normal", "Scheduled", `Successfully assigned ${keyOf(pod)} to ${placement.name}`);
    },
  });
  return [counting, binding];
}

function isWaiting({ spec, metadata }: Pod): boolean {
  const { nodeName, schedulerName = NAME, schedulingGates = [] } = spec;
  return !nodeName && schedulerName === NAME && schedulingGates.length === 0 && !metadata.deletionTimestamp;
}

function withUnscheduled(
  conditions: readonly PodCondition[],
  why: Pick<PodCondition, "reason" | "message">,
  nowMs: number,
): readonly PodCondition[] {
  const before = conditions.find(({ type }) => type === "PodScheduled");
  const lastTransitionTime = before?.status === "False" ? before.lastTransitionTime : formatTime(nowMs);
  const next: PodCondition = {
    type: "PodScheduled",
    status: "False",
    ...why,
    ...(lastTransitionTime && { lastTransitionTime }),
  };
  return [...conditions.filter((condition) => condition !== before), next];
}
