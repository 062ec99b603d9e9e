import { isSameJson } from "setpoint/kinds";
import { field, isArray, isObject, type Json, type JsonObject } from "../api/json.js";
import { EMPTY_SET, type FieldSet, FieldSetWalk, isEmptySet, recursiveDifference } from "./field-set.js";
import { itemElement } from "./list-item.js";
import type { ListType, MapType, MergeType } from "./merge-type.js";
import { fieldElement, type PathElement } from "./path-element.js";
import { partFor, scalarProblem, TypedValueError } from "./typed-validation.js";

/** The fields in which two values differ. The sets are disjoint. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

export const SAME: Comparison = { added: EMPTY_SET, modified: EMPTY_SET, removed: EMPTY_SET };

/** Both values must have passed `checkTyped`. */
export function compare(type: MergeType, before: Json, after: Json): Comparison {
  if (before === after) return SAME;
  const walk = new ComparingWalk();
  walk.value(type, before, after);
  return walk.result();
}

export function isSame(comparison: Comparison): boolean {
  return isEmptySet(comparison.added) && isEmptySet(comparison.modified) && isEmptySet(comparison.removed);
}

/** Removes the fields of a set, and everything below them, from a comparison. */
export function excludeFields(comparison: Comparison, fields: FieldSet | undefined): Comparison {
  if (fields === undefined || comparison === SAME) return comparison;
  return {
    added: recursiveDifference(comparison.added, fields),
    modified: recursiveDifference(comparison.modified, fields),
    removed: recursiveDifference(comparison.removed, fields),
  };
}

/** Undefined is an absent value, null an explicit one. At least one side is present. */
class ComparingWalk {
  readonly #path: PathElement[] = [];
  #added: FieldSetWalk | undefined;
  #modified: FieldSetWalk | undefined;
  #removed: FieldSetWalk | undefined;

  result(): Comparison {
    return {
      added: this.#added?.done() ?? EMPTY_SET,
      modified: this.#modified?.done() ?? EMPTY_SET,
      removed: this.#removed?.done() ?? EMPTY_SET,
    };
  }

  #leave(): void {
    this.#path.pop();
    this.#added?.left();
    this.#modified?.left();
    this.#removed?.left();
  }

  value(type: MergeType, before: Json | undefined, after: Json | undefined): void {
    if (before === after) return;
    const partBefore = partFor(type, before);
    const partAfter = partFor(type, after);
    let isLeaf: boolean;
    if (after === undefined) isLeaf = this.#part(type, partBefore, before, after);
    else if (before === undefined || partBefore === partAfter) isLeaf = this.#part(type, partAfter, before, after);
    else {
      this.#part(type, partBefore, before, after);
      isLeaf = this.#part(type, partAfter, before, after);
    }
    if (!isLeaf) this.#presence(before, after);
  }

  /** Compares as one part of a type. Returns whether the value was compared as a whole. */
  #part(
    type: MergeType,
    part: "map" | "scalar" | "list" | undefined,
    before: Json | undefined,
    after: Json | undefined,
  ): boolean {
    if (part === "map") return this.#map(type.map!, before, after);
    if (part === "list") return this.#list(type.list!, before, after);
    if (part === "scalar") {
      const left = scalarProblem(type.scalar!, before, "lhs: ");
      const right = scalarProblem(type.scalar!, after, "rhs: ");
      if (left !== undefined && right !== undefined) {
        throw new TypedValueError([left, right].map((message) => ({ path: "", message })));
      }
      this.#leaf(before, after);
    }
    return true;
  }

  #leaf(before: Json | undefined, after: Json | undefined): void {
    if (before !== undefined && after !== undefined) {
      if (!isSameJson(before, after)) (this.#modified ??= new FieldSetWalk(this.#path)).insert();
    } else {
      this.#presence(before, after);
    }
  }

  #presence(before: Json | undefined, after: Json | undefined): void {
    if (before === undefined) (this.#added ??= new FieldSetWalk(this.#path)).insert();
    else if (after === undefined) (this.#removed ??= new FieldSetWalk(this.#path)).insert();
  }

  #map(type: MapType, before: Json | undefined, after: Json | undefined): boolean {
    const left = nonEmptyObject(before);
    const right = nonEmptyObject(after);
    if (type.relationship === "atomic" || (left === undefined && right === undefined)) {
      this.#leaf(before, after);
      return true;
    }
    if (left !== undefined) {
      for (const key in left) {
        this.#field(type, key, left[key], right === undefined ? undefined : field(right, key));
      }
    }
    if (right !== undefined) {
      for (const key in right) {
        if (left === undefined || !Object.hasOwn(left, key)) this.#field(type, key, undefined, right[key]);
      }
    }
    return false;
  }

  #field(type: MapType, key: string, before: Json | undefined, after: Json | undefined): void {
    if (before === after) return;
    const declared = type.fields.get(key);
    const fieldType = declared?.type ?? type.others;
    if (fieldType === undefined) return;
    this.#path.push(declared?.element ?? fieldElement(key));
    this.value(fieldType, before, after);
    this.#leave();
  }

  #list(type: ListType, before: Json | undefined, after: Json | undefined): boolean {
    const left = nonEmptyArray(before);
    const right = nonEmptyArray(after);
    if (type.relationship === "atomic" || (left === undefined && right === undefined)) {
      this.#leaf(before, after);
      return true;
    }
    const leftItems = byElement(type, left);
    const rightItems = byElement(type, right);
    for (const [element, items] of leftItems) this.#items(type, element, items, rightItems.get(element) ?? []);
    for (const [element, items] of rightItems) {
      if (!leftItems.has(element)) this.#items(type, element, [], items);
    }
    return false;
  }

  /** Compares one item before and after. Several items with the same name are compared together, as one field. */
  #items(type: ListType, element: PathElement, before: readonly Json[], after: readonly Json[]): void {
    this.#path.push(element);
    if (before.length <= 1 && after.length <= 1) {
      this.value(type.items, before[0], after[0]);
    } else if (before.length >= 2 && after.length >= 2) {
      if (!isSameJson(before, after)) (this.#modified ??= new FieldSetWalk(this.#path)).insert();
    } else if (before.length >= 2) {
      if (after.length > 0) this.value(type.items, undefined, after[0]);
      (this.#removed ??= new FieldSetWalk(this.#path)).insert();
    } else {
      if (before.length > 0) this.value(type.items, before[0], undefined);
      (this.#added ??= new FieldSetWalk(this.#path)).insert();
    }
    this.#leave();
  }
}

function byElement(type: ListType, items: readonly Json[] | undefined): Map<PathElement, Json[]> {
  const result = new Map<PathElement, Json[]>();
  for (const item of items ?? []) {
    const element = itemElement(type, item);
    const same = result.get(element);
    if (same === undefined) result.set(element, [item]);
    else same.push(item);
  }
  return result;
}

export function nonEmptyObject(value: Json | undefined): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  for (const _ in value) return value;
  return undefined;
}

export function nonEmptyArray(value: Json | undefined): readonly Json[] | undefined {
  return isArray(value) && value.length > 0 ? value : undefined;
}
