import type { Schema } from "../../facts/schema.js";
import { META } from "./operation-name.js";
import { definitionRef } from "./swagger-parameters.js";

type Json = Readonly<Record<string, unknown>>;

/** Keywords that OpenAPI v2 does not have. It has `default`, but the real server omits it. */
const UNKNOWN = new Set(["allOf", "anyOf", "oneOf", "not", "nullable", "default"]);

/** Converts the OpenAPI v3 schema of a built-in kind. */
export function builtInSwagger(schema: unknown): Json {
  const source = schema as Json;
  const { allOf, oneOf } = source as {
    readonly allOf?: readonly { readonly $ref?: string }[];
    readonly oneOf?: object;
  };
  const kept = without(source);
  const reference = allOf?.[0]?.$ref ?? (source.$ref as string | undefined);
  return {
    ...kept,
    // An int-or-string is a string in version 2.
    ...(oneOf !== undefined && { type: "string" }),
    ...(reference !== undefined && definitionRef(reference.slice(reference.lastIndexOf("/") + 1))),
    ...parts(source, builtInSwagger),
  };
}

/**
 * Converts a CRD schema to the form that kubectl can read: without `allOf` and the like, and without `nullable`. A part
 * that may hold unknown fields is not described, because clients would reject all other fields.
 */
export function customSwagger(schema: Schema): Json {
  const source = schema as unknown as Json;
  const { nullable, required, properties = {}, additionalProperties } = schema as Schema & { nullable?: boolean };
  const isOpen = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const isVague = nullable === true || isOpen;
  const { type, required: _required, items: _items, properties: _properties, ...rest } = without(source);
  const isMapOfNull = typeof additionalProperties === "object" && isNullable(additionalProperties);
  const stated = isMapOfNull ? [] : (required ?? []).filter((name) => !isNullable(properties[name]));
  const hasType =
    nullable !== true && !(isOpen && type === "object") && !(type === "array" && (isVague || !schema.items));
  const inner = isVague
    ? parts({ additionalProperties }, customSwagger)
    : parts({ items: schema.items, properties: schema.properties, additionalProperties }, customSwagger);
  const made = {
    ...(hasType && type !== undefined && { type }),
    ...(stated.length > 0 && { required: stated }),
    ...rest,
    ...inner,
  };
  return schema["x-kubernetes-embedded-resource"] === true && !isOpen ? withIdentity(made) : made;
}

/** The fields of every object, described as the real server does for custom kinds. */
export const IDENTITY_PROPERTIES = {
  apiVersion: {
    type: "string",
    description:
      "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources",
  },
  kind: {
    type: "string",
    description:
      "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
  },
} as const;

export const METADATA_DESCRIPTION =
  "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
export const LIST_METADATA_DESCRIPTION =
  "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
export const ITEMS_MORE =
  "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

export const METADATA_PROPERTY = { description: METADATA_DESCRIPTION, ...definitionRef(`${META}.ObjectMeta`) };

function withIdentity(schema: Json): Json {
  const { properties = {}, required = [] } = schema as { properties?: Json; required?: readonly string[] };
  return {
    ...schema,
    properties: { ...properties, ...IDENTITY_PROPERTIES, metadata: METADATA_PROPERTY },
    required: [...new Set([...required, "kind", "apiVersion"])],
  };
}

function isNullable(schema: unknown): boolean {
  return (schema as { readonly nullable?: boolean } | undefined)?.nullable === true;
}

function without(source: Json): Json {
  return Object.fromEntries(Object.entries(source).filter(([key]) => !UNKNOWN.has(key) && key !== "$ref"));
}

/** Converts the schemas within a schema. */
function parts(
  { items, properties, additionalProperties }: Json,
  convert: (schema: never) => Json,
): Record<string, unknown> {
  const each = convert as (schema: unknown) => Json;
  return {
    ...(typeof items === "object" && items !== null && { items: each(items) }),
    ...(typeof properties === "object" &&
      properties !== null && {
        properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, each(part)])),
      }),
    ...(typeof additionalProperties === "object" &&
      additionalProperties !== null && { additionalProperties: each(additionalProperties) }),
    ...(typeof additionalProperties === "boolean" && { additionalProperties }),
  };
}
