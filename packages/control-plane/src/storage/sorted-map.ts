/** The maximum number of entries per node, chosen by measurement (16 to 128 differ by a few percent). */
const CAPACITY = 64;
/** A node with fewer entries than this is merged into a neighbour if both fit into one node. */
const SPARSE = CAPACITY / 4;

interface Leaf<Value> {
  readonly owner: object;
  readonly keys: string[];
  readonly values: Value[];
}

interface Branch<Value> {
  readonly owner: object;
  /** `keys[i]` is not above any key below `children[i]`, and above all keys below `children[i - 1]`; `keys[0]` is unused. */
  readonly keys: string[];
  readonly children: Node<Value>[];
}

type Node<Value> = Leaf<Value> | Branch<Value>;

/**
 * A map in key order with constant-time copies: a B+ tree whose nodes are shared between copies. A tree writes in
 * place only to nodes that it owns. The first write to a shared node copies that node and its ancestors.
 */
export class SortedMap<Value> {
  #root: Node<Value>;
  #size = 0;
  /**
   * Marks the nodes that no other tree can reach. `copy` replaces it, because the copy then shares all present nodes.
   */
  #owner: object = {};

  constructor() {
    this.#root = { owner: this.#owner, keys: [], values: [] };
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): Value | undefined {
    let node = this.#root;
    while ("children" in node) node = node.children[childAt(node, key)]!;
    const at = lowerBound(node.keys, key);
    return node.keys[at] === key ? node.values[at] : undefined;
  }

  set(key: string, value: Value): void {
    this.#root = this.#owned(this.#root);
    const sibling = this.#insert(this.#root, key, value);
    if (!sibling) return;
    this.#root = { owner: this.#owner, keys: ["", firstKey(sibling)], children: [this.#root, sibling] };
  }

  /** Returns whether the key existed. */
  delete(key: string): boolean {
    if (this.get(key) === undefined) return false;
    this.#root = this.#owned(this.#root);
    this.#remove(this.#root, key);
    while ("children" in this.#root && this.#root.children.length === 1) this.#root = this.#root.children[0]!;
    this.#size--;
    return true;
  }

  /** An independent tree with the same entries. Neither tree sees the other's later writes. */
  copy(): SortedMap<Value> {
    const copy = new SortedMap<Value>();
    copy.#root = this.#root;
    copy.#size = this.#size;
    this.#owner = {};
    return copy;
  }

  /**
   * Yields entries in key order, from `start` on (inclusive). Do not write to this tree meanwhile; copies may be
   * written.
   */
  *from(start = ""): Generator<readonly [key: string, value: Value]> {
    const path: { readonly branch: Branch<Value>; next: number }[] = [];
    let node = this.#root;
    while ("children" in node) {
      const at = childAt(node, start);
      path.push({ branch: node, next: at + 1 });
      node = node.children[at]!;
    }
    let at = lowerBound(node.keys, start);
    for (;;) {
      for (; at < node.keys.length; at++) yield [node.keys[at]!, node.values[at]!];
      let step = path.at(-1);
      while (step && step.next === step.branch.children.length) {
        path.pop();
        step = path.at(-1);
      }
      if (!step) return;
      let below: Node<Value> = step.branch.children[step.next++]!;
      while ("children" in below) {
        path.push({ branch: below, next: 1 });
        below = below.children[0]!;
      }
      node = below;
      at = 0;
    }
  }

  #owned<Kind extends Node<Value>>(node: Kind): Kind {
    if (node.owner === this.#owner) return node;
    const copy =
      "children" in node
        ? { owner: this.#owner, keys: node.keys.slice(), children: node.children.slice() }
        : { owner: this.#owner, keys: node.keys.slice(), values: node.values.slice() };
    return copy as Node<Value> as Kind;
  }

  /** Inserts below an owned node. Returns the new right neighbour if the node was split. */
  #insert(node: Node<Value>, key: string, value: Value): Node<Value> | undefined {
    if ("children" in node) {
      const at = childAt(node, key);
      const child = (node.children[at] = this.#owned(node.children[at]!));
      const sibling = this.#insert(child, key, value);
      if (!sibling) return undefined;
      node.keys.splice(at + 1, 0, firstKey(sibling));
      node.children.splice(at + 1, 0, sibling);
      return node.children.length > CAPACITY ? this.#split(node) : undefined;
    }
    const at = lowerBound(node.keys, key);
    if (node.keys[at] === key) {
      node.values[at] = value;
      return undefined;
    }
    node.keys.splice(at, 0, key);
    node.values.splice(at, 0, value);
    this.#size++;
    return node.keys.length > CAPACITY ? this.#split(node, at) : undefined;
  }

  /**
   * Keys that arrive in order (generated names, restores) fill their nodes: an append splits off only the last entry.
   */
  #split(node: Node<Value>, insertedAt?: number): Node<Value> {
    const at = insertedAt === node.keys.length - 1 ? insertedAt : node.keys.length >>> 1;
    const keys = node.keys.splice(at);
    if ("children" in node) return { owner: this.#owner, keys, children: node.children.splice(at) };
    return { owner: this.#owner, keys, values: node.values.splice(at) };
  }

  /** Removes an existing key from below an owned node. */
  #remove(node: Node<Value>, key: string): void {
    if (!("children" in node)) {
      const at = lowerBound(node.keys, key);
      node.keys.splice(at, 1);
      node.values.splice(at, 1);
      return;
    }
    const at = childAt(node, key);
    const child = (node.children[at] = this.#owned(node.children[at]!));
    this.#remove(child, key);
    if (child.keys.length < SPARSE) this.#merge(node, at + 1 < node.children.length ? at : at - 1);
  }

  /** Merges the child right of `at` into the child at `at`, if both fit into one node. */
  #merge(parent: Branch<Value>, at: number): void {
    const left = parent.children[at];
    const right = parent.children[at + 1];
    if (!left || !right || left.keys.length + right.keys.length > CAPACITY) return;
    const target = (parent.children[at] = this.#owned(left));
    if ("children" in target && "children" in right) {
      target.keys.push(parent.keys[at + 1]!, ...right.keys.slice(1));
      target.children.push(...right.children);
    } else if ("values" in target && "values" in right) {
      target.keys.push(...right.keys);
      target.values.push(...right.values);
    }
    parent.keys.splice(at + 1, 1);
    parent.children.splice(at + 1, 1);
  }
}

/** The first position whose key is at or above `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The position of the child that holds `key`. */
function childAt(branch: Branch<unknown>, key: string): number {
  let low = 1;
  let high = branch.keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (branch.keys[middle]! <= key) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Works for both kinds of node, because a split-off branch keeps its first separator in the unused slot. */
function firstKey(node: Node<unknown>): string {
  return node.keys[0]!;
}
