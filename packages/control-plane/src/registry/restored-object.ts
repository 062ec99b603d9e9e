import { isArray, isObject, type Json, type JsonObject } from "../api/json.js";
import { StatusError } from "../api/status-error.js";
import type { Facts } from "../facts/facts.js";
import { checkDepth } from "../schema/depth.js";
import { DecodingError, decodeStruct } from "../schema/go-decoding.js";
import type { StoredObject } from "../storage/storage.js";

const TEXTS = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"];
const MAPS = ["labels", "annotations"];
const OWNER = ["apiVersion", "kind", "name", "uid"];

/**
 * The reason why an object from an untrusted file is invalid; undefined if it is valid. All code that reads stored
 * objects relies on these checks.
 */
export function restoredProblem(
  facts: Facts,
  { key, object }: Pick<StoredObject, "key" | "object">,
): string | undefined {
  const value = object as unknown as Json;
  if (!isObject(value)) return "it is no object";
  try {
    checkDepth(value);
    for (const field of ["apiVersion", "kind"]) {
      if (typeof value[field] !== "string" || value[field] === "") return `${field} must be a text`;
    }
    const problem = metadataProblem(value.metadata, key);
    if (problem !== undefined) return problem;
    const message = facts.messageOf(String(value.apiVersion), String(value.kind));
    if (message !== undefined) decodeStruct(message, value);
    return undefined;
  } catch (error) {
    if (error instanceof DecodingError || error instanceof StatusError) return error.message;
    throw error;
  }
}

function metadataProblem(metadata: Json | undefined, key: string): string | undefined {
  if (!isObject(metadata)) return "metadata must be an object";
  const { name, namespace, finalizers = [], ownerReferences = [] } = metadata;
  if (typeof name !== "string" || name === "") return "metadata.name must be a text";
  for (const field of TEXTS) {
    const value = metadata[field];
    if (value !== undefined && typeof value !== "string") return `metadata.${field} must be a text`;
  }
  const expected = namespace === undefined ? name : `${String(namespace)}/${name}`;
  if (key !== expected) return `it is kept as ${key}, and its metadata says ${expected}`;
  for (const field of MAPS) {
    const value = metadata[field];
    if (value !== undefined && !isMapOfTexts(value)) return `metadata.${field} must be a map of texts`;
  }
  if (!isArray(finalizers) || finalizers.some((each) => typeof each !== "string")) {
    return "metadata.finalizers must be a list of texts";
  }
  if (!isArray(ownerReferences) || !ownerReferences.every(isOwner)) {
    return "metadata.ownerReferences must be a list of owners";
  }
  return undefined;
}

function isMapOfTexts(value: Json): boolean {
  return isObject(value) && Object.values(value).every((each) => typeof each === "string");
}

function isOwner(value: Json): boolean {
  return isObject(value) && OWNER.every((field) => typeof (value as JsonObject)[field] === "string");
}
