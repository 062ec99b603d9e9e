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

/**
 * Beyond so many causes of a key, other objects are counted instead of kept one by one: a list of thousands of them may
 * change at once. What happened to the object itself is always kept.
 */
export const MAX_CAUSES = 32;

/** All causes of both, each once; of two retries the later holds. */
export function mergeCauses(earlier: readonly Cause[], later: readonly Cause[]): readonly Cause[] {
  const merged = [...earlier];
  for (const cause of later) {
    const identity = identityOf(cause);
    const known = merged.findIndex((other) => identityOf(other) === identity);
    if (known >= 0) merged[known] = joined(merged[known]!, cause);
    else if (merged.length < MAX_CAUSES || !isOneOfMany(cause)) merged.push(cause);
    else addToRest(merged, cause);
  }
  return merged;
}

function joined(earlier: Cause, later: Cause): Cause {
  if (earlier.type === "more" && later.type === "more") return { type: "more", count: earlier.count + later.count };
  return later.type === "created" ? earlier : later;
}

/** Whether there may be any number of such causes; of the others there is one each, or one for each trigger declared. */
function isOneOfMany({ type }: Cause): boolean {
  return type === "dependency" || type === "owned" || type === "more";
}

/** Counts a cause together with the rest, to which the last of its like goes with the first one counted. */
function addToRest(merged: Cause[], cause: Cause): void {
  const count = cause.type === "more" ? cause.count : 1;
  const rest = merged.findIndex(({ type }) => type === "more");
  const at = rest >= 0 ? rest : merged.findLastIndex(isOneOfMany);
  const known = merged[at];
  if (known) merged[at] = { type: "more", count: count + (known.type === "more" ? known.count : 1) };
  else merged.push(cause);
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
 * Created and then updated is created, and so is what has taken the name of a deleted object; whatever is being deleted
 * is deleted; nothing but resyncs is resynced, and so is an object that already holds the controller's finalizer when the
 * controller comes up: it was created long ago.
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
