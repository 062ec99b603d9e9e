import { canonicalTime, durationNanos } from "../schema/go-time.js";
import { field, isArray, type Json, type JsonObject } from "../schema/json.js";
import type { Schema } from "../schema/schema.js";
import { Bytes, type CelValue, Duration, Timestamp } from "./value.js";

/** Words that CEL keeps for itself; a field of such a name is spelled `__name__`. */
const KEYWORDS: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);
const OBJECT_META: Schema = {
  type: "object",
  properties: { name: { type: "string" }, generateName: { type: "string" } },
};

/** JSON as rules see it through its schema. Parts that several rules look at are converted once. */
export class SchemaValues {
  readonly #converted = new Map<Json, CelValue>();

  convert(schema: Schema, value: Json, isResource = false): CelValue {
    if (typeof value !== "object" || value === null) return scalar(schema, value);
    const known = this.#converted.get(value);
    if (known !== undefined) return known;
    const converted = isArray(value)
      ? value.map((item) => this.convert(schema.items ?? {}, item))
      : this.#object(schema, value as JsonObject, isResource || schema["x-kubernetes-embedded-resource"] === true);
    this.#converted.set(value, converted);
    return converted;
  }

  #object(schema: Schema, value: JsonObject, isResource: boolean): CelValue {
    const { properties, additionalProperties } = schema;
    const result = new Map<CelValue, CelValue>();
    if (typeof additionalProperties === "object") {
      for (const key of Object.keys(value)) result.set(key, this.convert(additionalProperties, value[key]!));
      return result;
    }
    const declared: Record<string, Schema> = { ...properties };
    if (isResource) {
      declared.apiVersion ??= { type: "string" };
      declared.kind ??= { type: "string" };
      declared.metadata = OBJECT_META;
    }
    for (const [name, property] of Object.entries(declared)) {
      const part = field(value, name);
      if (part === undefined || (part === null && !property.nullable)) continue;
      result.set(fieldName(name), this.convert(property, part));
    }
    return result;
  }
}

/** How a rule spells a field: what CEL does not take in a name is escaped. */
export function fieldName(name: string): string {
  if (KEYWORDS.has(name)) return `__${name}__`;
  return name
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
}

function scalar(schema: Schema, value: null | boolean | number | string): CelValue {
  if (typeof value === "number") {
    const isInt = schema.type === "integer" || (schema.type !== "number" && Number.isInteger(value));
    return isInt ? BigInt(Math.trunc(value)) : value;
  }
  if (typeof value !== "string") return value;
  switch (schema.type === "string" ? schema.format : undefined) {
    case "date":
      return timestamp(`${value}T00:00:00Z`) ?? value;
    case "date-time":
      return timestamp(value) ?? value;
    case "duration":
      return attempt(() => new Duration(durationNanos(value))) ?? value;
    case "byte":
      return new Bytes(Buffer.from(value, "base64"));
    default:
      return value;
  }
}

function timestamp(text: string): Timestamp | undefined {
  return attempt(() => {
    const exact = canonicalTime(text, 6);
    const ms = BigInt(Date.parse(`${exact.slice(0, 19)}Z`));
    return new Timestamp(ms * 1_000_000n + BigInt(exact.slice(20, 26)) * 1000n);
  });
}

function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
