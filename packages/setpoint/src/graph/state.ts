import type { GraphCause } from "./graph-cause.js";
import type { PersistentMap } from "./persistent-map.js";
import type { GraphError, Key, ResourceMeta, ResourceName, ResourceStatus } from "./resource.js";

/** What the reducer knows about a kind; the functions stay outside. */
export interface KindPolicy {
  readonly whenRefsFinish: "always" | "changed";
  /** It has no `rename`: what is at the old name is removed, and `reconcile` called for the new one. Defaults to false. */
  readonly rebuilds?: boolean;
}

/** Amounts by name: `{ memory: 2, connections: 1 }`. */
export type Weights = Readonly<Record<string, number>>;

/** The last finished run and its inputs: enough to tell that another one would find nothing new. */
export interface Trace {
  /** Of spec and refs. */
  readonly specHash: string;
  /** For each ref, in order, what it offered: see `offerOf`. */
  readonly inputs: readonly string[];
  readonly outcome: "done" | "waitFor" | "retry" | "terminal";
  /** Of the last run that succeeded. */
  readonly outputVersion?: string;
  readonly error?: GraphError;
  readonly warnings: readonly string[];
  /** How many runs have finished. */
  readonly runs: number;
}

/** When a resource runs again by itself, and as what. */
export interface Due {
  readonly at: number;
  readonly cause: GraphCause;
}

/** The stored form of a resource. Plain JSON. */
export interface GraphRecord {
  readonly meta: ResourceMeta;
  readonly spec: unknown;
  readonly state?: unknown;
  readonly specHash: string;
  readonly trace?: Trace;
  /** A run has started and none has finished since: the world may be half done, whatever the trace says. */
  readonly began?: true;
  /** A caller requested a run, and none has finished since. */
  readonly requested?: true;
  /** Of regular runs. */
  readonly due?: Due;
  /** For a removal or rename that failed. */
  readonly retryDue?: Due;
  /** Consecutive failures. */
  readonly attempt: number;
  /** Further names under which it may have things, from renames that another rename interrupted. */
  readonly origins?: readonly ResourceName[];
  /** The error of a failed removal or rename; failed runs have theirs in the trace. */
  readonly failure?: GraphError;
}

/** A resource as the scheduler sees it. */
export interface Node extends GraphRecord {
  /** The key of its name; a deleted resource has a unique one, because a new resource may have its name. */
  readonly id: Key;
  readonly weights: Weights;
  readonly status: ResourceStatus;
  /** Why it will run; empty if it is pending only because an ancestor is. */
  readonly causes: readonly GraphCause[];
  /** How many nodes with its refs' names are neither at rest nor cyclic. 0 whenever it is idle or in a regular run. */
  readonly unsettledRefs: number;
  /** Its run in flight. Set while `status` is running, and after a cancellation until that run returns. */
  readonly run?: number;
  /** How many runs must return before the scheduler looks at it again. */
  readonly awaits: number;
  readonly inLine: boolean;
  /** Its rename has failed, or a failed removal or rename holds its name: it does not block its phase. */
  readonly isParked: boolean;
  /** Why it was last settled without a run. */
  readonly settledOn?: number;
  readonly lastRun?: FinishedRun;
}

/** Which function of the kind a run calls. */
export type Phase = "delete" | "rename" | "reconcile";

export interface Run {
  readonly id: number;
  /** The node that it works on, by its current id; undefined once that is gone. */
  readonly node: Key | undefined;
  readonly phase: Phase;
  /** The key of the name at the start: no other run of that name starts before this one has returned. */
  readonly startedAs: Key;
  /** The target of a rename, if it is not the resource's own name. */
  readonly moveTo?: ResourceName;
  readonly causes: readonly GraphCause[];
  readonly weights: Weights;
  readonly inputs: readonly string[];
  readonly specHash: string;
  readonly attempt: number;
  readonly startedOn: number;
  /** `again`: will be repeated. `stop`: cancelled by a user, not repeated. */
  readonly cancelled: false | "again" | "stop";
  /** The keys of its refs at the start, and of those that it has added itself. */
  readonly reads: readonly Key[];
  /** Nodes to look at when it has returned. */
  readonly waiters: Cell | undefined;
}

export interface FinishedRun {
  readonly id: number;
  readonly phase: Phase;
  readonly causes: readonly GraphCause[];
  readonly startedOn: number;
  readonly finishedOn: number;
  readonly outcome: "done" | "waitFor" | "retry" | "terminal" | "cancelled";
  /** The names of its `ctx.effect` calls, in order. */
  readonly effects: readonly string[];
}

/** A first-in-first-out line that states can share. */
export interface Line {
  readonly front: Cell | undefined;
  readonly back: Cell | undefined;
}

export interface Cell {
  readonly id: Key;
  readonly next: Cell | undefined;
}

export interface State {
  readonly policies: Readonly<Record<string, KindPolicy>>;
  readonly capacity: Weights;
  readonly nodes: PersistentMap<Node>;
  /** By key of a name: the ids of the nodes that refer to it, whether or not it exists. */
  readonly children: PersistentMap<PersistentMap<true>>;
  /** By key of a name: the ids of deleted resources with that name. */
  readonly tombstones: PersistentMap<readonly Key[]>;
  /** By key of the name that a resource is moving away from: its id. */
  readonly moving: PersistentMap<Key>;
  readonly runs: PersistentMap<Run>;
  /** By key of the name at the start of a run. */
  readonly busy: PersistentMap<number>;
  /** By key of a name: runs in flight that read it, although their resources no longer refer to it. */
  readonly readers: PersistentMap<readonly number[]>;
  /** Ready nodes by phase; an entry counts only while its node has `inLine`. */
  readonly lines: Readonly<Record<Phase, Line>>;
  /**
   * The first nodes of the regular line that did not fit. Others may overtake them, but the first one only a limited
   * number of times.
   */
  readonly window: readonly Key[];
  readonly overtaken: number;
  readonly used: Weights;
  /** Pending or running deletes and renames: later phases wait for them. */
  readonly openDeletes: number;
  readonly openRenames: number;
  readonly cancelledInFlight: number;
  /** How many nodes are in line. */
  readonly ready: number;
  readonly nextRun: number;
  readonly nextTombstone: number;
  /** While locks are held, nothing starts. */
  readonly locks: number;
}

export type Edit =
  | {
      readonly type: "create";
      readonly name: ResourceName;
      readonly refs: readonly ResourceName[];
      readonly owner?: ResourceName;
      readonly paths: readonly string[];
      readonly tags: readonly string[];
      readonly hidden: boolean;
      readonly spec: unknown;
      /** One line; equal specs have equal hashes. */
      readonly specHash: string;
      readonly weights: Weights;
    }
  | {
      readonly type: "update";
      readonly name: ResourceName;
      readonly change: {
        readonly refs?: readonly ResourceName[];
        readonly owner?: ResourceName;
        readonly paths?: readonly string[];
        readonly tags?: readonly string[];
        readonly spec?: unknown;
        /** Comes with the spec, and so do the weights. */
        readonly specHash?: string;
        readonly weights?: Weights;
      };
      readonly ifVersion?: number;
    }
  /** All at once: a resource may take a name that another gives up in the same edit. */
  | { readonly type: "rename"; readonly moves: readonly { readonly from: ResourceName; readonly to: ResourceName }[] }
  | { readonly type: "delete"; readonly name: ResourceName; readonly ifVersion?: number }
  | { readonly type: "reconcile"; readonly name: ResourceName; readonly why?: string }
  | { readonly type: "cancel"; readonly name: ResourceName };

/** What a run returned, with the times already computed. */
export interface GraphRunResult {
  readonly outcome: "done" | "waitFor" | "retry" | "terminal";
  readonly error?: GraphError;
  readonly warnings?: readonly string[];
  readonly outputVersion?: string;
  readonly due?: Due;
  /**
   * Of a rename that has removed what was there, instead of moving it. `rebuilt`: the rest of this is what `reconcile` returned.
   * `removed`: a regular run has to follow.
   */
  readonly instead?: "rebuilt" | "removed";
  /** The names of its effects, in order. */
  readonly effects?: readonly string[];
}

export type Event =
  /** All edits, or none if one is refused. `by` is the run that makes them. */
  | { readonly type: "edit"; readonly edits: readonly Edit[]; readonly by?: number; readonly nowMs: number }
  | { readonly type: "state"; readonly run: number; readonly state: unknown; readonly nowMs: number }
  | { readonly type: "finished"; readonly run: number; readonly result: GraphRunResult; readonly nowMs: number }
  | { readonly type: "due"; readonly ids: readonly Key[]; readonly nowMs: number }
  | { readonly type: "lock" | "unlock"; readonly nowMs: number };

export type Effect =
  /** Must be stored before any `start` of the same step is carried out. `expected` is the stored version. */
  | { readonly type: "put"; readonly id: Key; readonly record: GraphRecord; readonly expected: number }
  | { readonly type: "remove"; readonly id: Key; readonly expected: number }
  | { readonly type: "start"; readonly run: number; readonly id: Key }
  | { readonly type: "abort"; readonly run: number; readonly reason: string }
  | { readonly type: "timer"; readonly id: Key; readonly at: number }
  /** Shown to subscribers. */
  | { readonly type: "changed"; readonly id: Key; readonly name: ResourceName }
  /** Idle, cyclic, waiting or gone. */
  | { readonly type: "rest"; readonly id: Key }
  /** Nodes have new ids, all at once, because they may have swapped them. */
  | { readonly type: "moved"; readonly moves: readonly Move[] };

export interface Move {
  readonly from: Key;
  readonly to: Key;
}

/** Why an edit cannot be made. */
export interface EditRefusal {
  readonly code: "GRAPH_NAME_INVALID" | "GRAPH_NAME_TAKEN" | "GRAPH_NOT_FOUND" | "GRAPH_CONFLICT" | "GRAPH_RUN_OVER";
  readonly message: string;
}

export interface Reduction {
  readonly state: State;
  readonly effects: readonly Effect[];
  /** For an edit event: the ids of the edited nodes after the step. */
  readonly ids: readonly Key[];
  readonly refusal?: EditRefusal;
  /** How many nodes and edges were looked at: the measure of what a step costs. */
  readonly operations: number;
}
