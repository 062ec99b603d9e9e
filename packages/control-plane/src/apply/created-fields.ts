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

/** A step of an outline: the name of a field or of a list's item, or one of the marks. */
type Step = string | Mark;

/** Numbers, so that no name can be taken for one. */
const MARKS = { absent: 0, same: 1, changed: 2, fields: 3, items: 4, end: 5, owner: 6 } as const;
type Mark = (typeof MARKS)[keyof typeof MARKS];

/**
 * Where outlines that begin alike part. An object's outline is a way through these: its keys and the names of its list
 * items, and where a value is that of the empty object, but no other values. The one owner of an object has no name there:
 * all else alike, the pods of a thousand ReplicaSets have one outline.
 */
export class Outline {
  readonly #next = new Map<Step, Outline>();
  #fields: FieldSet | undefined;
  #owner: PathElement | undefined;
  /** The managed fields of the last such object: those of the next one, where it is of the same writer and second. */
  latest: readonly ManagedFieldsEntry[] | undefined;

  /** What the writer of an object owns whose outline ends here; `owner` is the name of the object's one owner. */
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
 * What the writers of new objects own, by the outline of the object. Most objects of a kind have one of a few outlines,
 * and whoever creates one owns all of it: the sets are made once, and shared.
 */
export class CreatedFields {
  #root = new Outline();
  /** The steps that are kept, by their length. */
  #length = 0;

  /**
   * The outline of a new object of a type: the same one for two objects only where their writers own the same fields, but
   * for the name of their one owner. Undefined where the object does not fit its type, or is too large or too unusual for
   * an outline to be of use.
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

/** Clients choose what their objects look like: both bound what that can take of the memory. */
const MAX_LENGTH = 128 * 1024;
const MAX_OUTLINE_LENGTH = 2048;
/** What a step takes beside its name. */
const STEP_LENGTH = 16;

class OutlineWalk {
  at: Outline;
  /** The length of the steps that no outline had before. */
  grown = 0;
  /** The name of the object's one owner, once that was passed. */
  owner: PathElement | undefined;
  readonly #path: string[] = [];
  #length = 0;

  constructor(root: Outline) {
    this.at = root;
  }

  /** Whether all of the value belongs to an outline. */
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

  /** Whether the outline is still short enough. */
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

/** The same set of an object that has another owner. */
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

/** The sets of a type. They hold for one empty struct and for one set of reset fields; others start anew. */
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
