import { isArray, isObject, type Json, type JsonObject, type MutableJsonObject, setField } from "../../api/json.js";
import type { OpenApiSchema } from "../../facts/schema-graph.js";
import { coreDefaults } from "./core-defaults.js";
import { type Defaulter, whereAbsent, whereEmpty } from "./defaulter.js";
import { groupDefaults } from "./group-defaults.js";

type Components = Readonly<Record<string, OpenApiSchema>>;
/** `known` is a defaulted value from the same place. Parts that the two share need no defaults. */
type Walk = (value: Json, known: Json | undefined) => Json;

const API_STRUCT = /^io\.k8s\.api\.([a-z0-9]+\.v[a-z0-9]+)\.(\w+)$/;

/**
 * kube-apiserver's defaulting of built-in kinds. Each struct has its own defaults, wherever the struct occurs (a
 * Container in a Pod, a Deployment, a Job). The published schemas say where; the tables say what.
 *
 * A struct gets its defaults before its nested structs, as in kube-apiserver.
 */
export class BuiltInDefaults {
  readonly #components: Components;
  readonly #walks = new Map<string, Walk | undefined>();
  /** Components from which a struct with defaults can be reached. Others are skipped. Computed at first use. */
  #relevant: ReadonlySet<string> | undefined;

  constructor(components: Components) {
    this.#components = components;
  }

  /**
   * Applies defaults to an object whose schema is the named component. Shares the parts that need none with the
   * object. `known` is an object with defaults applied; parts shared with it are skipped.
   */
  apply(component: string, object: JsonObject, known?: JsonObject): JsonObject {
    const filled = this.#walkOf(component)?.(object, known);
    return filled === undefined ? object : (filled as JsonObject);
  }

  #walkOf(component: string): Walk | undefined {
    this.#relevant ??= relevantComponents(this.#components);
    if (!this.#relevant.has(component)) return undefined;
    if (this.#walks.has(component)) return this.#walks.get(component);
    // Registered before it is built, because a component may contain itself.
    let made: Walk | undefined;
    this.#walks.set(component, (value, known) => made?.(value, known) ?? value);
    const own = defaulterOf(component, this.#components[component]);
    const fields = Object.entries(this.#components[component]?.properties ?? {}).flatMap(([name, schema]) => {
      const walk = this.#walkInto(schema);
      return walk ? [[name, walk] as const] : [];
    });
    made = (value, known) => (isObject(value) ? walkFields(own?.(value) ?? value, fields, known) : value);
    return made;
  }

  #walkInto(schema: OpenApiSchema): Walk | undefined {
    const component = referenceOf(schema);
    if (component !== undefined) return this.#walkOf(component);
    if (schema.items) {
      const walk = this.#walkInto(schema.items);
      return walk && ((value, known) => (isArray(value) ? walkItems(value, walk, known) : value));
    }
    const values = schema.additionalProperties;
    if (typeof values !== "object") return undefined;
    const walk = this.#walkInto(values);
    return (
      walk &&
      ((value, known) =>
        isObject(value)
          ? walkFields(
              value,
              Object.keys(value).map((key) => [key, walk]),
              known,
            )
          : value)
    );
  }
}

function walkFields(
  object: JsonObject,
  fields: readonly (readonly [string, Walk])[],
  known: Json | undefined,
): JsonObject {
  const before = isObject(known) ? known : undefined;
  let filled: MutableJsonObject | undefined;
  for (const [name, walk] of fields) {
    const value = object[name];
    if (value === undefined || value === null) continue;
    const part = before?.[name];
    if (value === part) continue;
    const next = walk(value, part);
    if (next !== value) setField((filled ??= { ...object }), name, next);
  }
  return filled ?? object;
}

function walkItems(items: readonly Json[], walk: Walk, known: Json | undefined): readonly Json[] {
  const before = isArray(known) ? known : [];
  let filled: Json[] | undefined;
  for (let at = 0; at < items.length; at++) {
    const item = items[at]!;
    if (item === before[at]) continue;
    const next = walk(item, before[at]);
    if (next !== item) (filled ??= [...items])[at] = next;
  }
  return filled ?? items;
}

function referenceOf(schema: OpenApiSchema): string | undefined {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  return reference?.slice(reference.lastIndexOf("/") + 1);
}

/** Structs whose fields with published defaults are pointers: an empty string or a zero is a value there. */
const POINTED: ReadonlySet<string> = new Set(["AzureDiskVolumeSource", "ReplicationControllerSpec"]);

/** The defaults of a struct from the tables, plus the few real defaults in its published schema. */
function defaulterOf(component: string, schema: OpenApiSchema | undefined): Defaulter | undefined {
  const [, group = "", name = ""] = API_STRUCT.exec(component) ?? [];
  const fromTable = group === "core.v1" ? coreDefaults[name] : groupDefaults[group]?.[name];
  const stated = Object.entries(schema?.properties ?? {}).filter(([, property]) => isTrueDefault(property.default));
  if (stated.length === 0) return fromTable;
  const fill = POINTED.has(name) ? whereAbsent : whereEmpty;
  const fromSchema = fill(Object.fromEntries(stated.map(([key, property]) => [key, property.default as Json])));
  return fromTable ? (object) => fromSchema(fromTable(object)) : fromSchema;
}

/** Most published defaults are Go's zero values, which are not written. */
function isTrueDefault(value: unknown): boolean {
  return value !== undefined && value !== "" && value !== 0 && value !== false && typeof value !== "object";
}

function relevantComponents(components: Components): ReadonlySet<string> {
  const usedBy = new Map<string, string[]>();
  const note = (user: string, schema: OpenApiSchema): void => {
    const reference = referenceOf(schema);
    if (reference !== undefined) usedBy.set(reference, [...(usedBy.get(reference) ?? []), user]);
    if (schema.items) note(user, schema.items);
    if (typeof schema.additionalProperties === "object") note(user, schema.additionalProperties);
  };
  for (const [name, schema] of Object.entries(components)) {
    for (const property of Object.values(schema.properties ?? {})) note(name, property);
  }
  const relevant = new Set<string>();
  const queue = Object.keys(components).filter((name) => defaulterOf(name, components[name]) !== undefined);
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (relevant.has(name)) continue;
    relevant.add(name);
    queue.push(...(usedBy.get(name) ?? []));
  }
  return relevant;
}
