import type { Node, NodeSelectorRequirement, NodeSelectorTerm, Pod } from "setpoint/kinds/v1";
import { quantityToNumber } from "setpoint/quantity";
import { tolerates } from "../node/eviction.js";
import { isNodeReady } from "../node/node-state.js";
import { type Neighbours, neighbourVerdict } from "./neighbours.js";
import { podRequests } from "./node-loads.js";

/** The pods on a node, bound or about to be. */
export interface NodeLoad {
  readonly node: Node;
  readonly podCount: number;
  readonly requested: Readonly<Record<string, number>>;
}

export type Placement =
  | { readonly type: "node"; readonly name: string }
  /** The scheduler's message: `0/2 nodes are available: 2 Insufficient cpu.` */
  | { readonly type: "none"; readonly message: string };

/** Picks the node with the fewest pods among those that fit. */
export function placePod(pod: Pod, loads: readonly NodeLoad[], neighbours: Neighbours): Placement {
  const eligible = loads.map(({ node }) => node).filter((node) => selects(pod, node));
  const verdict = neighbourVerdict(pod, eligible, neighbours);
  const reasons = new Map<string, number>();
  let best: NodeLoad | undefined;
  for (const load of loads) {
    const reason = unfitness(pod, load) ?? verdict(load.node);
    if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    else if (!best || load.podCount < best.podCount) best = load;
  }
  if (best) return { type: "node", name: best.node.metadata.name };
  if (loads.length === 0) return { type: "none", message: "no nodes available to schedule pods" };
  const told = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  return { type: "none", message: `0/${loads.length} nodes are available: ${told.join(", ")}.` };
}

/** Why a pod does not fit on a node; undefined if it fits. */
export function unfitness(pod: Pod, load: NodeLoad): string | undefined {
  const { node } = load;
  if (!isNodeReady(node)) return "node(s) were not ready";
  const taint = untolerated(pod, node);
  if (taint) return taint;
  if (!selects(pod, node)) return "node(s) didn't match Pod's node affinity/selector";
  return shortage(pod, node, load);
}

/** The first taint that the pod does not tolerate, as the scheduler's message. */
export function untolerated(pod: Pod, { spec }: Node): string | undefined {
  if (spec?.unschedulable && !spec.taints?.some(({ key }) => key === "node.kubernetes.io/unschedulable")) {
    return "node(s) were unschedulable";
  }
  const { tolerations = [] } = pod.spec;
  const taint = (spec?.taints ?? []).find(
    (each) => each.effect !== "PreferNoSchedule" && !tolerations.some((toleration) => tolerates(toleration, each)),
  );
  if (!taint) return undefined;
  if (taint.key === "node.kubernetes.io/unschedulable") return "node(s) were unschedulable";
  return "node(s) had untolerated taint(s)";
}

/** Whether the pod's nodeSelector and required node affinity match this node. */
export function selects({ spec }: Pod, { metadata }: Node): boolean {
  const { labels = {}, name } = metadata;
  if (!Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms === undefined || terms.some((term) => matchesTerm(term, labels, name));
}

function matchesTerm(term: NodeSelectorTerm, labels: Readonly<Record<string, string>>, name: string): boolean {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  const fields: Readonly<Record<string, string>> = { "metadata.name": name };
  return (
    matchExpressions.every((requirement) => holds(requirement, labels[requirement.key])) &&
    matchFields.every((requirement) => holds(requirement, fields[requirement.key]))
  );
}

function holds({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return (
        value !== undefined &&
        (operator === "Gt" ? Number(value) > Number(values[0]) : Number(value) < Number(values[0]))
      );
  }
}

function shortage(pod: Pod, { status }: Node, { podCount, requested }: NodeLoad): string | undefined {
  const { allocatable = {} } = status ?? {};
  if (allocatable.pods !== undefined && podCount >= quantityToNumber(allocatable.pods)) return "Too many pods";
  for (const [resource, amount] of Object.entries(podRequests(pod))) {
    const available = allocatable[resource];
    const isEnough = available !== undefined && (requested[resource] ?? 0) + amount <= quantityToNumber(available);
    if (!isEnough) return `Insufficient ${resource}`;
  }
  return undefined;
}
