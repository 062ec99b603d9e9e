import type { Json } from "../api/json.js";
import type { Schema } from "../facts/schema.js";
import { fieldElement, type PathElement } from "./path-element.js";

/**
 * How values of a schema merge: what is one field with one owner, and what is taken apart. Compiled once per schema;
 * what an untyped schema allows, a type allows too, so up to all three parts are there.
 */
export interface MergeType {
  readonly scalar?: "numeric" | "string" | "boolean" | "untyped";
  readonly list?: ListType;
  readonly map?: MapType;
}

export interface ListType {
  /** `atomic`: one field. Otherwise each item is one: by its key fields, or, without keys, by its value. */
  readonly relationship: "atomic" | "associative";
  readonly keys: readonly string[];
  readonly items: MergeType;
}

export interface MapType {
  readonly relationship: "atomic" | "separable";
  readonly fields: ReadonlyMap<string, FieldType>;
  /** The type of fields that are not declared; undefined where there must be none. */
  readonly others: MergeType | undefined;
  /** Free-form: no field is declared and any value may stand below. */
  readonly isDeduced: boolean;
}

export interface FieldType {
  readonly element: PathElement;
  readonly type: MergeType;
  /** What the field is where it is absent; matters for the keys of list maps. */
  readonly default: Json | undefined;
}

/** Anything goes, and is one field. */
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

/** Anything goes; objects are taken apart, lists are one field. */
export const DEDUCED: MergeType = {
  scalar: "untyped",
  list: UNTYPED_LIST,
  get map(): MapType {
    return DEDUCED_MAP;
  },
};
const DEDUCED_MAP: MapType = { relationship: "separable", fields: new Map(), others: DEDUCED, isDeduced: true };

/** Where the schemas' types are kept: as long as the schemas, by whether unknown fields are preserved around them. */
const compiled: readonly [WeakMap<Schema, MergeType>, WeakMap<Schema, MergeType>] = [new WeakMap(), new WeakMap()];

/** The type of a schema; without one, everything is deduced from the values. */
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
