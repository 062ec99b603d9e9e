import { isSameJson } from "setpoint/kinds";
import { field, isArray, isObject, type Json, type JsonObject } from "../api/json.js";
import { latest, perObject } from "../api/memoized.js";
import type { Message } from "../facts/message.js";
import type { FieldSet } from "./field-set.js";
import { ItemError, itemElement } from "./list-item.js";
import type { ManagedFieldsEntry } from "./managed-fields.js";
import type { ListType, MapType, MergeType } from "./merge-type.js";
import type { PathElement } from "./path-element.js";
import { isTyped } from "./typed-validation.js";

/** A step of an outline: the name of a field or list item, or a mark. */
type Step = string | Mark;

/** Numbers, so that they never equal a name. */
const MARKS = { absent: 0, same: 1, changed: 2, fields: 3, items: 4, end: 5, owner: 6 } as const;
type Mark = (typeof MARKS)[keyof typeof MARKS];

/**
 * A node in the trie of outlines. An object's outline is a path through the trie: its keys, the names of its list
 * items, and where a value equals that of the empty object, but no other values. The outline omits the name of the
 * object's only owner, so that the pods of a thousand ReplicaSets share one outline.
 */
export class Outline {
  readonly #next = new Map<Step, Outline>();
  #fields: FieldSet | undefined;
  #owner: PathElement | undefined;
  /** The managedFields of the last such object. Reused for the next one with the same writer in the same second. */
  latest: readonly ManagedFieldsEntry[] | undefined;

  /** The fields that the writer of an object with this outline owns. `owner` is the name of the object's only owner. */
  fieldsOf(owner: PathElement | undefined): FieldSet | undefined {
    if (this.#fields !== undefined && owner !== this.#owner) {
      this.keep(withOwner(this.#fields, this.#owner!, owner!), owner);
    }
    return this.#fields;
  }

  keep(fields: FieldSet | undefined, owner: PathElement | undefined): void {
    this.#fields = fields;
    this.#owner = owner;
  }

  after(step: Step): Outline | undefined {
    return this.#next.get(step);
  }

  grow(step: Step): Outline {
    const next = new Outline();
    this.#next.set(step, next);
    return next;
  }
}

/**
 * The fields that writers of new objects own, by outline. Most objects of a kind have one of a few outlines, and the
 * creator owns every field. So the sets are built once and shared.
 */
export class CreatedFields {
  #root = new Outline();
  /** The total length of the kept steps. */
  #length = 0;

  /**
   * The outline of a new object. Two objects share an outline only if their writers own the same fields, except for
   * the name of their only owner. Undefined if the object does not fit its type, or is too large or unusual for an
   * outline.
   */
  outlineOf(
    type: MergeType,
    empty: JsonObject,
    object: JsonObject,
  ): { readonly outline: Outline; readonly owner: PathElement | undefined } | undefined {
    if (this.#length > MAX_LENGTH) {
      this.#root = new Outline();
      this.#length = 0;
    }
    const walk = new OutlineWalk(this.#root);
    const isOutlined = walk.visit(type, empty, object);
    this.#length += walk.grown;
    return isOutlined ? { outline: walk.at, owner: walk.owner } : undefined;
  }
}

/** Clients choose the shape of their objects, so both limits bound the memory. */
const MAX_LENGTH = 128 * 1024;
const MAX_OUTLINE_LENGTH = 2048;
/** The memory of a step besides its name. */
const STEP_LENGTH = 16;

class OutlineWalk {
  at: Outline;
  /** The length of the new steps. */
  grown = 0;
  /** The name of the object's only owner, once visited. */
  owner: PathElement | undefined;
  readonly #path: string[] = [];
  #length = 0;

  constructor(root: Outline) {
    this.at = root;
  }

  /** Returns whether the outline can cover the whole value. */
  visit(type: MergeType, before: Json | undefined, value: Json): boolean {
    if (value === null) return false;
    if (isArray(value)) {
      const { list } = type;
      if (list === undefined) return false;
      return list.relationship === "atomic" ? this.#leaf(type, before, value) : this.#items(list, before, value);
    }
    if (isObject(value)) {
      const { map } = type;
      if (map === undefined) return false;
      return map.relationship === "atomic" ? this.#leaf(type, before, value) : this.#fields(map, before, value);
    }
    return type.scalar !== undefined && this.#leaf(type, before, value);
  }

  #leaf(type: MergeType, before: Json | undefined, value: Json): boolean {
    const mark = before === undefined ? MARKS.absent : isSameJson(before, value) ? MARKS.same : MARKS.changed;
    return this.#step(mark) && isTyped(type, value, true);
  }

  #fields(map: MapType, before: Json | undefined, value: JsonObject): boolean {
    if (!this.#step(MARKS.fields)) return false;
    for (const key in value) {
      const type = map.fields.get(key)?.type ?? map.others;
      if (type === undefined || !this.#step(key)) return false;
      this.#path.push(key);
      if (!this.visit(type, isObject(before) ? field(before, key) : undefined, value[key]!)) return false;
      this.#path.pop();
    }
    return this.#step(MARKS.end);
  }

  #items(list: ListType, before: Json | undefined, items: readonly Json[]): boolean {
    if (isArray(before) && before.length > 0) return false;
    if (!this.#step(MARKS.items)) return false;
    const [outer, inner] = this.#path;
    const isOwner =
      items.length === 1 && this.#path.length === 2 && outer === "metadata" && inner === "ownerReferences";
    const names = new Set<string>();
    for (const item of items) {
      const name = nameOf(list, item);
      if (name === undefined || names.has(name)) return false;
      names.add(name);
      if (isOwner) this.owner = name;
      if (!this.#step(isOwner ? MARKS.owner : name) || !this.visit(list.items, undefined, item)) return false;
    }
    return this.#step(MARKS.end);
  }

  /** Returns whether the outline is still short enough. */
  #step(step: Step): boolean {
    const length = typeof step === "string" ? step.length : 1;
    this.#length += length;
    if (this.#length > MAX_OUTLINE_LENGTH) return false;
    const known = this.at.after(step);
    if (known === undefined) this.grown += length + STEP_LENGTH;
    this.at = known ?? this.at.grow(step);
    return true;
  }
}

/** The same set for an object with another owner. */
function withOwner(fields: FieldSet, from: PathElement, to: PathElement): FieldSet {
  const metadata = fields["f:metadata"];
  const { [from]: owner, ...rest } = metadata?.["f:ownerReferences"] ?? {};
  if (owner === undefined) return fields;
  return { ...fields, "f:metadata": { ...metadata, "f:ownerReferences": { ...rest, [to]: owner } } };
}

interface Circumstances {
  readonly message: Message | undefined;
  readonly resetFields: FieldSet | undefined;
}

const byType = perObject((_type: MergeType) =>
  latest(
    (_circumstances: Circumstances) => new CreatedFields(),
    (a, b) => a.message === b.message && a.resetFields === b.resetFields,
  ),
);

/** The sets of a type, valid for one empty struct and one set of reset fields. Others start afresh. */
export function createdFields(
  type: MergeType,
  message: Message | undefined,
  resetFields: FieldSet | undefined,
): CreatedFields {
  return byType(type)({ message, resetFields });
}

function nameOf(list: ListType, item: Json): string | undefined {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (error instanceof ItemError) return undefined;
    throw error;
  }
}
