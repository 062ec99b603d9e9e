import type { KubeObject } from "../kinds/object.js";
import type { InformerScope } from "./informer.js";
import { isSelectedBy, termsOf } from "./store/selection.js";

/** Whether the selectors of a scope match this object; ignores namespaces. */
export function isSelected(scope: InformerScope, object: KubeObject): boolean {
  return isSelectedBy(termsOf(scope), object);
}
