import type { KubeObject } from "../../kinds/object.js";

/** While it is there, whatever its value but "false", the object is left alone. */
export const PAUSED_ANNOTATION = "setpoint.dev/paused";
/** Each new value asks for one run, at once. */
export const RECONCILE_NOW_ANNOTATION = "setpoint.dev/reconcile-now";
/** Each new value asks for one run of a paused object. */
export const STEP_ANNOTATION = "setpoint.dev/step";

export function isPaused(object: Pick<KubeObject, "metadata">): boolean {
  const value = object.metadata.annotations?.[PAUSED_ANNOTATION];
  return value !== undefined && value !== "false";
}

export function stepOf(object: Pick<KubeObject, "metadata">): string | undefined {
  return object.metadata.annotations?.[STEP_ANNOTATION];
}

/** What annotations requested between two states of an object; undefined for nothing. */
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
