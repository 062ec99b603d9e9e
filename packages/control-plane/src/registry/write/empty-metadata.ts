import type { KubeObject } from "setpoint";
import { isObject, type JsonObject } from "../../api/json.js";

const PARTS = ["labels", "annotations", "finalizers", "ownerReferences"] as const;

/**
 * Restores empty metadata parts such as `labels: {}` that the client sent. Returns the object itself if there are none.
 * The real server stores an applied custom resource with them and removes them on read, so this write and the next one
 * count as changes.
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
