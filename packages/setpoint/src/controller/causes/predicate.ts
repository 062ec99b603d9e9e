import type { KubeObject } from "../../kinds/object.js";
import { isEqual, splitPath, valueAt } from "../apply/field-paths.js";
import type { Predicate } from "../controller.js";

/** Acts on a change that the predicate accepts. If the predicate throws, acts and then rethrows, so that no change is lost. */
export function whereItCounts<T extends KubeObject>(
  predicate: Predicate<T> | undefined,
  old: T | undefined,
  object: T | undefined,
  act: () => void,
): void {
  let isCounted = true;
  try {
    isCounted = counts(predicate, old, object);
  } finally {
    if (isCounted) act();
  }
}

/** Whether a predicate accepts a change. A deletion always counts: no filter may hide it. */
function counts<T extends KubeObject>(
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
