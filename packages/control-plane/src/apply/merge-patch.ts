import { isArray, isObject, type Json, type JsonObject, type MutableJsonObject, setField } from "../api/json.js";
import { StatusError } from "../api/status-error.js";
import { checkDepth } from "../schema/depth.js";

/** Merges an RFC 7386 patch into the object. Throws a 400 if the patch is not an object. */
export function mergePatch(object: JsonObject, patch: Json): JsonObject {
  if (!isObject(patch)) throw new StatusError(400, "BadRequest", badPatch(patch));
  checkDepth(patch);
  return mergeObjects(object, patch);
}

function badPatch(patch: Json): string {
  if (patch === null) return "Invalid JSON Patch";
  const kind = isArray(patch) ? "array" : typeof patch === "boolean" ? "bool" : typeof patch;
  return `error decoding patch: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
}

function mergeObjects(object: JsonObject, patch: JsonObject): JsonObject {
  const result: MutableJsonObject = { ...object };
  for (const key of Object.keys(patch)) {
    const value = patch[key]!;
    if (value === null) {
      delete result[key];
      continue;
    }
    const current = Object.hasOwn(result, key) ? result[key]! : null;
    if (isObject(current) && isObject(value)) setField(result, key, mergeObjects(current, value));
    else setField(result, key, isObject(current) ? value : withoutNulls(value));
  }
  return result;
}

/** In a part that a patch adds, null means absent too. */
function withoutNulls(value: Json): Json {
  if (isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const result: MutableJsonObject = {};
  for (const key of Object.keys(value)) {
    if (value[key] !== null) setField(result, key, withoutNulls(value[key]!));
  }
  return result;
}
