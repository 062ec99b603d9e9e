import { matchesFields } from "../kinds/field-selector.js";
import { matchesLabels } from "../kinds/label-selector.js";
import type { KubeObject } from "../kinds/object.js";
import { ownField } from "../kinds/own-field.js";
import type { InformerScope } from "./informer.js";

/** Whether the server would show this object to an informer of that scope; namespaces are not looked at. */
export function isSelected(scope: InformerScope, object: KubeObject): boolean {
  const { labelSelector, fieldSelector } = scope;
  if (labelSelector && !matchesLabels(labelSelector, object.metadata.labels)) return false;
  return !fieldSelector || matchesFields(fieldSelector, (field) => textAt(object, field));
}

function textAt(object: KubeObject, path: string): string {
  let value: unknown = object;
  for (const field of path.split(".")) {
    if (typeof value !== "object" || value === null) return "";
    value = ownField(value as Record<string, unknown>, field);
  }
  return value === undefined || value === null ? "" : String(value);
}
