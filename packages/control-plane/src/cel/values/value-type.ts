import type { Type } from "../types/type.js";
import { ListValue, MapValue, StructValue } from "./collection.js";
import { Bytes, type CelValue, Duration, OpaqueValue, Optional, Timestamp, TypeValue, Uint } from "./value.js";

/** The name of a value's type, as in `type(x)` and in failure messages. */
export function typeName(value: CelValue): string {
  if (value === null) return "null_type";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return "double";
    case "string":
      return "string";
  }
  if (value instanceof Uint) return "uint";
  if (value instanceof Bytes) return "bytes";
  if (value instanceof Timestamp) return "google.protobuf.Timestamp";
  if (value instanceof Duration) return "google.protobuf.Duration";
  if (value instanceof TypeValue) return "type";
  if (value instanceof Optional) return "optional_type";
  if (value instanceof ListValue) return "list";
  if (value instanceof StructValue) return value.name;
  if (value instanceof MapValue) return "map";
  return value instanceof OpaqueValue ? value.type.name : "error";
}

/** Whether a value is a JavaScript primitive other than null. */
export function isPlain(value: CelValue): boolean {
  return ["string", "bigint", "number", "boolean"].includes(typeof value);
}

/** Go's name for the type of a value. */
export function goTypeName(value: CelValue): string {
  const name = typeName(value);
  const short = name.slice(name.lastIndexOf(".") + 1).replace(/_type$/, "");
  return `types.${short.charAt(0).toUpperCase()}${short.slice(1)}`;
}

/** Whether a value may be an argument of this type. Ignores the items of lists and maps. */
export function isOfType(value: CelValue, { kind, name }: Type): boolean {
  switch (kind) {
    case "dyn":
    case "parameter":
      return true;
    default:
      return typeName(value) === name;
  }
}

/** The unit of costs: characters, bytes or items; one for other values. */
export function sizeOf(value: CelValue): number {
  if (typeof value === "string") return characterCount(value);
  if (value instanceof ListValue) return value.length;
  if (value instanceof MapValue || value instanceof OpaqueValue) return value.size;
  if (value instanceof Bytes) return value.value.length;
  if (value instanceof Optional && value.value !== undefined) return sizeOf(value.value);
  return 1;
}

export function characterCount(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code >= 0xd800 && code < 0xdc00) count--;
  }
  return count;
}
