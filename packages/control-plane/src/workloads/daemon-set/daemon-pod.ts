import { DaemonSet } from "setpoint/kinds/apps/v1";
import type { Node, NodeSelectorTerm, Pod, PodSpec, Toleration } from "setpoint/kinds/v1";
import { REVISION_HASH } from "../controller-revision.js";
import { tolerates } from "../node/eviction.js";
import { controllerReference } from "../owner-claims.js";
import { podFromTemplate } from "../pod-template.js";
import { selects } from "../scheduler/placement.js";

const GENERATION = "deprecated.daemonset.template.generation";
const NODE_NAME = "metadata.name";

/** The tolerations that every daemon pod gets. */
const TOLERATIONS: readonly Toleration[] = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
];
const NETWORK_TOLERATION: Toleration = {
  key: "node.kubernetes.io/network-unavailable",
  operator: "Exists",
  effect: "NoSchedule",
};

/** The pod for one node. Its node affinity admits no other node. */
export function daemonPod(set: DaemonSet, node: string, hash: string) {
  const generation = set.metadata.annotations?.[GENERATION];
  const { metadata, spec } = podFromTemplate(
    set.spec.template,
    controllerReference(DaemonSet, set),
    { generateName: `${set.metadata.name}-` },
    { [REVISION_HASH]: hash, ...(generation !== undefined && { "pod-template-generation": generation }) },
  );
  return { metadata, spec: { ...spec, affinity: onNode(spec.affinity, node), tolerations: tolerationsOf(spec) } };
}

/** Daemon tolerations replace given ones that differ only in tolerationSeconds. */
function tolerationsOf(spec: PodSpec): readonly Toleration[] {
  const own = spec.hostNetwork ? [...TOLERATIONS, NETWORK_TOLERATION] : TOLERATIONS;
  const given = spec.tolerations ?? [];
  const ownOf = (toleration: Toleration): Toleration | undefined => own.find((each) => isSame(each, toleration));
  const added = own.filter((each) => !given.some((toleration) => isSame(each, toleration)));
  return [...given.map((toleration) => ownOf(toleration) ?? toleration), ...added];
}

function isSame(one: Toleration, other: Toleration): boolean {
  const { key, effect, operator } = other;
  return one.key === key && one.effect === effect && one.operator === operator && !other.value;
}

/** The template's own node terms are already evaluated, so the node name replaces them. */
function onNode(affinity: PodSpec["affinity"], node: string): NonNullable<PodSpec["affinity"]> {
  const here = { key: NODE_NAME, operator: "In" as const, values: [node] };
  const nodeSelectorTerms: readonly NodeSelectorTerm[] = [{ matchFields: [here] }];
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
    },
  };
}

/** The node that a daemon pod runs on or is meant for. */
export function nodeOfPod({ spec }: Pod): string | undefined {
  if (spec.nodeName) return spec.nodeName;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms.flatMap(({ matchFields = [] }) => matchFields).find(({ key }) => key === NODE_NAME)?.values?.[0];
}

/** Whether a daemon pod should run on a node, and whether an existing one may stay. */
export function belongs(set: DaemonSet, node: Node): { readonly shouldRun: boolean; readonly mayStay: boolean } {
  const { spec } = set.spec.template;
  const pod = { spec } as Pod;
  const isNamed = !spec.nodeName || spec.nodeName === node.metadata.name;
  if (!isNamed || !selects(pod, node)) return { shouldRun: false, mayStay: false };
  const tolerations = tolerationsOf(spec);
  const taints = (node.spec?.taints ?? []).filter(
    (taint) => taint.effect !== "PreferNoSchedule" && !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
  return { shouldRun: taints.length === 0, mayStay: !taints.some(({ effect }) => effect === "NoExecute") };
}
