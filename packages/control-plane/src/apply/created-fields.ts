import type { Message } from "../facts/message.js";
import { deepEqual, field, isArray, isObject, type Json, type JsonObject } from "../schema/json.js";
import type { FieldSet } from "./field-set.js";
import { ItemError, itemElement } from "./list-item.js";
import type { ListType, MapType, MergeType } from "./merge-type.js";
import { isTyped } from "./typed-validation.js";

/**
 * What the writers of new objects own, by the outline of the object. Most objects of a kind have one of a few outlines,
 * and whoever creates one owns all of it: the sets are made once, and shared.
 */
export class CreatedFields {
  readonly #sets = new Map<string, FieldSet>();

  get(outline: string): FieldSet | undefined {
    return this.#sets.get(outline);
  }

  /** Keeps a set for the next object of this outline. */
  keep(outline: string, fields: FieldSet): void {
    if (this.#sets.size >= MAX_OUTLINES) this.#sets.clear();
    this.#sets.set(outline, fields);
  }
}

/** Clients choose what their objects look like: both bound what that can take of the memory. */
const MAX_OUTLINES = 64;
const MAX_OUTLINE_LENGTH = 2048;

interface Circumstances {
  readonly message: Message | undefined;
  readonly resetFields: FieldSet | undefined;
  readonly created: CreatedFields;
}

const byType = new WeakMap<MergeType, Circumstances>();

/** The sets of a type. They hold for one empty struct and for one set of reset fields; others start anew. */
export function createdFields(
  type: MergeType,
  message: Message | undefined,
  resetFields: FieldSet | undefined,
): CreatedFields {
  const known = byType.get(type);
  if (known && known.message === message && known.resetFields === resetFields) return known.created;
  const created = new CreatedFields();
  byType.set(type, { message, resetFields, created });
  return created;
}

/**
 * A text that is the same for two new objects of a type only where their writers own the same fields: keys, names of
 * list items, and where a value is that of the `empty` object. Undefined where the object does not fit its type, or is
 * too large or too unusual for an outline to be of use.
 */
export function outlineOf(type: MergeType, empty: JsonObject, object: JsonObject): string | undefined {
  let outline = "";
  return visit(type, empty, object) && outline.length <= MAX_OUTLINE_LENGTH ? outline : undefined;

  function visit(type: MergeType, before: Json | undefined, value: Json): boolean {
    if (value === null || outline.length > MAX_OUTLINE_LENGTH) return false;
    if (isArray(value)) {
      const { list } = type;
      if (list === undefined) return false;
      return list.relationship === "atomic" ? leaf(type, before, value) : visitItems(list, before, value);
    }
    if (isObject(value)) {
      const { map } = type;
      if (map === undefined) return false;
      return map.relationship === "atomic" ? leaf(type, before, value) : visitFields(map, before, value);
    }
    return type.scalar !== undefined && leaf(type, before, value);
  }

  function leaf(type: MergeType, before: Json | undefined, value: Json): boolean {
    outline += before === undefined ? "." : deepEqual(before, value) ? "=" : "!";
    return isTyped(type, value, true);
  }

  function visitFields(map: MapType, before: Json | undefined, value: JsonObject): boolean {
    outline += "{";
    for (const key in value) {
      const type = map.fields.get(key)?.type ?? map.others;
      if (type === undefined) return false;
      // With its length: no key can be taken for the outline of another.
      outline += `${key.length}:${key}`;
      if (!visit(type, isObject(before) ? field(before, key) : undefined, value[key]!)) return false;
    }
    outline += "}";
    return true;
  }

  function visitItems(list: ListType, before: Json | undefined, items: readonly Json[]): boolean {
    if (isArray(before) && before.length > 0) return false;
    const names = new Set<string>();
    outline += "[";
    for (const item of items) {
      const name = nameOf(list, item);
      if (name === undefined || names.has(name)) return false;
      names.add(name);
      outline += `${name.length}:${name}`;
      if (!visit(list.items, undefined, item)) return false;
    }
    outline += "]";
    return true;
  }
}

function nameOf(list: ListType, item: Json): string | undefined {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (error instanceof ItemError) return undefined;
    throw error;
  }
}
