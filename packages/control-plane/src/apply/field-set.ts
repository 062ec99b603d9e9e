import { OwnershipError } from "./ownership-error.js";
import { compareElements, elementText, type PathElement, parseElement } from "./path-element.js";

/**
 * A set of field paths in its wire form, the object under `fieldsV1`: a trie whose edges are path elements. A node is
 * a member of the set if it has no children, or has `.` beside them. So reading and writing `managedFields` costs
 * nothing, and stored sets are shared, never copied.
 *
 * The root is not a path: `{}` is the empty set. Edges are sorted by `compareElements`.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}

type MutableFieldSet = Record<PathElement, FieldSet>;

const SELF = ".";
const LEAF: FieldSet = Object.freeze({});

export const EMPTY_SET: FieldSet = LEAF;

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Paths in either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  if (isEmptySet(a)) return b;
  return unionNodes(a, b);
}

/** Paths in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return intersectNodes(a, b, false) ?? EMPTY_SET;
}

/** Paths in `a` but not in `b`. A path below a member of `b` stays. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return isEmptySet(b) ? a : (subtractNodes(a, b, false) ?? EMPTY_SET);
}

/** Paths in `a` that are neither in `b` nor below a member of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return isEmptySet(b) ? a : (prune(a, b) ?? EMPTY_SET);
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (typeof b !== "object" || b === null) return false;
  let count = 0;
  for (const element in a) {
    const other = b[element];
    if (other === undefined || !equalSets(a[element]!, other)) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}

export function hasPath(set: FieldSet, path: readonly PathElement[]): boolean {
  if (path.length === 0) return false;
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return false;
  }
  return isMember(node);
}

/** Members without a member below them. */
export function leaves(set: FieldSet): FieldSet {
  const result: MutableFieldSet = {};
  for (const element in set) {
    if (element !== SELF) result[element] = leaves(set[element]!);
  }
  return result;
}

/** All members, level by level. */
export function* paths(set: FieldSet, prefix: readonly PathElement[] = []): Generator<readonly PathElement[]> {
  for (const element in set) {
    if (element !== SELF && isMember(set[element]!)) yield [...prefix, element];
  }
  for (const element in set) {
    if (element !== SELF) yield* paths(set[element]!, [...prefix, element]);
  }
}

export function pathText(path: readonly PathElement[]): string {
  return path.map(elementText).join("");
}

/** Builds a set. Paths may come in any order; `done` returns the set with sorted edges. */
export class FieldSetBuilder {
  readonly #root: MutableFieldSet = {};

  insert(path: readonly PathElement[]): void {
    if (path.length === 0) return;
    let node = this.#root;
    const last = path.length - 1;
    for (let index = 0; index < last; index++) node = childNode(node, path[index]!);
    addMember(node, path[last]!);
  }

  done(): FieldSet {
    return ordered(this.#root);
  }
}

/**
 * Builds a set during a walk over a value. Members are added at the current position, which costs nothing to find,
 * however deep it is.
 */
export class FieldSetWalk {
  readonly #path: PathElement[];
  /** The existing nodes on the current path. The root always exists. */
  readonly #nodes: MutableFieldSet[] = [{}];

  /** `path` belongs to the walk. The walk calls `left` when the path gets shorter. */
  constructor(path: PathElement[]) {
    this.#path = path;
  }

  /** Adds the current path. */
  insert(): void {
    const depth = this.#path.length;
    if (depth === 0) return;
    for (let at = this.#nodes.length; at < depth; at++) {
      this.#nodes.push(childNode(this.#nodes[at - 1]!, this.#path[at - 1]!));
    }
    addMember(this.#nodes[depth - 1]!, this.#path[depth - 1]!);
  }

  /** The walk went up: drops the nodes below its path. */
  left(): void {
    const depth = this.#path.length + 1;
    if (this.#nodes.length > depth) this.#nodes.length = depth;
  }

  done(): FieldSet {
    return ordered(this.#nodes[0]!);
  }
}

function childNode(node: MutableFieldSet, element: PathElement): MutableFieldSet {
  const child = node[element];
  if (child === undefined) return (node[element] = {}) as MutableFieldSet;
  if (child === LEAF) return (node[element] = { [SELF]: LEAF }) as MutableFieldSet;
  return child as MutableFieldSet;
}

function addMember(node: MutableFieldSet, element: PathElement): void {
  const child = node[element];
  if (child === undefined) node[element] = LEAF;
  else if (child !== LEAF) (child as MutableFieldSet)[SELF] = LEAF;
}

export function setOf(...members: readonly (readonly PathElement[])[]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of members) builder.insert(path);
  return builder.done();
}

/** Parses a client's `fieldsV1`. Throws if it is malformed. */
export function parseFieldSet(value: unknown): FieldSet {
  return parseNode(value, true) ?? EMPTY_SET;
}

function parseNode(value: unknown, isRoot: boolean): FieldSet | undefined {
  if (value === null) return undefined;
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new OwnershipError(`ReadMapCB: expect { or n, but found ${JSON.stringify(value)?.[0]}`);
  }
  const node: MutableFieldSet = {};
  let isOrdered = true;
  let previous: PathElement | undefined;
  for (const [text, child] of Object.entries(value)) {
    if (text === SELF) {
      if (!isRoot) node[SELF] = LEAF;
      continue;
    }
    const element = parseElement(text);
    if (element === undefined) continue;
    if (previous !== undefined && isOrdered) isOrdered = compareElements(previous, element) < 0;
    previous = element;
    node[element] = parseNode(child, false) ?? LEAF;
  }
  if (isEmptySet(node)) return undefined;
  if (previous === undefined) return LEAF;
  return isOrdered && firstKey(node, SELF) ? node : inOrder(node);
}

function isMember(node: FieldSet): boolean {
  return SELF in node || isEmptySet(node);
}

function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (isEmptySet(a)) return SELF in b || isEmptySet(b) ? b : { [SELF]: LEAF, ...b };
  if (isEmptySet(b)) return SELF in a ? a : { [SELF]: LEAF, ...a };
  return uniteChildren(a, b);
}

function uniteChildren(a: FieldSet, b: FieldSet): FieldSet {
  let result: MutableFieldSet | undefined;
  let grew = false;
  for (const element in b) {
    const mine = (result ?? a)[element];
    if (mine === undefined) {
      result ??= { ...a };
      result[element] = b[element]!;
      grew = true;
    } else {
      const united = unionNodes(mine, b[element]!);
      if (united === mine) continue;
      result ??= { ...a };
      result[element] = united;
    }
  }
  if (result === undefined) return a;
  return grew ? inOrder(result) : result;
}

/** The intersection of two nodes; undefined if empty. `isNode` is true below the root. */
function intersectNodes(a: FieldSet, b: FieldSet, isNode: boolean): FieldSet | undefined {
  const result: MutableFieldSet = {};
  if (isNode && isMember(a) && isMember(b)) result[SELF] = LEAF;
  for (const element in a) {
    if (element === SELF) continue;
    const other = b[element];
    if (other === undefined) continue;
    const both = intersectNodes(a[element]!, other, true);
    if (both !== undefined) result[element] = both;
  }
  return settle(result);
}

function subtractNodes(a: FieldSet, b: FieldSet, isNode: boolean): FieldSet | undefined {
  const isTaken = isNode && isMember(a) && isMember(b);
  if (!isTaken && !haveCommonEdge(a, b)) return a;
  const result: MutableFieldSet = {};
  if (isNode && isMember(a) && !isMember(b)) result[SELF] = LEAF;
  let isChanged = isTaken;
  for (const element in a) {
    if (element === SELF) continue;
    const mine = a[element]!;
    const other = b[element];
    const rest = other === undefined ? mine : subtractNodes(mine, other, true);
    if (rest !== undefined) result[element] = rest;
    if (rest !== mine) isChanged = true;
  }
  return isChanged ? settle(result) : a;
}

/** Most changes leave most of the owned fields alone. A set that loses nothing stays the same object. */
function haveCommonEdge(a: FieldSet, b: FieldSet): boolean {
  for (const element in b) if (element !== SELF && a[element] !== undefined) return true;
  return false;
}

function prune(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (!haveCommonEdge(a, b)) return a;
  const result: MutableFieldSet = {};
  if (SELF in a) result[SELF] = LEAF;
  for (const element in a) {
    if (element === SELF) continue;
    const mine = a[element]!;
    const other = b[element];
    if (other === undefined) {
      result[element] = mine;
    } else if (!isMember(other)) {
      const rest = isEmptySet(mine) ? mine : prune(mine, other);
      if (rest !== undefined) result[element] = rest;
    }
  }
  return settle(result);
}

/** Normalizes a node: a mere member becomes a leaf, an empty node becomes undefined. */
function settle(node: MutableFieldSet): FieldSet | undefined {
  let count = 0;
  for (const _ in node) count++;
  if (count === 0) return undefined;
  return count === 1 && SELF in node ? LEAF : node;
}

function ordered(node: MutableFieldSet): FieldSet {
  for (const element in node) {
    if (element !== SELF && node[element] !== LEAF) node[element] = ordered(node[element] as MutableFieldSet);
  }
  return inOrder(node);
}

/** The node with sorted edges; the node itself if they are sorted. */
function inOrder(node: FieldSet): FieldSet {
  const keys = Object.keys(node);
  let isSorted = true;
  for (let index = 1; index < keys.length && isSorted; index++) {
    isSorted = compareEdges(keys[index - 1]!, keys[index]!) < 0;
  }
  if (isSorted) return node;
  const result: MutableFieldSet = {};
  for (const key of keys.sort(compareEdges)) result[key] = node[key]!;
  return result;
}

function compareEdges(a: string, b: string): number {
  if (a === SELF) return b === SELF ? 0 : -1;
  return b === SELF ? 1 : compareElements(a, b);
}

function firstKey(node: FieldSet, key: string): boolean {
  if (!(key in node)) return true;
  for (const first in node) return first === key;
  return false;
}
