import type { KubeObject } from "setpoint";
import { isObject, type JsonObject } from "../../api/json.js";

const PARTS = ["labels", "annotations", "finalizers", "ownerReferences"] as const;

/**
 * Puts back the empty parts of metadata, `labels: {}`, that an object was given with; the object itself where there are
 * none. The real server stores an applied custom resource just so and tidies it when it is read, so that neither this
 * write nor the next counts as one that changes nothing.
 */
export function withEmptyParts(object: KubeObject, given: JsonObject): KubeObject {
  const { metadata } = given;
  if (!isObject(metadata)) return object;
  const empty = PARTS.filter((part) => isEmpty(metadata[part]) && object.metadata[part] === undefined);
  if (empty.length === 0) return object;
  const parts = Object.fromEntries(empty.map((part) => [part, metadata[part]]));
  return { ...object, metadata: { ...object.metadata, ...parts } };
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
