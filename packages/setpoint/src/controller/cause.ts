import type { KubeObject } from "../kinds/object.js";

/** What happened to an object, as a level-triggered reader sees it. */
export type Change = "created" | "updated" | "deleted";

/** Why a key is in the queue. */
export type Cause =
  | { readonly type: "created"; readonly isInInitialList: boolean }
  | { readonly type: "updated" }
  /** The deletion was asked for, or the object is gone. */
  | { readonly type: "deleted" }
  | { readonly type: "resync" }
  | { readonly type: "retry"; readonly attempt: number; readonly error: string }
  | { readonly type: "requeue" }
  /** The safety look at something that waits. */
  | { readonly type: "recheck"; readonly reason: string }
  /** An object that the last run read, or looked for, or that a mapped watch sees, is no longer what it was. */
  | { readonly type: "dependency"; readonly kind: string; readonly key: string; readonly change: Change }
  | { readonly type: "owned"; readonly kind: string; readonly key: string; readonly change: Change }
  /** A timer or a channel, by its name. */
  | { readonly type: "trigger"; readonly name: string }
  /** Somebody asked for it with an annotation. */
  | { readonly type: "requested"; readonly by: "reconcile-now" | "resume" | "step" }
  /** Beyond the causes that are kept one by one. */
  | { readonly type: "more"; readonly count: number };

/** How many causes of a key are kept one by one: a list of thousands of dependencies may change at once. */
export const MAX_CAUSES = 32;

/** All causes of both, each once; of two retries the later holds. */
export function mergeCauses(earlier: readonly Cause[], later: readonly Cause[]): readonly Cause[] {
  const merged = [...earlier];
  for (const cause of later) {
    const identity = identityOf(cause);
    const known = merged.findIndex((other) => identityOf(other) === identity);
    if (known >= 0) merged[known] = joined(merged[known]!, cause);
    else if (merged.length < MAX_CAUSES) merged.push(cause);
    else addToRest(merged, cause);
  }
  return merged;
}

function joined(earlier: Cause, later: Cause): Cause {
  if (earlier.type === "more" && later.type === "more") return { type: "more", count: earlier.count + later.count };
  return later.type === "created" ? earlier : later;
}

function addToRest(merged: Cause[], cause: Cause): void {
  const last = merged[MAX_CAUSES - 1]!;
  const count = cause.type === "more" ? cause.count : 1;
  merged[MAX_CAUSES - 1] = { type: "more", count: last.type === "more" ? last.count + count : count + 1 };
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

/** The one word for all causes of a run, in the manner of the grafana-app-sdk. */
export type Action = "created" | "updated" | "deleted" | "resynced";

/**
 * Created and then updated is created; whatever is being deleted is deleted; nothing but resyncs is resynced, and so is
 * an object that already holds the controller's finalizer when the controller comes up: it was created long ago.
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
  return causes.length > 0 && causes.every(({ type }) => type === "resync") ? "resynced" : "updated";
}

/** `dependency v1/ConfigMap team/settings updated`: for logs. */
export function describeCause(cause: Cause): string {
  switch (cause.type) {
    case "dependency":
    case "owned":
      return `${cause.type} ${cause.kind} ${cause.key} ${cause.change}`;
    case "retry":
      return `retry ${cause.attempt}`;
    case "recheck":
      return `recheck of ${cause.reason}`;
    case "trigger":
      return `trigger ${cause.name}`;
    case "requested":
      return `requested by ${cause.by}`;
    case "more":
      return `${cause.count} more`;
    default:
      return cause.type;
  }
}
