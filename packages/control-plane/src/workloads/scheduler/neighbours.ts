import { matchesLabels } from "setpoint/kinds";
import type { Node, Pod, PodAffinityTerm, TopologySpreadConstraint } from "setpoint/kinds/v1";

/** A pod that has its place, as far as others care. */
export interface PlacedPod {
  readonly node: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** What it does not want beside it. */
  readonly repels: readonly PodAffinityTerm[];
}

/** The pods that have their place; looked at only where a rule asks for it. */
export interface Neighbours {
  readonly placed: readonly PlacedPod[];
  /** Those that do not want everybody beside them. */
  readonly repelling: readonly PlacedPod[];
}

type Verdict = (node: Node) => string | undefined;

const AFFINITY = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules";
const OTHERS = "node(s) didn't satisfy existing pods anti-affinity rules";
const SPREAD = "node(s) didn't match pod topology spread constraints";
const UNLABELLED = `${SPREAD} (missing required label)`;

/** The terms of a pod that others must keep to as well. */
export function repelledBy({ spec }: Pod): readonly PodAffinityTerm[] {
  return spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

/**
 * Says of a node why the pods that have their place keep this one from it: required affinity and anti-affinity, theirs
 * too, and constraints of topology that do not allow it. Preferences are not looked at.
 */
export function neighbourVerdict(pod: Pod, nodes: readonly Node[], neighbours: Neighbours): Verdict {
  const wanted = pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const constraints = (pod.spec.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule",
  );
  const unwanted = repelledBy(pod);
  const { repelling } = neighbours;
  if (wanted.length + unwanted.length + constraints.length + repelling.length === 0) return () => undefined;
  const { placed } = neighbours;
  const own = { node: "", namespace: pod.metadata.namespace ?? "", labels: pod.metadata.labels ?? {}, repels: [] };
  const labelsOf = new Map(nodes.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]));
  const domains = (key: string, pods: readonly PlacedPod[]): ReadonlySet<string | undefined> =>
    new Set(pods.map(({ node }) => labelsOf.get(node)?.[key]).filter((domain) => domain !== undefined));
  const near = wanted.map((term) => {
    const liked = placed.filter((each) => isMeant(term, own.namespace, each));
    // The first of those that want to be together has to be somewhere.
    const isFirst = liked.length === 0 && isMeant(term, own.namespace, own);
    return { key: term.topologyKey, domains: isFirst ? undefined : domains(term.topologyKey, liked) };
  });
  const far = unwanted.map((term) => ({
    key: term.topologyKey,
    domains: domains(
      term.topologyKey,
      placed.filter((each) => isMeant(term, own.namespace, each)),
    ),
  }));
  const kept = repelling.flatMap((each) =>
    each.repels
      .filter((term) => isMeant(term, each.namespace, own))
      .map(({ topologyKey: key }) => ({ key, domains: domains(key, [each]) })),
  );
  const spreads = constraints.map((constraint) => spreadVerdict(constraint, own, nodes, placed));
  return (node) => {
    const { labels = {} } = node.metadata;
    for (const verdict of spreads) {
      const reason = verdict(node);
      if (reason !== undefined) return reason;
    }
    const isIn = ({ key, domains: among }: { key: string; domains: ReadonlySet<string | undefined> }): boolean =>
      labels[key] !== undefined && among.has(labels[key]);
    const isNear = near.every(({ key, domains: among }) =>
      among === undefined ? labels[key] !== undefined : isIn({ key, domains: among }),
    );
    if (!isNear) return AFFINITY;
    if (far.some(isIn)) return ANTI_AFFINITY;
    return kept.some(isIn) ? OTHERS : undefined;
  };
}

/** Whether a term speaks of a pod: by its labels, in the namespace of the term's own pod unless it names others. */
function isMeant(term: PodAffinityTerm, namespace: string, pod: PlacedPod): boolean {
  const { labelSelector, namespaces = [], namespaceSelector } = term;
  // Labels of namespaces are not looked at: a selector of them stands for all.
  const isThere = namespaceSelector ? true : (namespaces.length > 0 ? namespaces : [namespace]).includes(pod.namespace);
  return isThere && labelSelector !== undefined && matchesLabels(labelSelector, pod.labels);
}

function spreadVerdict(
  { topologyKey, maxSkew, labelSelector, minDomains = 1 }: TopologySpreadConstraint,
  own: PlacedPod,
  nodes: readonly Node[],
  placed: readonly PlacedPod[],
): Verdict {
  const isCounted = (pod: PlacedPod): boolean =>
    pod.namespace === own.namespace && labelSelector !== undefined && matchesLabels(labelSelector, pod.labels);
  const domainOf = new Map(nodes.map(({ metadata }) => [metadata.name, metadata.labels?.[topologyKey]]));
  const counts = new Map<string, number>();
  for (const domain of domainOf.values()) if (domain !== undefined) counts.set(domain, 0);
  for (const pod of placed) {
    const domain = domainOf.get(pod.node);
    if (domain !== undefined && isCounted(pod)) counts.set(domain, counts.get(domain)! + 1);
  }
  const fewest = counts.size < minDomains ? 0 : Math.min(...counts.values());
  const added = isCounted(own) ? 1 : 0;
  return ({ metadata }) => {
    const domain = metadata.labels?.[topologyKey];
    if (domain === undefined) return UNLABELLED;
    return counts.get(domain)! + added - fewest > maxSkew ? SPREAD : undefined;
  };
}
