import type { KubeObject } from "../kinds/object.js";
import type { InformerScope } from "./informer.js";
import { isSelectedBy, termsOf } from "./store/selection.js";

/** Whether the server would show this object to an informer of that scope; namespaces are not looked at. */
export function isSelected(scope: InformerScope, object: KubeObject): boolean {
  return isSelectedBy(termsOf(scope), object);
}
