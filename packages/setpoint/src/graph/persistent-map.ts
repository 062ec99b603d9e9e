interface Leaf<Value> {
  readonly key: string;
  value: Value;
}

interface Branch<Value> {
  /** The map that made the branch, which may change it in place. */
  readonly owner: object | undefined;
  /** Which of the 32 places are taken; `COLLISION` if all entries have the same hash, in no order. */
  bitmap: number;
  readonly slots: (Leaf<Value> | Branch<Value>)[];
}

const BITS = 5;
const COLLISION_SHIFT = 35;

/**
 * An immutable map from strings that shares everything unchanged with its predecessor: a change costs a few short
 * arrays, however large the map is. Changes by the same `owner` are made in place, so that a batch costs little more
 * than in a `Map`. The order of iteration depends only on the keys, never on the order of insertion.
 */
export class PersistentMap<Value> {
  readonly size: number;
  readonly #root: Branch<Value>;

  private constructor(root: Branch<Value>, size: number) {
    this.#root = root;
    this.size = size;
  }

  static empty<Value>(): PersistentMap<Value> {
    return new PersistentMap<Value>({ owner: undefined, bitmap: 0, slots: [] }, 0);
  }

  get(key: string): Value | undefined {
    const hash = hashOf(key);
    let branch = this.#root;
    for (let shift = 0; shift < COLLISION_SHIFT; shift += BITS) {
      const bit = 1 << ((hash >>> shift) & 31);
      if ((branch.bitmap & bit) === 0) return undefined;
      const slot = branch.slots[placeOf(branch.bitmap, bit)]!;
      if (!isBranch(slot)) return slot.key === key ? slot.value : undefined;
      branch = slot;
    }
    return branch.slots.find((slot): slot is Leaf<Value> => !isBranch(slot) && slot.key === key)?.value;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: Value, owner?: object): PersistentMap<Value> {
    const change = { added: false };
    const root = withEntry(this.#root, 0, hashOf(key), { key, value }, owner, change);
    return new PersistentMap(root, this.size + (change.added ? 1 : 0));
  }

  delete(key: string, owner?: object): PersistentMap<Value> {
    const root = withoutEntry(this.#root, 0, hashOf(key), key, owner);
    return root === undefined ? this : new PersistentMap(root, this.size - 1);
  }

  *keys(): IterableIterator<string> {
    for (const { key } of leaves(this.#root)) yield key;
  }

  *values(): IterableIterator<Value> {
    for (const { value } of leaves(this.#root)) yield value;
  }
}

function withEntry<Value>(
  branch: Branch<Value>,
  shift: number,
  hash: number,
  leaf: Leaf<Value>,
  owner: object | undefined,
  change: { added: boolean },
): Branch<Value> {
  const target = owned(branch, owner);
  if (shift >= COLLISION_SHIFT) {
    const at = target.slots.findIndex((slot) => !isBranch(slot) && slot.key === leaf.key);
    change.added = at < 0;
    target.slots[at < 0 ? target.slots.length : at] = leaf;
    return target;
  }
  const bit = 1 << ((hash >>> shift) & 31);
  const at = placeOf(target.bitmap, bit);
  const present = (target.bitmap & bit) !== 0 ? target.slots[at] : undefined;
  if (present === undefined) {
    target.slots.splice(at, 0, leaf);
    target.bitmap |= bit;
    change.added = true;
  } else if (isBranch(present)) {
    target.slots[at] = withEntry(present, shift + BITS, hash, leaf, owner, change);
  } else if (present.key === leaf.key) {
    target.slots[at] = leaf;
  } else {
    const inner: Branch<Value> = { owner, bitmap: 0, slots: [] };
    const first = withEntry(inner, shift + BITS, hashOf(present.key), present, owner, change);
    target.slots[at] = withEntry(first, shift + BITS, hash, leaf, owner, change);
  }
  return target;
}

/** Undefined if the key is missing. */
function withoutEntry<Value>(
  branch: Branch<Value>,
  shift: number,
  hash: number,
  key: string,
  owner: object | undefined,
): Branch<Value> | undefined {
  const isCollision = shift >= COLLISION_SHIFT;
  const bit = isCollision ? 0 : 1 << ((hash >>> shift) & 31);
  if (!isCollision && (branch.bitmap & bit) === 0) return undefined;
  const at = isCollision
    ? branch.slots.findIndex((slot) => !isBranch(slot) && slot.key === key)
    : placeOf(branch.bitmap, bit);
  const present = branch.slots[at];
  if (present === undefined) return undefined;
  let inner: Leaf<Value> | Branch<Value> | undefined;
  if (isBranch(present)) {
    const left = withoutEntry(present, shift + BITS, hash, key, owner);
    if (left === undefined) return undefined;
    const only = left.slots.length === 1 ? left.slots[0] : undefined;
    inner = only && !isBranch(only) ? only : left.slots.length === 0 ? undefined : left;
  } else if (present.key !== key) return undefined;
  const target = owned(branch, owner);
  if (inner) target.slots[at] = inner;
  else {
    target.slots.splice(at, 1);
    target.bitmap &= ~bit;
  }
  return target;
}

function owned<Value>(branch: Branch<Value>, owner: object | undefined): Branch<Value> {
  if (owner !== undefined && branch.owner === owner) return branch;
  return { owner, bitmap: branch.bitmap, slots: branch.slots.slice() };
}

function* leaves<Value>(branch: Branch<Value>): IterableIterator<Leaf<Value>> {
  for (const slot of branch.slots) {
    if (isBranch(slot)) yield* leaves(slot);
    else yield slot;
  }
}

function isBranch<Value>(slot: Leaf<Value> | Branch<Value>): slot is Branch<Value> {
  return "slots" in slot;
}

/** How many taken places come before this one. */
function placeOf(bitmap: number, bit: number): number {
  let ones = bitmap & (bit - 1);
  ones -= (ones >>> 1) & 0x55555555;
  ones = (ones & 0x33333333) + ((ones >>> 2) & 0x33333333);
  return Math.imul((ones + (ones >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** FNV-1a with a final mix, because the low bits are used first and must depend on all characters. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
