import { type Json, type MutableJsonObject, setField } from "../../api/json.js";
import { formatSeconds } from "../../cel/functions/conversions.js";
import { declare, type FunctionDeclaration, overload } from "../../cel/functions/declaration.js";
import { readingText } from "../../cel/functions/text-cost.js";
import { DYN, listOf, opaque, STRING, struct, type Type } from "../../cel/types/type.js";
import { ListValue, MapValue } from "../../cel/values/collection.js";
import { formatTimestamp } from "../../cel/values/time.js";
import { Bytes, type CelValue, Duration, Timestamp, Uint } from "../../cel/values/value.js";

const PATCH_FIELDS: Readonly<Record<string, Type>> = { op: STRING, path: STRING, from: STRING, value: DYN };
/** An unknown field has a type without a name, as in the real server. */
const PATCH = struct("JSONPatch", (name) => (Object.hasOwn(PATCH_FIELDS, name) ? PATCH_FIELDS[name] : opaque("")));

/** The result type of an `ApplyConfiguration`: an object with the fields to set. */
export const APPLIED = objectType("Object");
/** The result type of a `JSONPatch`. */
export const PATCHES = listOf(PATCH);

/** The types of mutations by name: `JSONPatch`, `Object`, and `Object.spec.template` for a part of an object. */
export function patchType(name: string): Type | undefined {
  if (name === "JSONPatch") return PATCH;
  return name === "Object" || name.startsWith("Object.") ? objectType(name) : undefined;
}

/** Fields are not checked before the patch is applied. */
function objectType(name: string): Type {
  return struct(name, () => DYN);
}

export const patchFunctions: readonly FunctionDeclaration[] = [
  declare(
    "jsonpatch.escapeKey",
    [
      overload("string_jsonpatch_escapeKey_string", [STRING], STRING, (key) =>
        (key as string).replaceAll("~", "~0").replaceAll("/", "~1"),
      ),
    ],
    { cost: readingText(1, true) },
  ),
];

/** Converts a value to JSON. Undefined if it has no JSON form. */
export function jsonOf(value: CelValue): Json | undefined {
  if (value === null || typeof value === "boolean" || typeof value === "string" || typeof value === "number") {
    return value;
  }
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Uint) return Number(value.value);
  if (value instanceof Bytes) return Buffer.from(value.value).toString("base64");
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatSeconds(value);
  if (value instanceof ListValue) {
    const items = value.items.map(jsonOf);
    return items.includes(undefined) ? undefined : (items as Json[]);
  }
  if (!(value instanceof MapValue)) return undefined;
  const result: MutableJsonObject = {};
  for (const key of value.keys) {
    const part = jsonOf(value.get(key)!);
    if (part === undefined) return undefined;
    setField(result, String(key), part);
  }
  return result;
}
