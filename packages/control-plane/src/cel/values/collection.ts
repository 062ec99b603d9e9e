import { Bytes, type CelValue, Failure, Uint } from "./value.js";

export class ListValue {
  static readonly empty = new ListValue([]);
  readonly #items: readonly CelValue[];

  constructor(items: readonly CelValue[]) {
    this.#items = items;
  }

  get items(): readonly CelValue[] {
    return this.#items;
  }

  get length(): number {
    return this.#items.length;
  }

  at(index: number): CelValue | undefined {
    return this.#items[index];
  }

  /** A sum with an empty list is the other list itself, which may have a list type. */
  plus(other: ListValue): CelValue {
    if (this.length === 0) return other;
    return other.length === 0 ? this : new SummedList([...this.items, ...other.items]);
  }

  /** Go's name for it, used in messages. */
  get goType(): string {
    return "*types.baseList";
  }
}

/** The sum of two non-empty lists. */
class SummedList extends ListValue {
  override get goType(): string {
    return "*types.concatList";
  }
}

/** A list that a loop builds. It grows in place, because only the loop sees it before the end. */
export class GrowingList extends ListValue {
  readonly #grown: CelValue[];

  constructor() {
    const grown: CelValue[] = [];
    super(grown);
    this.#grown = grown;
  }

  override plus(other: ListValue): CelValue {
    for (const item of other.items) this.#grown.push(item);
    return this;
  }

  /** The finished list, whose sums no longer change it. Add nothing to this list afterwards. */
  finished(): ListValue {
    return new ListValue(this.#grown);
  }
}

type Key = string | bigint | boolean | number | Exclude<CelValue, Failure>;

/** A map. Equal numbers of different types are one key. Values that are not plain are distinct keys. */
export abstract class MapValue {
  /** Go's name for it, used in messages. */
  get goType(): string {
    return "*types.baseMap";
  }

  abstract readonly size: number;
  abstract readonly keys: readonly CelValue[];
  abstract get(key: CelValue): CelValue | undefined;
}

/** A map that an expression made. */
export class EntryMap extends MapValue {
  readonly #entries: Map<Key, readonly [key: CelValue, value: CelValue]>;

  private constructor(entries: Map<Key, readonly [CelValue, CelValue]>) {
    super();
    this.#entries = entries;
  }

  /** A map of these entries, keeping the last one per key; a failure for an unsupported key. */
  static of(entries: Iterable<readonly [CelValue, CelValue]>): EntryMap | Failure {
    const map = new EntryMap(new Map());
    for (const entry of entries) {
      const key = keyOf(entry[0]);
      if (key === undefined) return UNSUPPORTED_KEY;
      map.#entries.set(key, entry);
    }
    return map;
  }

  get size(): number {
    return this.#entries.size;
  }

  get keys(): readonly CelValue[] {
    return [...this.#entries.values()].map(([key]) => key);
  }

  get(key: CelValue): CelValue | undefined {
    const own = keyOf(key);
    return own === undefined ? UNSUPPORTED_KEY : this.#entries.get(own)?.[1];
  }

  /** A copy with one more entry. */
  with(key: CelValue, value: CelValue): EntryMap | Failure {
    return new EntryMap(new Map(this.#entries)).insert(key, value);
  }

  /** Adds an entry in place. For loops, because only the loop sees its map before the end. */
  insert(key: CelValue, value: CelValue): EntryMap | Failure {
    const own = keyOf(key);
    if (own === undefined) return UNSUPPORTED_KEY;
    if (this.#entries.has(own)) return new Failure(`insert failed: key ${String(own)} already exists`);
    this.#entries.set(own, [key, value]);
    return this;
  }
}

/** An object of a named type that an expression made: `Name{field: value}`. */
export class StructValue extends MapValue {
  readonly name: string;
  readonly #fields: ReadonlyMap<string, CelValue>;

  constructor(name: string, fields: Iterable<readonly [string, CelValue]>) {
    super();
    this.name = name;
    this.#fields = new Map(fields);
  }

  get size(): number {
    return this.#fields.size;
  }

  get keys(): readonly CelValue[] {
    return [...this.#fields.keys()];
  }

  get(key: CelValue): CelValue | undefined {
    return typeof key === "string" ? this.#fields.get(key) : undefined;
  }
}

/** kube-apiserver's message: the key makes it panic. */
const UNSUPPORTED_KEY = new Failure("internal error: runtime error: hash of unhashable type types.Bytes");

function keyOf(value: CelValue): Key | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (value instanceof Uint) return value.value;
  return value instanceof Bytes || value instanceof Failure ? undefined : value;
}
