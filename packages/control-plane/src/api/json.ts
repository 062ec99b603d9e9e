import type { KubeObject } from "setpoint";

/** A value from `JSON.parse`. Functions on it never change their arguments. Their results may share parts with them. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/** An object under construction. Only its creator has access to it. */
export type MutableJsonObject = Record<string, Json>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** The object's own field, not one of `Object.prototype`. */
export function field(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets a field whose name comes from a request. `__proto__` becomes an ordinary field, not the prototype. */
export function setField(object: MutableJsonObject, key: string, value: Json): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/** A copy of the object with one field set. */
export function withField(object: JsonObject, key: string, value: Json): JsonObject {
  const copy: MutableJsonObject = { ...object };
  setField(copy, key, value);
  return copy;
}

/** A copy of the object without one field. The object itself if it does not have the field. */
export function withoutField(object: JsonObject, key: string): JsonObject {
  if (!Object.hasOwn(object, key)) return object;
  const copy: MutableJsonObject = { ...object };
  delete copy[key];
  return copy;
}

/** The same object, typed as JSON. */
export function asJson<Value extends KubeObject | undefined>(
  object: Value,
): Value extends undefined ? undefined : JsonObject {
  return object as unknown as Value extends undefined ? undefined : JsonObject;
}
