import type { Json } from "../api/json.js";
import type { Schema } from "../facts/schema.js";
import { fieldElement, type PathElement } from "./path-element.js";

/**
 * How values of a schema merge: which parts are one field with one owner, and which are split. Compiled once per
 * schema. A type from an untyped schema has up to all three parts.
 */
export interface MergeType {
  readonly scalar?: "numeric" | "string" | "boolean" | "untyped";
  readonly list?: ListType;
  readonly map?: MapType;
}

export interface ListType {
  /**
   * `atomic`: the list is one field. Otherwise each item is a field, named by its keys, or without keys by its value.
   */
  readonly relationship: "atomic" | "associative";
  readonly keys: readonly string[];
  readonly items: MergeType;
}

export interface MapType {
  readonly relationship: "atomic" | "separable";
  readonly fields: ReadonlyMap<string, FieldType>;
  /** The type of undeclared fields; undefined if none are allowed. */
  readonly others: MergeType | undefined;
  /** Free-form: no declared fields, any value below. */
  readonly isDeduced: boolean;
}

export interface FieldType {
  readonly element: PathElement;
  readonly type: MergeType;
  /** The value of an absent field. Matters for the keys of list maps. */
  readonly default: Json | undefined;
}

/** Any value, as one field. */
const UNTYPED: MergeType = {
  scalar: "untyped",
  get list(): ListType {
    return UNTYPED_LIST;
  },
  get map(): MapType {
    return UNTYPED_MAP;
  },
};
const UNTYPED_LIST: ListType = { relationship: "atomic", keys: [], items: UNTYPED };
const UNTYPED_MAP: MapType = { relationship: "atomic", fields: new Map(), others: UNTYPED, isDeduced: true };

/** Any value. Objects are split, lists are one field. */
export const DEDUCED: MergeType = {
  scalar: "untyped",
  list: UNTYPED_LIST,
  get map(): MapType {
    return DEDUCED_MAP;
  },
};
const DEDUCED_MAP: MapType = { relationship: "separable", fields: new Map(), others: DEDUCED, isDeduced: true };

/**
 * Compiled types by schema, for schemas within and outside preserved unknown fields. They live as long as the schema.
 */
const compiled: readonly [WeakMap<Schema, MergeType>, WeakMap<Schema, MergeType>] = [new WeakMap(), new WeakMap()];

/** The type of a schema. Without one, the values determine the type. */
export function mergeType(schema: Schema | undefined): MergeType {
  return schema === undefined ? DEDUCED : typeOf(schema, false);
}

function typeOf(schema: Schema, isPreserving: boolean): MergeType {
  const preserves = schema["x-kubernetes-preserve-unknown-fields"] ?? isPreserving;
  const cache = compiled[preserves ? 1 : 0];
  let type = cache.get(schema);
  if (type === undefined) cache.set(schema, (type = compile(schema, preserves)));
  return type;
}

function compile(schema: Schema, preserves: boolean): MergeType {
  switch (schema.type) {
    case "object":
      return { map: mapOf(schema, preserves) };
    case "array":
      return { list: listOf(schema, preserves) };
    case "integer":
    case "number":
      return { scalar: "numeric" };
    case "boolean":
      return { scalar: "boolean" };
    case "string":
      return { scalar: schema.format === undefined || schema.format === "byte" ? "string" : "untyped" };
    default:
      return { scalar: "untyped", list: listOf(schema, preserves), map: mapOf(schema, preserves) };
  }
}

function listOf(schema: Schema, preserves: boolean): ListType {
  const { items } = schema;
  const [relationship, keys] = listRelationship(schema);
  let type: MergeType | undefined;
  return {
    relationship,
    keys,
    get items() {
      return (type ??= items === undefined ? UNTYPED : typeOf(items, preserves));
    },
  };
}

function listRelationship(schema: Schema): [ListType["relationship"], readonly string[]] {
  switch (schema["x-kubernetes-list-type"]) {
    case "map":
      return ["associative", schema["x-kubernetes-list-map-keys"] ?? []];
    case "set":
      return ["associative", []];
    case "atomic":
      return ["atomic", []];
  }
  const strategy = schema["x-kubernetes-patch-strategy"];
  if (strategy !== "merge" && strategy !== "merge,retainKeys") return ["atomic", []];
  const key = schema["x-kubernetes-patch-merge-key"];
  return ["associative", key === undefined ? [] : [key]];
}

function mapOf(schema: Schema, preserves: boolean): MapType {
  const { properties = {}, additionalProperties } = schema;
  let fields: Map<string, FieldType> | undefined;
  return {
    relationship: schema["x-kubernetes-map-type"] === "atomic" ? "atomic" : "separable",
    get fields() {
      if (fields === undefined) {
        fields = new Map();
        for (const [name, property] of Object.entries(properties)) {
          fields.set(name, {
            element: fieldElement(name),
            type: typeOf(property, preserves),
            default: property.default as Json | undefined,
          });
        }
      }
      return fields;
    },
    others: othersOf(schema, preserves),
    isDeduced: Object.keys(properties).length === 0 && typeof additionalProperties !== "object",
  };
}

function othersOf(schema: Schema, preserves: boolean): MergeType | undefined {
  const { properties, additionalProperties } = schema;
  if (typeof additionalProperties === "object") return typeOf(additionalProperties, preserves);
  if (additionalProperties === true) return DEDUCED;
  if (additionalProperties === false) return undefined;
  return preserves || properties === undefined || Object.keys(properties).length === 0 ? DEDUCED : undefined;
}
