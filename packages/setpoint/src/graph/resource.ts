/** The kind is case-sensitive. The name keeps its case, but two names that differ in case alone are one name. */
export interface ResourceName {
  readonly kind: string;
  readonly name: string;
}

export interface ResourceMeta {
  readonly name: ResourceName;
  /** What this resource reads: its parents in the graph, sorted, each once. They need not exist. */
  readonly refs: readonly ResourceName[];
  /** Who created it, so that this one knows what it may delete. */
  readonly owner?: ResourceName;
  readonly paths: readonly string[];
  readonly tags: readonly string[];
  /** Runs for as long as the process does, as a file watcher would; `waitUntilIdle` can leave such resources out. */
  readonly hidden: boolean;
  /** Grows with every change that is stored. */
  readonly version: number;
  /** Grows with spec, refs, name and deletion. */
  readonly specVersion: number;
  /** Grows only when the state changes. Errors and warnings do not change the state. */
  readonly stateVersion: number;
  readonly createdOn: number;
  readonly specUpdatedOn: number;
  readonly stateUpdatedOn: number;
  /** Set while the resource is deleted and its `remove` has not yet succeeded. */
  readonly deletedOn?: number;
  /** Set from a rename until the kind has moved what it keeps; where that is now. */
  readonly renamedFrom?: ResourceName;
}

/** An error as it is stored and shown. */
export interface GraphError {
  readonly message: string;
  readonly code?: string;
}

/**
 * - `idle`: at rest; `error` says whether the last run failed.
 * - `pending`: will run, or be settled, when what it waits for is done.
 * - `running`: its reconciler is at work.
 * - `waiting`: its last run waits for something outside; its dependents wait with it.
 * - `cyclic`: refers to itself, directly or through others; never runs until the cycle is cut.
 */
export type ResourceStatus = "idle" | "pending" | "running" | "waiting" | "cyclic";

/** One resource as `get` and `list` show it. Readonly through and through. */
export interface GraphResource<Spec = unknown, State = unknown> {
  readonly meta: ResourceMeta;
  readonly spec: Spec;
  /** Undefined until the reconciler has written one. Stays readable while a run is under way. */
  readonly state: State | undefined;
  readonly status: ResourceStatus;
  /** Of the last run; absent while another one is to come. */
  readonly error?: GraphError;
  readonly warnings: readonly string[];
  /** What dependents compare: absent before the first run that succeeded. */
  readonly outputVersion?: string;
  /** When it runs again by itself. */
  readonly runAgainOn?: number;
}

/** What identifies a resource: one text for all ways of writing its name. */
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
