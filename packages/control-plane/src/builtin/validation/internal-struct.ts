import { isSameJson } from "setpoint/kinds";
import { Printed } from "../../api/field-error.js";
import { goJson } from "../../api/go-format.js";
import { isArray, isObject, type Json, type JsonObject } from "../../api/json.js";
import structs from "../../facts/structs.json" with { type: "json" };
import { unifiedDiff } from "./unified-diff.js";

/** The displayed name ("" for inlined fields), the type, and the JSON name if it differs. */
type Row = readonly [shown: string, type: string, jsonName?: string];

const TABLE = structs as unknown as Readonly<Record<string, readonly Row[]>>;

/**
 * A struct as kube-apiserver shows it in messages. It validates internal structs, which have Go's names, in Go's
 * order, including unset fields. `of` is a type from `facts/structs.json`: `core.Toleration`, `[]core.Taint`.
 */
export function internal(of: string, value: Json | undefined): Printed {
  return new Printed(() => shown(of, value));
}

/** Whether two values are equal to kube-apiserver, which does not distinguish absent from empty lists and maps. */
export function isSameInternal(of: string, one: Json | undefined, other: Json | undefined): boolean {
  return isSameJson(one ?? null, other ?? null) || shown(of, one, true) === shown(of, other, true);
}

/** A unified diff of the JSON of two values, as some messages contain. */
export function internalDiff(of: string, before: Json | undefined, after: Json | undefined): string {
  const lines = (value: Json | undefined): string => {
    const spread = JSON.stringify(JSON.parse(shown(of, value)), null, 1);
    return spread.replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
  };
  return unifiedDiff(lines(before), lines(after));
}

/** With `isEqual`, absent values, empty lists and empty maps give the same text. */
function shown(type: string, value: Json | undefined, isEqual = false): string {
  const [, prefix = "", name = ""] = /^(\*|\[\]|\{\})?(.*)$/.exec(type)!;
  const isAbsent = value === undefined || value === null;
  if (!(name in TABLE)) return isAbsent || (isEqual && isEmptyCollection(value)) ? name : goJson(value);
  if (prefix === "") return `{${fieldsOf(name, isObject(value) ? value : {}, isEqual).join(",")}}`;
  if (isAbsent) return "null";
  if (prefix === "*") return shown(name, value, isEqual);
  if (isEqual && isEmptyCollection(value)) return "null";
  if (isArray(value)) return `[${value.map((item) => shown(name, item, isEqual)).join(",")}]`;
  const entries = Object.entries(value as JsonObject).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, item]) => `${goJson(key)}:${shown(name, item, isEqual)}`).join(",")}}`;
}

function fieldsOf(struct: string, value: JsonObject, isEqual: boolean): readonly string[] {
  const given = struct === "core.PodSpec" ? withHostFields(value) : value;
  return TABLE[struct]!.flatMap(([name, type, jsonName = `${name.charAt(0).toLowerCase()}${name.slice(1)}`]) => {
    const field = jsonName === "" ? given : given[jsonName];
    if (name === "") return fieldsOf(type, isObject(field) ? field : {}, isEqual);
    if (!type.endsWith("?")) return [`${goJson(name)}:${shown(type, field, isEqual)}`];
    return isLeftOut(field) ? [] : [`${goJson(name)}:${shown(type.slice(0, -1), field, isEqual)}`];
  });
}

function isEmptyCollection(value: Json): boolean {
  return isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function isLeftOut(value: Json | undefined): boolean {
  return value === undefined || value === null || value === "" || value === 0 || isEmptyCollection(value);
}

const HOST_FIELDS = ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"];

/** The API has the host fields in the pod's spec, the internal struct in its security context. */
function withHostFields(spec: JsonObject): JsonObject {
  if (!isObject(spec.securityContext)) return spec;
  const moved = HOST_FIELDS.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]!] as const]));
  return { ...spec, securityContext: { ...Object.fromEntries(moved), ...spec.securityContext } };
}
