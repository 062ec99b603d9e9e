import { ownField } from "../own-field.js";
import { isSameJson } from "../same-json.js";
import { fieldStep } from "./schema-place.js";
import type { StructuralSchema } from "./structural-schema.js";

/** A way in which a schema accepts less than before. */
export interface SchemaChange {
  readonly path: string;
  readonly message: string;
}

/** Where `after` refuses, drops or reads differently what `before` accepted. Accepting more does not count. */
export function compareSchemas(before: StructuralSchema, after: StructuralSchema): readonly SchemaChange[] {
  const changes: SchemaChange[] = [];
  compare(before, after, "", (path, message) => changes.push({ path: path.replace(/^\./, "") || "object", message }));
  return changes;
}

type Report = (path: string, message: string) => void;

function compare(before: StructuralSchema, after: StructuralSchema, path: string, report: Report): void {
  const [from, to] = [typeOf(before), typeOf(after)];
  if (!isWider(from, to)) {
    report(path, `its type changed from ${from} to ${to}`);
    return;
  }
  if (before.nullable && !after.nullable && to !== "anything") report(path, "it may no longer be null");
  if (before["x-kubernetes-preserve-unknown-fields"] && !after["x-kubernetes-preserve-unknown-fields"]) {
    report(path, "fields that are not declared are no longer kept");
  }
  compareValues(before, after, path, report);
  compareOwnership(before, after, path, report);
  compareFields(before, after, path, report);
  const items = [before.items, after.items] as readonly (StructuralSchema | undefined)[];
  if (items[0] && items[1]) compare(items[0], items[1], `${path}[]`, report);
  const values = [before.additionalProperties, after.additionalProperties];
  if (typeof values[0] === "object" && typeof values[1] === "object")
    compare(values[0], values[1], `${path}.*`, report);
}

function typeOf(schema: StructuralSchema): string {
  if (schema["x-kubernetes-int-or-string"]) return "integer or string";
  if (schema.type === "object" && typeof schema.additionalProperties === "object") return "map";
  return schema.type ?? "anything";
}

function isWider(from: string, to: string): boolean {
  if (from === to || to === "anything") return true;
  if (to === "integer or string") return from === "integer" || from === "string";
  return from === "integer" && to === "number";
}

/** Compares the allowed values of a field. */
function compareValues(before: StructuralSchema, after: StructuralSchema, path: string, report: Report): void {
  const gone =
    after.enum && (before.enum?.filter((value) => !after.enum?.some((other) => isSameJson(other, value))) ?? []);
  if (after.enum && !before.enum)
    report(path, `only ${after.enum.map((value) => JSON.stringify(value)).join(", ")} are allowed now`);
  else if (gone?.length) report(path, `${gone.map((value) => JSON.stringify(value)).join(", ")} is no longer allowed`);
  for (const keyword of ["pattern", "format", "multipleOf"] as const) {
    if (after[keyword] !== undefined && after[keyword] !== before[keyword])
      report(path, `it must have the ${keyword} ${after[keyword]} now`);
  }
  for (const keyword of ["minimum", "minLength", "minItems", "minProperties"] as const) {
    const [old, bound] = [before[keyword] ?? Number.NEGATIVE_INFINITY, after[keyword]];
    if (bound !== undefined && bound > old) report(path, `${keyword} is ${bound} now`);
  }
  for (const keyword of ["maximum", "maxLength", "maxItems", "maxProperties"] as const) {
    const [old, bound] = [before[keyword] ?? Number.POSITIVE_INFINITY, after[keyword]];
    if (bound !== undefined && bound < old) report(path, `${keyword} is ${bound} now`);
  }
  for (const keyword of ["exclusiveMinimum", "exclusiveMaximum"] as const) {
    if (after[keyword] && !before[keyword]) report(path, "its bound itself is no longer allowed");
  }
  for (const keyword of ["anyOf", "allOf", "oneOf", "not"] as const) {
    if (after[keyword] !== undefined && !isSameJson(after[keyword], before[keyword])) {
      report(path, `it has other constraints (${keyword}) now`);
    }
  }
  const known = new Set(before["x-kubernetes-validations"]?.map(({ rule }) => rule));
  for (const { rule, message } of after["x-kubernetes-validations"] ?? []) {
    if (!known.has(rule)) report(path, `it has a new rule: ${message ?? rule}`);
  }
}

/** Compares how server-side apply identifies parts and owners. */
function compareOwnership(before: StructuralSchema, after: StructuralSchema, path: string, report: Report): void {
  const lists = [before["x-kubernetes-list-type"] ?? "atomic", after["x-kubernetes-list-type"] ?? "atomic"];
  if (after.type === "array" && lists[0] !== lists[1])
    report(path, `its list type changed from ${lists[0]} to ${lists[1]}`);
  const keys = [before, after].map((schema) => (schema["x-kubernetes-list-map-keys"] ?? []).join(", "));
  if (lists[0] === "map" && lists[1] === "map" && keys[0] !== keys[1]) {
    report(path, `the keys of its list map changed from ${keys[0]} to ${keys[1]}`);
  }
  const maps = [before["x-kubernetes-map-type"] ?? "granular", after["x-kubernetes-map-type"] ?? "granular"];
  if (maps[0] !== maps[1]) report(path, `its map type changed from ${maps[0]} to ${maps[1]}`);
}

function compareFields(before: StructuralSchema, after: StructuralSchema, path: string, report: Report): void {
  const keepsUnknown = after["x-kubernetes-preserve-unknown-fields"] || typeof after.additionalProperties === "object";
  for (const [name, field] of Object.entries(before.properties ?? {})) {
    const now = ownField(after.properties, name);
    if (now) compare(field, now, `${path}${fieldStep(name)}`, report);
    else if (!keepsUnknown) report(`${path}${fieldStep(name)}`, "it was removed; servers drop it from stored objects");
  }
  for (const name of after.required ?? []) {
    const hasDefault = ownField(after.properties, name)?.default !== undefined;
    if (hasDefault) continue;
    const at = `${path}${fieldStep(name)}`;
    if (!before.required?.includes(name)) report(at, "it is required now");
    else if (ownField(before.properties, name)?.default !== undefined)
      report(at, "it is required and lost its default");
  }
}
