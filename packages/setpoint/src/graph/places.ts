import type { Key } from "./resource.js";
import type { Move } from "./state.js";

/** Nodes by place; follows nodes when their ids change. */
export class Places {
  readonly #ids: Key[] = [];
  readonly #byId = new Map<Key, readonly number[]>();

  /** The id at each place. */
  get ids(): readonly Key[] {
    return this.#ids;
  }

  /** The nodes that have not been taken, each once. */
  get left(): readonly Key[] {
    return [...this.#byId.keys()];
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  add(id: Key): void {
    this.#put(id, [this.#ids.length]);
  }

  /** All at once, because nodes may have swapped their ids. */
  move(moves: readonly Move[]): void {
    const taken = moves.map(({ from, to }) => ({ to, places: this.take(from) }));
    for (const { to, places } of taken) this.#put(to, places);
  }

  /** The places of a node, which are then free. */
  take(id: Key): readonly number[] {
    const places = this.#byId.get(id) ?? [];
    this.#byId.delete(id);
    return places;
  }

  #put(id: Key, places: readonly number[]): void {
    if (places.length === 0) return;
    for (const place of places) this.#ids[place] = id;
    this.#byId.set(id, [...(this.#byId.get(id) ?? []), ...places]);
  }
}
