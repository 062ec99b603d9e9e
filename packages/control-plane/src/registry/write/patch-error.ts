import { invalidValue } from "../../api/field-error.js";
import { goValue } from "../../api/go-format.js";
import { isObject, type Json, type JsonObject } from "../../api/json.js";
import { invalid, type StatusError } from "../../api/status-error.js";

/**
 * The patch applies, but its result cannot be decoded. The message sorts the keys of objects that the patch changed and
 * shows all others unchanged: the real server decodes no more than it has to.
 */
export function invalidPatch(patched: JsonObject, why: string, original: JsonObject = {}): StatusError {
  return refusal(JSON.stringify(sortedWhereTouched(patched, original)), why);
}

/** The error shows the strategic patch itself, because the server applies it without an intermediate text. */
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

/** Translates an error of the JSON decoder into the wording of the converter that reads maps. */
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

/** Whether the Go language can convert this, although the converter rejects it: for example an integer to a string. */
function isConvertible(kind: string, expected: string): boolean {
  return NUMERIC.test(kind) && (NUMERIC.test(expected) || (kind === "int64" && expected === "string"));
}
