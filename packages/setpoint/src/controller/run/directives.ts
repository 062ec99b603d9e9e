import type { KubeObject } from "../../kinds/object.js";

/** While an object has it with any value but "false", the controller ignores the object. */
export const PAUSED_ANNOTATION = "setpoint.dev/paused";
/** Each new value requests one run at once. */
export const RECONCILE_NOW_ANNOTATION = "setpoint.dev/reconcile-now";
/** Each new value requests one run of a paused object. */
export const STEP_ANNOTATION = "setpoint.dev/step";

export function isPaused(object: Pick<KubeObject, "metadata">): boolean {
  const value = object.metadata.annotations?.[PAUSED_ANNOTATION];
  return value !== undefined && value !== "false";
}

export function stepOf(object: Pick<KubeObject, "metadata">): string | undefined {
  return object.metadata.annotations?.[STEP_ANNOTATION];
}

/** The request of annotations between two states of an object; undefined for none. */
export function requestOf(
  old: Pick<KubeObject, "metadata"> | undefined,
  object: Pick<KubeObject, "metadata">,
): "reconcile-now" | "resume" | "step" | undefined {
  const isNew = (annotation: string): boolean => {
    const value = object.metadata.annotations?.[annotation];
    return value !== undefined && value !== old?.metadata.annotations?.[annotation];
  };
  if (!old) return undefined;
  if (isPaused(old) && !isPaused(object)) return "resume";
  if (isPaused(object)) return isNew(STEP_ANNOTATION) ? "step" : undefined;
  return isNew(RECONCILE_NOW_ANNOTATION) ? "reconcile-now" : undefined;
}
