import type { GraphError, GraphResource, ResourceName } from "./resource.js";

export interface NewResource<Spec = unknown> {
  readonly name: ResourceName;
  readonly spec: Spec;
  /** Defaults to none. */
  readonly refs?: readonly ResourceName[];
  readonly owner?: ResourceName;
  readonly paths?: readonly string[];
  readonly tags?: readonly string[];
  /** For what runs as long as the process does. */
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

/** How a resource came to rest. */
export interface Rest {
  /** Undefined where it is gone. */
  readonly resource: GraphResource | undefined;
  readonly error?: GraphError;
}

/**
 * What every edit returns. Awaited, it tells how the resources came to rest, in the order of the edits; it rejects only where
 * the edit was refused or the graph has stopped. Need not be awaited.
 */
export interface Ticket extends Promise<readonly Rest[]> {
  /** Fulfilled once the edit is stored. */
  readonly accepted: Promise<void>;
}

/** The edits of a graph. An edit that changes nothing causes nothing. */
export interface GraphEditor {
  create(resource: NewResource): Ticket;
  updateMeta(name: ResourceName, change: MetaChange, options?: EditOptions): Ticket;
  updateSpec(name: ResourceName, spec: unknown, options?: EditOptions): Ticket;
  updateName(from: ResourceName, to: ResourceName): Ticket;
  delete(name: ResourceName, options?: EditOptions): Ticket;
  /** Asks for a run; one that is under way is cancelled and repeated. */
  reconcile(name: ResourceName, options?: ReconcileOptions): Ticket;
  /** Cancels the run, or what would lead to one, and does not repeat it. */
  cancel(name: ResourceName): Ticket;
  /**
   * All edits that `work` makes, at once: all or none, scheduled as one. Names may be exchanged: what gives a name up in the
   * same batch does not stand in the way of what takes it.
   */
  batch(work: (edit: BatchEditor) => void): Ticket;
  /** Until `work` has ended nothing starts, and the edits of others wait. */
  lock<Result>(work: (edit: GraphEditor) => Promise<Result> | Result): Promise<Result>;
}

/** Collects edits; see {@link GraphEditor.batch}. */
export type BatchEditor = {
  readonly [Edit in "create" | "updateMeta" | "updateSpec" | "updateName" | "delete" | "reconcile" | "cancel"]: (
    ...args: Parameters<GraphEditor[Edit]>
  ) => void;
};
