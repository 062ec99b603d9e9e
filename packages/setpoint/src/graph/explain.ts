import { blockingRuns } from "./dispatch.js";
import { Draft, dueOf, isUnsettled, phaseOf } from "./draft.js";
import { describeGraphCause, type GraphCause } from "./graph-cause.js";
import {
  type GraphError,
  type Key,
  nameText,
  type ResourceName,
  type ResourceStatus,
  resourceKey,
} from "./resource.js";
import { hasFailed, isFailedRename, nameHolder } from "./scheduling.js";
import type { FinishedRun, Node, State } from "./state.js";

/** One thing that a resource waits for. */
export type Blocker =
  /** A run that has not returned; `cancelled` if it was cancelled but has not returned yet. */
  | { readonly type: "run"; readonly name: ResourceName; readonly cancelled: boolean }
  | {
      readonly type: "resource";
      readonly name: ResourceName;
      /**
       * `ref`: it refers to it. `name`: it needs its name. `phase`: deletes and renames go first. `line`: it is ahead
       * in line.
       */
      readonly why: "ref" | "name" | "phase" | "line";
    }
  | { readonly type: "timer"; readonly at: number }
  /** Along refs, from the resource back to itself. */
  | { readonly type: "cycle"; readonly path: readonly ResourceName[] }
  /** A user has to act: a run was cancelled, or failed for good. */
  | { readonly type: "rest"; readonly name: ResourceName }
  | { readonly type: "lock" };

/** Why a resource ran, why it did not, and what it waits for. */
export interface Explanation {
  readonly name: ResourceName;
  readonly status: ResourceStatus;
  /** A summary of all below in one sentence. */
  readonly reason: string;
  /** Why it is to run, or is running; empty where nothing asks for it. */
  readonly causes: readonly GraphCause[];
  /** What it waits for, from the nearest to the last, which is running, timed or at rest. */
  readonly waitsFor: readonly Blocker[];
  readonly lastRun?: FinishedRun;
  /** When it last settled without a run, because its spec and inputs had not changed. */
  readonly settledOn?: number;
  readonly error?: GraphError;
  /** From a failed ref to the resource whose failure caused it. */
  readonly failedRefs: readonly ResourceName[];
}

export function explain(state: State, id: Key): Explanation | undefined {
  const draft = new Draft(state, 0);
  const node = draft.node(id);
  if (!node) return undefined;
  const waitsFor = node.status === "idle" || node.status === "running" ? [] : blockersOf(draft, node);
  const error = errorOf(node);
  const causes = node.status === "running" ? (draft.run(node.run!)?.causes ?? []) : node.causes;
  return {
    name: node.meta.name,
    status: node.status,
    reason: reasonOf(node, causes, waitsFor),
    causes,
    waitsFor,
    ...(node.lastRun ? { lastRun: node.lastRun } : {}),
    ...(node.settledOn === undefined ? {} : { settledOn: node.settledOn }),
    ...(error ? { error } : {}),
    failedRefs: failedPath(draft, node),
  };
}

/** The error that a node shows: that of the last run, unless another run is pending. */
export function errorOf(node: Node): GraphError | undefined {
  if (node.status === "cyclic") {
    return { code: "GRAPH_CYCLE", message: `${nameText(node.meta.name)} refers to itself, directly or through others` };
  }
  return node.status === "idle" || node.status === "waiting" ? (node.failure ?? node.trace?.error) : undefined;
}

function blockersOf(draft: Draft, start: Node): readonly Blocker[] {
  const chain: Blocker[] = [];
  const seen = new Set<Key>();
  for (let node: Node | undefined = start; node && !seen.has(node.id); ) {
    seen.add(node.id);
    const { blocker, next } = blockerOf(draft, node);
    chain.push(blocker);
    node = next;
  }
  return chain;
}

function blockerOf(draft: Draft, node: Node): { readonly blocker: Blocker; readonly next?: Node } {
  const { name } = node.meta;
  const by = (next: Node, why: "ref" | "name" | "phase" | "line") =>
    ({ blocker: { type: "resource", name: next.meta.name, why }, next }) as const;
  if (node.run !== undefined) {
    return { blocker: { type: "run", name, cancelled: draft.run(node.run)?.cancelled !== false } };
  }
  if (node.status === "cyclic") return { blocker: { type: "cycle", path: cycleOf(draft, node) } };
  if (node.status !== "pending") {
    const due = dueOf(node);
    return { blocker: due ? { type: "timer", at: due.at } : { type: "rest", name } };
  }
  const phase = phaseOf(node);
  if (isFailedRename(node) && node.retryDue) return { blocker: { type: "timer", at: node.retryDue.at } };
  const holder = nameHolder(draft, node);
  if (holder) return by(holder, "name");
  if ((phase === "reconcile" || isFailedRename(node)) && node.unsettledRefs > 0) {
    for (const ref of node.meta.refs) {
      const key = resourceKey(ref);
      for (const id of [key, ...(draft.next.tombstones.get(key) ?? [])]) {
        const parent = draft.node(id);
        if (parent && isUnsettled(parent)) return by(parent, "ref");
      }
    }
  }
  for (const id of blockingRuns(draft, node, phase)) return { blocker: runBlocker(draft, id) };
  if (draft.next.locks > 0) return { blocker: { type: "lock" } };
  const earlier = openEarlier(draft, phase);
  if (earlier) return by(earlier, "phase");
  const ahead = phase === "reconcile" ? draft.node(draft.next.window[0] ?? "") : undefined;
  if (ahead && ahead.id !== node.id) return by(ahead, "line");
  // Only capacity is missing: any run in flight frees some.
  for (const run of draft.next.runs.values()) return { blocker: runBlocker(draft, run.id) };
  return { blocker: { type: "rest", name } };
}

function runBlocker(draft: Draft, id: number): Blocker {
  const run = draft.run(id)!;
  const name = draft.node(run.node ?? "")?.meta.name ?? { kind: run.startedAs.split("/")[0]!, name: run.startedAs };
  return { type: "run", name, cancelled: run.cancelled !== false };
}

/** A pending delete, or, before regular runs, a pending rename. */
function openEarlier(draft: Draft, phase: "delete" | "rename" | "reconcile"): Node | undefined {
  const isOpen = (node: Node | undefined): node is Node =>
    node !== undefined && !node.isParked && (node.status === "pending" || node.status === "running");
  if (phase === "delete") return undefined;
  for (const ids of draft.next.tombstones.values()) {
    const open = ids.map((id) => draft.node(id)).find(isOpen);
    if (open) return open;
  }
  if (phase === "rename") return undefined;
  return [...draft.next.moving.values()].map((id) => draft.node(id)).find(isOpen);
}

/** A shortest way along refs from a node of a cycle back to itself. */
function cycleOf(draft: Draft, node: Node): readonly ResourceName[] {
  const paths: (readonly Node[])[] = [[node]];
  const seen = new Set<Key>();
  for (const path of paths) {
    for (const key of path.at(-1)!.meta.refs.map(resourceKey)) {
      if (key === node.id) return [...path, node].map(({ meta }) => meta.name);
      const parent = seen.has(key) ? undefined : draft.node(key);
      seen.add(key);
      if (parent?.status === "cyclic") paths.push([...path, parent]);
    }
  }
  return [];
}

/** Follows failed refs up to the one that fails by itself. */
function failedPath(draft: Draft, node: Node): readonly ResourceName[] {
  const path: Node[] = [];
  for (let at: Node | undefined = node; at && at.status !== "cyclic"; at = path.at(-1)) {
    const failed = at.meta.refs
      .map((ref) => draft.node(resourceKey(ref)))
      .find((parent) => parent && hasFailed(parent) && parent.id !== node.id && !path.includes(parent));
    if (!failed) break;
    path.push(failed);
  }
  return path.map(({ meta }) => meta.name);
}

function reasonOf(node: Node, causes: readonly GraphCause[], waitsFor: readonly Blocker[]): string {
  const why = causes.map(describeGraphCause).join(", ");
  const due = dueOf(node);
  switch (node.status) {
    case "running":
      return `it is running: ${why}`;
    case "cyclic":
      return `it is in ${describeBlocker(waitsFor[0])}`;
    case "waiting": {
      const what = due?.cause.type === "recheck" ? due.cause.reason : "something outside";
      return `its last run waits for ${what}${due ? `, and looks again at ${timeText(due.at)}` : ""}`;
    }
    case "pending": {
      const last = waitsFor.length > 1 ? `, in the end for ${describeBlocker(waitsFor.at(-1))}` : "";
      return `${why === "" ? "a resource above it is not at rest" : `to run: ${why}`}; waits for ${describeBlocker(waitsFor[0])}${last}`;
    }
    case "idle": {
      const error = errorOf(node);
      const failed = error ? `; failed: ${error.message}` : "";
      return `${lastReason(node)}${failed}${due ? `; runs again at ${timeText(due.at)}` : ""}`;
    }
  }
}

function lastReason({ lastRun, settledOn }: Node): string {
  if (settledOn !== undefined && settledOn >= (lastRun?.finishedOn ?? 0)) {
    return "its spec and its inputs have not changed since its last run";
  }
  return lastRun ? `it ran: ${lastRun.causes.map(describeGraphCause).join(", ")}` : "nothing requested a run";
}

const WHY = {
  ref: "which it refers to",
  name: "which holds its name",
  phase: "which is deleted or renamed first",
  line: "which is ahead in line",
} as const;

function describeBlocker(blocker: Blocker | undefined): string {
  switch (blocker?.type) {
    case "run":
      return `the ${blocker.cancelled ? "cancelled " : ""}run of ${nameText(blocker.name)}`;
    case "resource":
      return `${nameText(blocker.name)}, ${WHY[blocker.why]}`;
    case "lock":
      return "a lock";
    case "timer":
      return `its time, ${timeText(blocker.at)}`;
    case "cycle":
      return `a cycle of refs: ${blocker.path.map(nameText).join(" → ")}`;
    case "rest":
      return `somebody to act on ${nameText(blocker.name)}`;
    default:
      return "its turn";
  }
}

function timeText(at: number): string {
  return new Date(at).toISOString();
}
