import type { KubeObject } from "../../kinds/object.js";
import type { IndexFunction } from "../informer.js";

/** Keys by the values of an index function. */
export class StoreIndex<T extends KubeObject> {
  readonly values: IndexFunction<T>;
  /** How many shares of an informer read it. */
  users = 0;
  readonly #keysByValue = new Map<string, Set<string>>();
  readonly #valuesByKey = new Map<string, readonly string[]>();

  constructor(values: IndexFunction<T>) {
    this.values = values;
  }

  keys(value: string): Iterable<string> {
    return this.#keysByValue.get(value) ?? [];
  }

  /** The key now has this object, or none. An error of the index function is thrown on. */
  set(key: string, object: T | undefined): void {
    for (const value of this.#valuesByKey.get(key) ?? []) {
      const keys = this.#keysByValue.get(value);
      if (keys?.delete(key) && keys.size === 0) this.#keysByValue.delete(value);
    }
    this.#valuesByKey.delete(key);
    const values = object ? this.values(object) : [];
    if (values.length === 0) return;
    this.#valuesByKey.set(key, values);
    for (const value of values) {
      const keys = this.#keysByValue.get(value);
      if (keys) keys.add(key);
      else this.#keysByValue.set(value, new Set([key]));
    }
  }
}
