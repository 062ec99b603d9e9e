import { invalidKind, type ResourceOptions } from "./declaration.js";
import type { Schema } from "./schema/json-schema.js";
import { unknownOptions } from "./unknown-options.js";

const KNOWN = {
  spec: true,
  status: true,
  conditions: true,
  scope: true,
  plural: true,
  singular: true,
  shortNames: true,
  categories: true,
  description: true,
  columns: true,
  scale: true,
  selectableFields: true,
  rules: true,
  markers: true,
} as const satisfies Record<keyof ResourceOptions<Schema, Schema>, true>;

const DNS_LABEL = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * Throws `KIND_INVALID` for invalid and unknown options. The compiler finds most of these too, but users of plain
 * JavaScript have none.
 */
export function checkResourceOptions(kind: string, options: object): void {
  if (typeof options !== "object" || options === null) throw invalidKind(kind, "it needs options with a spec");
  const [unknown] = unknownOptions(options, Object.keys(KNOWN));
  if (unknown !== undefined) throw invalidKind(kind, unknown);
  const { spec, conditions, scope, plural, singular, shortNames, categories } = options as Readonly<
    Record<string, unknown>
  >;
  if (spec === undefined) throw invalidKind(`${kind}: spec`, "the schema is missing; use z.object({}) for no fields");
  if (![undefined, true, false].includes(conditions as undefined))
    throw invalidKind(`${kind}: conditions`, "it must be true or false; put your own schema into the status");
  if (![undefined, "Namespaced", "Cluster"].includes(scope as undefined))
    throw invalidKind(`${kind}: scope`, `${JSON.stringify(scope)} is neither "Namespaced" nor "Cluster"`);
  checkNames(`${kind}: plural`, plural === undefined ? [] : [plural]);
  checkNames(`${kind}: singular`, singular === undefined ? [] : [singular]);
  checkNames(`${kind}: shortNames`, shortNames ?? []);
  checkNames(`${kind}: categories`, categories ?? []);
}

function checkNames(where: string, names: unknown): void {
  if (!Array.isArray(names)) throw invalidKind(where, "expected a list");
  const wrong = names.find((name) => typeof name !== "string" || !DNS_LABEL.test(name));
  if (wrong !== undefined) throw invalidKind(where, `${JSON.stringify(wrong)} is not a name in lower-case letters`);
}
