import { isArray, isObject, type Json } from "../api/json.js";

/** A text that two values share if and only if they are equal. */
export function canonicalText(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const pieces: string[] = [];
  append(value, pieces);
  return pieces.join("");
}

/** Into one list of pieces: a text for each level would copy what is nested deep once for each level. */
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
