/** The kind is case-sensitive. The name keeps its case, but names that differ only in case are the same. */
export interface ResourceName {
  readonly kind: string;
  readonly name: string;
}

export interface ResourceMeta {
  readonly name: ResourceName;
  /** What this resource reads: its parents in the graph, sorted, each once. They need not exist. */
  readonly refs: readonly ResourceName[];
  /** The resource that created it, which may delete it. */
  readonly owner?: ResourceName;
  readonly paths: readonly string[];
  readonly tags: readonly string[];
  /** Runs for as long as the process, like a file watcher; `waitUntilIdle` can ignore such resources. */
  readonly hidden: boolean;
  /** Increases with every stored change. */
  readonly version: number;
  /** Increases with changes of spec, refs, name and deletion. */
  readonly specVersion: number;
  /** Increases only with changes of the state, not with errors and warnings. */
  readonly stateVersion: number;
  readonly createdOn: number;
  readonly specUpdatedOn: number;
  readonly stateUpdatedOn: number;
  /** Set while the resource is deleted and its `remove` has not succeeded yet. */
  readonly deletedOn?: number;
  /** Set from a rename until the kind has moved everything: the name that it moves from. */
  readonly renamedFrom?: ResourceName;
}

/** An error in its stored form. */
export interface GraphError {
  readonly message: string;
  readonly code?: string;
}

/**
 * - `idle`: at rest; `error` says whether the last run failed.
 * - `pending`: will run, or settle without a run, when what it waits for is done.
 * - `running`: its reconciler runs.
 * - `waiting`: its last run waits for something outside; its dependents wait with it.
 * - `cyclic`: refers to itself, directly or through others; never runs until the cycle is cut.
 */
export type ResourceStatus = "idle" | "pending" | "running" | "waiting" | "cyclic";

/** One resource as `get` and `list` return it. Deeply readonly. */
export interface GraphResource<Spec = unknown, State = unknown> {
  readonly meta: ResourceMeta;
  readonly spec: Spec;
  /** Undefined until the reconciler has written one. Readable during a run. */
  readonly state: State | undefined;
  readonly status: ResourceStatus;
  /** The error of the last run; absent while another run is pending. */
  readonly error?: GraphError;
  readonly warnings: readonly string[];
  /** What dependents compare; absent before the first successful run. */
  readonly outputVersion?: string;
  /** When it runs again by itself. */
  readonly runAgainOn?: number;
}

/** Identifies a resource: the same for all spellings of its name. */
export type Key = string;

/** The key of a resource: names differ in more than their case. */
export function resourceKey({ kind, name }: ResourceName): Key {
  return `${kind}/${name.toLowerCase()}`;
}

/** `Model/orders`: for messages. */
export function nameText({ kind, name }: ResourceName): string {
  return `${kind}/${name}`;
}

/** Sorted by kind and name, each once. */
export function sortedRefs(refs: readonly ResourceName[]): readonly ResourceName[] {
  const byKey = new Map(refs.map(({ kind, name }) => [resourceKey({ kind, name }), { kind, name }]));
  return [...byKey.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, ref]) => ref);
}
