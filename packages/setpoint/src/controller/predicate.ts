import type { KubeObject } from "../kinds/object.js";
import type { Predicate } from "./controller.js";
import { isEqual, splitPath, valueAt } from "./field-paths.js";

/** Whether a change counts. What is being deleted always does: no filter may hide a deletion. */
export function counts<T extends KubeObject>(
  predicate: Predicate<T> | undefined,
  old: T | undefined,
  object: T | undefined,
): boolean {
  if (!predicate || !object || object.metadata.deletionTimestamp) return true;
  if (predicate.matches && !predicate.matches(object) && !(old && predicate.matches(old))) return false;
  if (!predicate.changed || !old || old === object) return true;
  return predicate.changed.some((path) => {
    const steps = splitPath(path);
    return !isEqual(valueAt(old, steps), valueAt(object, steps));
  });
}
