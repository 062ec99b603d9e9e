import type { KubeObject } from "../../kinds/object.js";
import { type CauseRules, describeLoopCause, type LoopCause, mergeCauses } from "../../loop/cause.js";

/** What happened to an object, as a level-triggered reader sees it. */
export type ObjectChange = "created" | "updated" | "deleted";

/** Why a key is in the queue. */
export type Cause =
  | { readonly type: "created"; readonly isInInitialList: boolean }
  | { readonly type: "updated" }
  /** Deletion was requested, or the object is gone. */
  | { readonly type: "deleted" }
  | { readonly type: "resync" }
  /** An object that the last run read, or looked for, or that a mapped watch sees, is no longer what it was. */
  | { readonly type: "dependency"; readonly kind: string; readonly key: string; readonly change: ObjectChange }
  | { readonly type: "owned"; readonly kind: string; readonly key: string; readonly change: ObjectChange }
  /** An annotation requested the run. */
  | { readonly type: "requested"; readonly by: "reconcile-now" | "resume" | "step" }
  | LoopCause;

const RULES: CauseRules<Cause> = {
  identityOf,
  isOneOfMany: ({ type }) => type === "dependency" || type === "owned" || type === "more",
  joined: (earlier, later) => (later.type === "created" ? earlier : later),
};

/** All causes of both, each once; of two retries the later holds. */
export function mergeControllerCauses(earlier: readonly Cause[], later: readonly Cause[]): readonly Cause[] {
  return mergeCauses(earlier, later, RULES);
}

function identityOf(cause: Cause): string {
  switch (cause.type) {
    case "dependency":
    case "owned":
      return `${cause.type} ${cause.kind} ${cause.key}`;
    case "trigger":
      return `trigger ${cause.name}`;
    case "requested":
      return `requested ${cause.by}`;
    default:
      return cause.type;
  }
}

/** One word for all causes of a run, as in the grafana-app-sdk. */
export type Action = "created" | "updated" | "deleted" | "resynced";

/**
 * Created and then updated counts as created, and so does a new object with the name of a deleted one. An object that
 * is being deleted counts as deleted. Only resyncs count as resynced, and so does an object that already has the
 * controller's finalizer when the controller starts, because it was created long ago.
 */
export function actionOf(
  causes: readonly Cause[],
  object: Pick<KubeObject, "metadata">,
  finalizer?: string | undefined,
): Action {
  const { deletionTimestamp, finalizers } = object.metadata;
  if (deletionTimestamp) return "deleted";
  const created = causes.find((cause) => cause.type === "created");
  if (created) {
    const isKnown = created.isInInitialList && finalizer !== undefined && finalizers?.includes(finalizer);
    return isKnown && !causes.some(({ type }) => type === "retry") ? "resynced" : "created";
  }
  if (causes.some(({ type }) => type === "deleted")) return "created";
  return causes.length > 0 && causes.every(({ type }) => type === "resync") ? "resynced" : "updated";
}

/** Whether a delayed key runs at once because of this cause. */
export function isUrgent({ type }: Cause): boolean {
  return type === "requested" || type === "deleted";
}

/** Whether an object has the name of a deleted one: nothing known about the key applies to it. */
export function isSuccessor(object: KubeObject, causes: readonly Cause[]): boolean {
  return !object.metadata.deletionTimestamp && causes.some(({ type }) => type === "deleted");
}

/** `dependency v1/ConfigMap team/settings updated`: for logs. */
export function describeCause(cause: Cause): string {
  switch (cause.type) {
    case "dependency":
    case "owned":
      return `${cause.type} ${cause.kind} ${cause.key} ${cause.change}`;
    case "requested":
      return `requested by ${cause.by}`;
    case "created":
    case "updated":
    case "deleted":
    case "resync":
      return cause.type;
    default:
      return describeLoopCause(cause);
  }
}
