import { SetpointError } from "../../errors/error.js";
import type { JsonObject } from "../object.js";

/**
 * A schema of any library that follows Standard Schema and outputs JSON Schema (zod and arktype do; valibot through
 * `toStandardJsonSchema` of @valibot/to-json-schema). Setpoint imports none of them.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
    readonly jsonSchema: {
      readonly input: (options: JsonSchemaOptions) => Record<string, unknown>;
      readonly output: (options: JsonSchemaOptions) => Record<string, unknown>;
    };
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export interface StandardResult {
  readonly issues?: readonly StandardIssue[] | undefined;
}

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

interface JsonSchemaOptions {
  readonly target: "draft-2020-12";
  readonly libraryOptions?: Record<string, unknown>;
}

/** JSON Schema (2020-12, or the common subset of older drafts) written by hand. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The schemas that `resource(…)` accepts. */
export type Schema = StandardSchema | JsonSchema;

type Types<S> = S extends { readonly "~standard": { readonly types?: infer T } } ? NonNullable<T> : never;

/** The type that readers get: with defaults. For plain JSON Schema, any JSON object. */
export type OutputOf<S> = S extends { readonly "~standard": unknown }
  ? Types<S>["output" & keyof Types<S>]
  : JsonObject;
/** The type that writers give: fields with a default are optional. */
export type InputOf<S> = S extends { readonly "~standard": unknown } ? Types<S>["input" & keyof Types<S>] : JsonObject;

export function isStandardSchema(schema: Schema): schema is StandardSchema {
  return "~standard" in schema;
}

/** Marks what a library could not express in JSON Schema, so that the error can name its path. */
export const UNREPRESENTABLE = "x-setpoint-unrepresentable";

/** The JSON Schema of what writers give (`input`) or readers get (`output`). */
export function jsonSchemaOf(schema: Schema, side: "input" | "output", path: string): JsonSchema {
  if (!isStandardSchema(schema)) return schema;
  const { jsonSchema, vendor } = schema["~standard"];
  if (!jsonSchema) {
    throw inexpressible(path, `this version of ${vendor} has no JSON Schema; use a version with Standard JSON Schema`);
  }
  try {
    return jsonSchema[side]({
      target: "draft-2020-12",
      ...(vendor === "zod" ? { libraryOptions: zodOptions } : {}),
    });
  } catch (cause) {
    throw inexpressible(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/** zod would throw without a path for what JSON Schema lacks (dates, transforms), so mark it in place instead. */
const zodOptions = {
  unrepresentable: "any",
  override(context: { zodSchema: { _zod: { def: { type: string } } }; jsonSchema: Record<string, unknown> }): void {
    const { type } = context.zodSchema._zod.def;
    if (ZOD_ONLY.has(type)) context.jsonSchema[UNREPRESENTABLE] = type;
  },
};

const ZOD_ONLY: ReadonlySet<string> = new Set([
  ...["bigint", "date", "map", "set", "symbol", "undefined", "void", "nan", "function", "promise", "file"],
  ...["transform", "custom"],
]);

/** The error for what a CustomResourceDefinition cannot express, with its path. */
export function inexpressible(path: string, why: string, cause?: unknown): SetpointError {
  return new SetpointError("SCHEMA_INEXPRESSIBLE", `${path}: ${why}`, cause === undefined ? undefined : { cause });
}
