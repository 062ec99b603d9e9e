import { field, isArray, isObject, type Json } from "../api/json.js";
import type { ListType } from "./merge-type.js";
import { OwnershipError } from "./ownership-error.js";
import { keyElement, type PathElement, valueElement } from "./path-element.js";

/** The path element of an item of a set or list map. Throws `ItemError` if it has none. */
export function itemElement(type: ListType, item: Json): PathElement {
  return type.keys.length > 0 ? keyedElement(type, item) : setElement(item);
}

/** An item that a set or a list map cannot hold. */
export class ItemError extends OwnershipError {}

function keyedElement(type: ListType, item: Json): PathElement {
  if (item === null) throw new ItemError("associative list with keys may not have a null element");
  if (!isObject(item)) throw new ItemError("associative list with keys may not have non-map elements");
  const keys: [string, Json][] = [];
  for (const name of type.keys) {
    const value = field(item, name) ?? type.items.map?.fields.get(name)?.default;
    if (Object.hasOwn(item, name)) keys.push([name, item[name]!]);
    else if (value !== undefined && value !== null) keys.push([name, value]);
  }
  if (keys.length === 0) {
    const names = type.keys.map((name) => JSON.stringify(name)).join(" ");
    throw new ItemError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return keyElement(keys);
}

function setElement(item: Json): PathElement {
  if (item === null) throw new ItemError("associative list without keys has an element that's an explicit null");
  if (isArray(item)) throw new ItemError("not supported: associative list with lists as elements");
  if (isObject(item)) throw new ItemError("associative list without keys has an element that's a map type");
  return valueElement(item);
}
