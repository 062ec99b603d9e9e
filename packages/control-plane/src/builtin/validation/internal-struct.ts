import { isSameJson } from "setpoint/kinds";
import { Printed } from "../../api/field-error.js";
import { goJson } from "../../api/go-format.js";
import { isArray, isObject, type Json, type JsonObject } from "../../api/json.js";
import structs from "../../facts/structs.json" with { type: "json" };
import { unifiedDiff } from "./unified-diff.js";

/** The name that is shown ("" where its fields stand in its place), its type, and the JSON name where it is another. */
type Row = readonly [shown: string, type: string, jsonName?: string];

const TABLE = structs as unknown as Readonly<Record<string, readonly Row[]>>;

/**
 * A struct as the real server shows it in its messages: it validates structs of its own, which have Go's names, in Go's
 * order, with everything that is not set. `of` is one of `facts/structs.json`: `core.Toleration`, `[]core.Taint`.
 */
export function internal(of: string, value: Json | undefined): Printed {
  return new Printed(() => shown(of, value));
}

/** Whether two of them are the same to the real server, for which nothing, an empty list and an empty map are one. */
export function isSameInternal(of: string, one: Json | undefined, other: Json | undefined): boolean {
  return isSameJson(one ?? null, other ?? null) || shown(of, one, true) === shown(of, other, true);
}

/** How two of them differ, as it stands under some refusals: a unified difference of their JSON. */
export function internalDiff(of: string, before: Json | undefined, after: Json | undefined): string {
  const lines = (value: Json | undefined): string => {
    const spread = JSON.stringify(JSON.parse(shown(of, value)), null, 1);
    return spread.replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
  };
  return unifiedDiff(lines(before), lines(after));
}

/** `isEqual` makes one text of nothing, empty lists and empty maps. */
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

/** Of the host, the API speaks in the pod's spec and the server in the security context. */
function withHostFields(spec: JsonObject): JsonObject {
  if (!isObject(spec.securityContext)) return spec;
  const moved = HOST_FIELDS.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]!] as const]));
  return { ...spec, securityContext: { ...Object.fromEntries(moved), ...spec.securityContext } };
}
