import { invalidValue } from "../../api/field-error.js";
import { goValue } from "../../api/go-format.js";
import { isObject, type Json, type JsonObject } from "../../api/json.js";
import { invalid, type StatusError } from "../../api/status-error.js";

/**
 * The patch applies, but what comes of it cannot be read. The objects that the patch went into are shown in the order of
 * their keys, all others as they were: the real server takes apart no more than it has to.
 */
export function invalidPatch(patched: JsonObject, why: string, original: JsonObject = {}): StatusError {
  return refusal(JSON.stringify(sortedWhereTouched(patched, original)), why);
}

/** A strategic patch is refused by what it says: it goes into the object without a detour through text. */
export function invalidStrategicPatch(patch: Json, why: string): StatusError {
  return refusal(goValue(patch), restoreError(why));
}

function refusal(shown: string, why: string): StatusError {
  return invalid({ group: "", resource: "" }, "", [invalidValue("patch", shown, why)]);
}

function sortedWhereTouched(patched: JsonObject, original: JsonObject): JsonObject {
  if (patched === original) return patched;
  const keys = Object.keys(patched).sort();
  return Object.fromEntries(
    keys.map((key) => {
      const value = patched[key]!;
      const before = original[key];
      return [key, isObject(value) && isObject(before) ? sortedWhereTouched(value, before) : value];
    }),
  );
}

const GO_KINDS: Readonly<Record<string, string>> = { number: "int64", array: "slice", object: "map" };
const SCALAR = /^(?:string|bool|u?int\d*|float\d+)$/;
const NUMERIC = /^(?:u?int\d*|float\d+)$/;

/** What the decoder of JSON complains of, in the words of the converter that reads maps. */
function restoreError(why: string): string {
  const [, found = "", expected = ""] =
    /^json: cannot unmarshal (\S+(?: \S+)?) into Go (?:struct field \S+|value) of type (.+)$/.exec(why) ?? [];
  if (found === "") return why;
  const kind = /^number .*[.e]/i.test(found) ? "float64" : (GO_KINDS[found.split(" ")[0]!] ?? found);
  if (expected.startsWith("map[")) return `cannot restore map from ${kind}`;
  if (expected.startsWith("[]")) return `cannot restore slice from ${kind}`;
  if (!SCALAR.test(expected)) return `cannot restore struct from: ${kind}`;
  return isConvertible(kind, expected) ? `cannot convert ${kind} to ${expected}` : `unrecognized type: ${expected}`;
}

/** Whether Go's language has a conversion, though the converter refuses it: of a character's number to text, say. */
function isConvertible(kind: string, expected: string): boolean {
  return NUMERIC.test(kind) && (NUMERIC.test(expected) || (kind === "int64" && expected === "string"));
}
