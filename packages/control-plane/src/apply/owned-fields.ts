import { isArray, isObject, type Json } from "../api/json.js";
import { type FieldSet, FieldSetBuilder, FieldSetWalk, isEmptySet, recursiveDifference, union } from "./field-set.js";
import { itemElement } from "./list-item.js";
import type { MapType, MergeType } from "./merge-type.js";
import { fieldElement, type PathElement } from "./path-element.js";
import { partFor } from "./typed-validation.js";

/** The fields in a configuration, which its applier owns. */
export function ownedFields(type: MergeType, value: Json): FieldSet {
  const path: PathElement[] = [];
  const owned = new FieldSetWalk(path);
  visit(type, value);
  return owned.done();

  function leave(): void {
    path.pop();
    owned.left();
  }

  function visit(type: MergeType, value: Json): void {
    const part = partFor(type, value);
    if (part === "scalar") owned.insert();
    else if (part === "map") visitMap(type.map!, value);
    else if (part === "list") visitList(type, value);
  }

  function visitMap(map: MapType, value: Json): void {
    if (map.relationship === "atomic") owned.insert();
    if (map.relationship === "atomic" || !isObject(value)) return;
    for (const key in value) {
      const declared = map.fields.get(key);
      const child = value[key]!;
      const fieldType = declared?.type ?? map.others;
      if (fieldType === undefined) continue;
      path.push(declared?.element ?? fieldElement(key));
      visit(fieldType, child);
      if (declared === undefined || child === null || (isObject(child) && isEmptyObject(child))) {
        owned.insert();
      }
      leave();
    }
  }

  function visitList(type: MergeType, value: Json): void {
    const list = type.list!;
    if (list.relationship === "atomic") owned.insert();
    if (list.relationship === "atomic" || !isArray(value)) return;
    const elements = value.map((item) => itemElement(list, item));
    const seen = new Set<PathElement>();
    const repeated = new Set<PathElement>();
    for (const element of elements) {
      if (seen.has(element)) repeated.add(element);
      seen.add(element);
    }
    for (const [index, element] of elements.entries()) {
      path.push(element);
      if (!repeated.has(element)) visit(list.items, value[index]!);
      owned.insert();
      leave();
    }
  }
}

function isEmptyObject(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

/** Adds every declared field on the path to a member: `a.b.c` adds `a.b`. */
export function withNamedFields(type: MergeType | undefined, set: FieldSet): FieldSet {
  const result: Record<PathElement, FieldSet> = {};
  for (const element in set) {
    const node = set[element]!;
    if (element === "." || isEmptySet(node)) {
      result[element] = node;
      continue;
    }
    let child: MergeType | undefined;
    let isDeclared = false;
    if (element[0] === "f" && type?.map !== undefined) {
      const declared = type.map.fields.get(element.slice(2));
      isDeclared = declared !== undefined;
      child = declared?.type ?? type.map.others;
    } else if (element[0] === "k") {
      child = type?.list?.items;
    }
    const named = withNamedFields(child, node);
    result[element] = isDeclared && !("." in named) ? { ".": EMPTY, ...named } : named;
  }
  return result;
}

const EMPTY: FieldSet = Object.freeze({});

/**
 * Adapts a set to the current schema. If a list or object has become atomic since the set was written, its owner now
 * owns the whole. Returns the set itself if nothing changed.
 */
export function reconcileWithType(type: MergeType, set: FieldSet): FieldSet {
  const changed = new FieldSetBuilder();
  let isChanged = false;
  const path: PathElement[] = [];
  visit(type, set, false);
  if (!isChanged) return set;
  const atoms = changed.done();
  return union(recursiveDifference(set, atoms), atoms);

  function visit(type: MergeType, node: FieldSet, isLeaf: boolean): void {
    if (type.map !== undefined) {
      const { map } = type;
      if (map.isDeduced) return;
      if (map.relationship === "atomic" && !isLeaf) {
        if (!isEmptySet(node)) collapse();
        return;
      }
      children(node, (element) =>
        element[0] === "f" ? (map.fields.get(element.slice(2))?.type ?? map.others) : map.others,
      );
    } else if (type.scalar === undefined && type.list !== undefined) {
      const { list } = type;
      if (list.relationship === "atomic" && !isLeaf) collapse();
      else children(node, () => list.items);
    }
  }

  function children(node: FieldSet, typeOf: (element: PathElement) => MergeType | undefined): void {
    for (const element in node) {
      if (element === ".") continue;
      const child = typeOf(element);
      if (child === undefined) continue;
      path.push(element);
      visit(child, node[element]!, isEmptySet(node[element]!));
      path.pop();
    }
  }

  function collapse(): void {
    changed.insert(path);
    isChanged = true;
  }
}
