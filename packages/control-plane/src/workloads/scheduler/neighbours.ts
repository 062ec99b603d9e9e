import { matchesLabels } from "setpoint/kinds";
import type { Node, Pod, PodAffinityTerm, TopologySpreadConstraint } from "setpoint/kinds/v1";

/** The part of a placed pod that matters to the placement of others. */
export interface PlacedPod {
  readonly node: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Its required anti-affinity terms. */
  readonly repels: readonly PodAffinityTerm[];
}

/** The placed pods. Only some rules read them. */
export interface Neighbours {
  readonly placed: readonly PlacedPod[];
  /** Placed pods with required anti-affinity terms. */
  readonly repelling: readonly PlacedPod[];
}

type Verdict = (node: Node) => string | undefined;

const AFFINITY = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules";
const OTHERS = "node(s) didn't satisfy existing pods anti-affinity rules";
const SPREAD = "node(s) didn't match pod topology spread constraints";
const UNLABELLED = `${SPREAD} (missing required label)`;

/** A pod's required anti-affinity terms, which other pods must respect as well. */
export function repelledBy({ spec }: Pod): readonly PodAffinityTerm[] {
  return spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

/**
 * Returns a function that says why placed pods keep this pod off a node: required affinity and anti-affinity, also
 * that of the placed pods, and topology spread constraints. Preferences are ignored.
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
    // The first pod of a group with affinity to itself may go to any domain.
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

/** Whether a term covers a pod: its labels match, in the namespace of the term's pod unless the term names others. */
function isMeant(term: PodAffinityTerm, namespace: string, pod: PlacedPod): boolean {
  const { labelSelector, namespaces = [], namespaceSelector } = term;
  // The labels of namespaces are not evaluated: a namespaceSelector matches all namespaces.
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
