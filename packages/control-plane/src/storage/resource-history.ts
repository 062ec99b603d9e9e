import { SortedMap } from "./sorted-map.js";
import type { Change, StoredObject } from "./storage.js";

/** The number of past trees kept for paged lists. Other trees are rebuilt from the changes. */
const PAST_TREES = 8;

type Tree = SortedMap<StoredObject>;

/** The published objects of one resource, at every revision since the last compaction. */
export class ResourceHistory {
  readonly #tree: Tree;
  /** Remembered changes in revision order. */
  #changes: Change[] = [];
  /** A copy of `#tree` that is still equal to it. */
  #current: Tree | undefined;
  /** Past trees, each with the revision just after which it was current, oldest first. */
  #past: { readonly revision: number; readonly tree: Tree }[] = [];

  /** Starts empty, or from a tree that nobody writes to any more. */
  constructor(tree?: Tree) {
    this.#tree = tree?.copy() ?? new SortedMap();
  }

  get size(): number {
    return this.#tree.size;
  }

  get(key: string): StoredObject | undefined {
    return this.#tree.get(key);
  }

  /** Adds an object without recording a change. Restores the state at the last compaction. */
  restore(stored: StoredObject): void {
    this.#tree.set(stored.key, stored);
  }

  publish(change: Change): void {
    this.#current = undefined;
    if (change.type === "deleted") this.#tree.delete(change.current.key);
    else this.#tree.set(change.current.key, change.current);
    this.#changes.push(change);
  }

  /** The changes after `revision`. */
  after(revision: number): readonly Change[] {
    return this.#changes.slice(this.#position(revision));
  }

  /** The objects at `revision`, which must not be compacted. The caller must not write to the tree. */
  at(revision: number): Tree {
    const last = this.#changes.at(-1)?.revision ?? 0;
    if (last <= revision) {
      if (!this.#current) this.#remember(last, (this.#current = this.#tree.copy()));
      return this.#current;
    }
    const equal = this.#past.findLast((past) => past.revision <= revision);
    if (equal && this.#position(equal.revision) === this.#position(revision)) return equal.tree;
    const newer = this.#past.find((past) => past.revision > revision);
    const tree = (newer?.tree ?? this.#tree).copy();
    const from = this.#position(revision);
    const until = newer ? this.#position(newer.revision) : this.#changes.length;
    for (let at = until - 1; at >= from; at--) undo(tree, this.#changes[at]!);
    this.#remember(revision, tree);
    return tree;
  }

  /** Forgets the changes at or below `revision`. */
  compact(revision: number): void {
    this.#changes = this.#changes.slice(this.#position(revision));
    this.#past = this.#past.filter((past) => past.revision >= revision);
  }

  #remember(revision: number, tree: Tree): void {
    const at = this.#past.findIndex((past) => past.revision > revision);
    this.#past.splice(at < 0 ? this.#past.length : at, 0, { revision, tree });
    if (this.#past.length > PAST_TREES) this.#past.shift();
  }

  /** The position of the first change after `revision`. */
  #position(revision: number): number {
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#changes[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function undo(tree: Tree, change: Change): void {
  if (change.previous) tree.set(change.previous.key, change.previous);
  else tree.delete(change.current.key);
}
