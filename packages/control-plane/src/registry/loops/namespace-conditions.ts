import type { StoredObject } from "../../storage/storage.js";

export interface NamespaceCondition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

type Finding = Omit<NamespaceCondition, "lastTransitionTime">;

/** The conditions of a namespace whose deletion has no failures. */
const FINE: readonly Finding[] = [
  fine("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
  fine(
    "NamespaceDeletionGroupVersionParsingFailure",
    "ParsedGroupVersions",
    "All legacy kube types successfully parsed",
  ),
  fine(
    "NamespaceDeletionContentFailure",
    "ContentDeleted",
    "All content successfully deleted, may be waiting on finalization",
  ),
  fine("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
  fine("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
];

function fine(type: string, reason: string, message: string): Finding {
  return { type, status: "False", reason, message };
}

/**
 * The real controller's conditions for a terminating namespace. `namesOf` returns names such as `configmaps.` or
 * `deployments.apps` for a storage id.
 */
export function namespaceFindings(
  failures: readonly string[],
  remaining: readonly StoredObject[],
  namesOf: (resource: string) => readonly string[],
): readonly Finding[] {
  const named = remaining.flatMap(({ resource, object }) => namesOf(resource).map((name) => ({ name, object })));
  const resources = counted(named.map(({ name }) => name)).map(
    ([name, count]) => `${name} has ${count} resource instances`,
  );
  const finalizers = counted(named.flatMap(({ object }) => object.metadata.finalizers ?? [])).map(
    ([finalizer, count]) => `${finalizer} in ${count} resource instances`,
  );
  const found: Finding[] = [];
  const add = (type: string, reason: string, message: string, parts: readonly string[]): void => {
    if (parts.length > 0) found.push({ type, status: "True", reason, message: message + [...parts].sort().join(", ") });
  };
  const failed = `Failed to delete all resource types, ${failures.length} remaining: `;
  add("NamespaceDeletionContentFailure", "ContentDeletionFailed", failed, failures);
  add("NamespaceContentRemaining", "SomeResourcesRemain", "Some resources are remaining: ", resources);
  add(
    "NamespaceFinalizersRemaining",
    "SomeFinalizersRemain",
    "Some content in the namespace has finalizers remaining: ",
    finalizers,
  );
  return FINE.map((each) => found.find(({ type }) => type === each.type) ?? each);
}

/** Applies the findings. Conditions of other types stay, and each keeps its position. */
export function withFindings(
  before: readonly NamespaceCondition[],
  findings: readonly Finding[],
  now: string,
): readonly NamespaceCondition[] {
  const changed = before.map((old): NamespaceCondition => {
    const finding = findings.find(({ type }) => type === old.type);
    if (finding === undefined) return old;
    return { ...old, ...finding, lastTransitionTime: old.status === finding.status ? old.lastTransitionTime : now };
  });
  const added = findings.filter(({ type }) => !before.some((old) => old.type === type));
  return [
    ...changed,
    ...added.map(({ type, status, reason, message }) => ({ type, status, lastTransitionTime: now, reason, message })),
  ];
}

function counted(values: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts];
}
