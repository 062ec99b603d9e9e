import { isArray, isObject, type Json } from "../api/json.js";

/** A text that is equal for two values if and only if the values are equal. */
export function canonicalText(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const pieces: string[] = [];
  append(value, pieces);
  return pieces.join("");
}

/** Appends to one list of pieces. Building a text per level would copy deeply nested parts once per level. */
function append(value: Json, pieces: string[]): void {
  if (isArray(value)) {
    pieces.push("[");
    for (const item of value) {
      append(item, pieces);
      pieces.push(",");
    }
    pieces.push("]");
  } else if (isObject(value)) {
    pieces.push("{");
    for (const key of Object.keys(value).sort()) {
      pieces.push(JSON.stringify(key), ":");
      append(value[key]!, pieces);
      pieces.push(",");
    }
    pieces.push("}");
  } else pieces.push(JSON.stringify(value));
}
