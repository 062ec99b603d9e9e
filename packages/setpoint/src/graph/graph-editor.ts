import type { GraphError, GraphResource, ResourceName } from "./resource.js";

export interface NewResource<Spec = unknown> {
  readonly name: ResourceName;
  readonly spec: Spec;
  /** Defaults to none. */
  readonly refs?: readonly ResourceName[];
  readonly owner?: ResourceName;
  readonly paths?: readonly string[];
  readonly tags?: readonly string[];
  /** For resources that run for as long as the process. */
  readonly hidden?: boolean;
}

export interface MetaChange {
  readonly refs?: readonly ResourceName[];
  readonly owner?: ResourceName;
  readonly paths?: readonly string[];
  readonly tags?: readonly string[];
}

export interface EditOptions {
  /** The edit is refused with `GRAPH_CONFLICT` unless the resource has this version. */
  readonly ifVersion?: number;
}

export interface ReconcileOptions {
  /** Shown as the cause: `the table was dropped`. */
  readonly why?: string;
}

/** The final state of a resource after an edit. */
export interface Rest {
  /** Undefined if it is gone. */
  readonly resource: GraphResource | undefined;
  readonly error?: GraphError;
}

/**
 * The result of every edit. When awaited, it resolves to the final states of the resources, in the order of the edits.
 * It rejects only if the edit is refused or the graph has stopped. You need not await it.
 */
export interface Ticket extends Promise<readonly Rest[]> {
  /** Resolves once the edit is stored. */
  readonly accepted: Promise<void>;
}

/** The edits of a graph. An edit without a change has no effect. */
export interface GraphEditor {
  create(resource: NewResource): Ticket;
  updateMeta(name: ResourceName, change: MetaChange, options?: EditOptions): Ticket;
  updateSpec(name: ResourceName, spec: unknown, options?: EditOptions): Ticket;
  updateName(from: ResourceName, to: ResourceName): Ticket;
  delete(name: ResourceName, options?: EditOptions): Ticket;
  /** Requests a run. A run in progress is cancelled and repeated. */
  reconcile(name: ResourceName, options?: ReconcileOptions): Ticket;
  /** Cancels the run, or a pending one, without repeating it. */
  cancel(name: ResourceName): Ticket;
  /**
   * Applies all edits of `work` at once: all or none, scheduled as one. Names may be swapped: a resource that gives up
   * a name in the same batch does not block the one that takes it.
   */
  batch(work: (edit: BatchEditor) => void): Ticket;
  /** Until `work` has ended, nothing starts and the edits of others wait. */
  lock<Result>(work: (edit: GraphEditor) => Promise<Result> | Result): Promise<Result>;
}

/** Collects edits; see {@link GraphEditor.batch}. */
export type BatchEditor = {
  readonly [Edit in "create" | "updateMeta" | "updateSpec" | "updateName" | "delete" | "reconcile" | "cancel"]: (
    ...args: Parameters<GraphEditor[Edit]>
  ) => void;
};
