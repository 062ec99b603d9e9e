import type { KubeObject } from "../kinds/object.js";

/** What a run read. `source` is the kind in its cluster; a read that found nothing counts as much as one that did. */
export type Read =
  | { readonly type: "object"; readonly source: string; readonly key: string }
  | {
      readonly type: "list";
      readonly source: string;
      /** All namespaces where left out. */
      readonly namespace?: string;
      readonly labelSelector?: string;
      /** Made from `labelSelector`; all objects where left out. */
      readonly matches?: (labels: Readonly<Record<string, string>>) => boolean;
      /** A {@link labelId} that all have which it matches: an object's labels then lead to it. */
      readonly label?: string | undefined;
    }
  | { readonly type: "index"; readonly source: string; readonly index: string; readonly value: string };

/** A step of an object of `source`; of an index look-up, `indexed` tells the values before and after. */
export interface ObjectStep {
  readonly source: string;
  readonly key: string;
  readonly old?: KubeObject | undefined;
  readonly object?: KubeObject | undefined;
  readonly indexed?: (index: string) => Iterable<string>;
}

/**
 * Which keys read what, both ways: who must run again when an object changes. Pure and synchronous: a read is known
 * from the moment it happens, so that no change can slip in between.
 */
export class DependencyIndex {
  readonly #readsOf = new Map<string, Map<string, Read>>();
  /** By read, the keys that made it. */
  readonly #readers = new Map<string, { readonly read: Read; readonly keys: Set<string> }>();
  /** By source, how many reads there are of it. Many kinds are watched by controllers that have read none of them yet. */
  readonly #readsIn = new Map<string, number>();
  /** By source, then by place: a list read is looked up by the namespace and a label of what is in it, where it has them. */
  readonly #listReads = new Map<string, Map<string, Set<string>>>();
  /** By source, the indexes that were read, and how many reads there are of each: a value is looked up, not searched. */
  readonly #indexes = new Map<string, Map<string, number>>();

  /** Notes that `key` read something. `id` is the read's, where it is known. */
  add(key: string, read: Read, id = identityOf(read)): void {
    const reads = this.#readsOf.get(key) ?? new Map<string, Read>();
    if (reads.has(id)) return;
    this.#readsOf.set(key, reads.set(id, read));
    const readers = this.#readers.get(id);
    if (readers) {
      readers.keys.add(key);
      return;
    }
    this.#readers.set(id, { read, keys: new Set([key]) });
    this.#readsIn.set(read.source, (this.#readsIn.get(read.source) ?? 0) + 1);
    if (read.type === "index") this.#countIndex(read.source, read.index, 1);
    if (read.type !== "list") return;
    const places = this.#listReads.get(read.source) ?? new Map<string, Set<string>>();
    this.#listReads.set(read.source, places);
    const place = placeOf(read.namespace, read.label);
    places.set(place, (places.get(place) ?? new Set<string>()).add(id));
  }

  /** Forgets the reads of `key` that are not among `kept`: those of an earlier run that the last one did not repeat. */
  retain(key: string, kept: ReadonlySet<string>): void {
    const reads = this.#readsOf.get(key);
    if (!reads) return;
    for (const [id, read] of reads) {
      if (kept.has(id)) continue;
      reads.delete(id);
      this.#removeReader(id, read, key);
    }
    if (reads.size === 0) this.#readsOf.delete(key);
  }

  forget(key: string): void {
    this.retain(key, new Set());
  }

  /** Whether anything of a source was read: where not, no step of it wakes anybody. */
  isRead(source: string): boolean {
    return (this.#readsIn.get(source) ?? 0) > 0;
  }

  /** The keys whose last run read the object, or would read it now. */
  *readersOf(step: ObjectStep): Iterable<string> {
    const direct = this.#readers.get(identityOf({ type: "object", source: step.source, key: step.key }));
    if (direct) yield* direct.keys;
    for (const index of this.#indexes.get(step.source)?.keys() ?? []) {
      for (const value of new Set(step.indexed?.(index) ?? [])) {
        const readers = this.#readers.get(identityOf({ type: "index", source: step.source, index, value }));
        if (readers) yield* readers.keys;
      }
    }
    const places = this.#listReads.get(step.source);
    if (!places?.size) return;
    for (const place of placesOf(step)) {
      for (const id of places.get(place) ?? []) {
        const { read, keys } = this.#readers.get(id)!;
        if (touches(read, step)) yield* keys;
      }
    }
  }

  readsOf(key: string): Iterable<Read> {
    return this.#readsOf.get(key)?.values() ?? [];
  }

  #countIndex(source: string, index: string, by: 1 | -1): void {
    const counts = this.#indexes.get(source) ?? new Map<string, number>();
    const count = (counts.get(index) ?? 0) + by;
    if (count === 0) counts.delete(index);
    else this.#indexes.set(source, counts.set(index, count));
  }

  #removeReader(id: string, read: Read, key: string): void {
    const readers = this.#readers.get(id)!;
    readers.keys.delete(key);
    if (readers.keys.size > 0) return;
    this.#readers.delete(id);
    this.#readsIn.set(read.source, this.#readsIn.get(read.source)! - 1);
    if (read.type === "index") this.#countIndex(read.source, read.index, -1);
    if (read.type !== "list") return;
    const places = this.#listReads.get(read.source)!;
    const place = placeOf(read.namespace, read.label);
    const ids = places.get(place)!;
    ids.delete(id);
    if (ids.size === 0) places.delete(place);
  }
}

export function identityOf(read: Read): string {
  switch (read.type) {
    case "object":
      return `object ${read.source} ${read.key}`;
    case "list":
      return `list ${read.source} ${read.namespace ?? "*"} ${read.labelSelector ?? ""}`;
    case "index":
      return `index ${read.source} ${read.index} ${read.value}`;
  }
}

/** A label with its value, as one text. */
export function labelId(key: string, value: string): string {
  return `${key}=${value}`;
}

function placeOf(namespace: string | undefined, label: string | undefined): string {
  return `${namespace ?? "*"} ${label ?? ""}`;
}

/** The places of all list reads that an object can be in, or have been in. */
function placesOf({ old, object }: ObjectStep): ReadonlySet<string> {
  const places = new Set<string>();
  for (const state of [old, object]) {
    if (!state) continue;
    const { namespace, labels = {} } = state.metadata;
    for (const where of namespace === undefined ? [undefined] : [undefined, namespace]) {
      places.add(placeOf(where, undefined));
      for (const [key, value] of Object.entries(labels)) places.add(placeOf(where, labelId(key, value)));
    }
  }
  return places;
}

function touches(read: Read, step: ObjectStep): boolean {
  if (read.type !== "list") return false;
  return [step.old, step.object].some((object) => {
    if (!object) return false;
    const { namespace, labels } = object.metadata;
    if (read.namespace !== undefined && read.namespace !== namespace) return false;
    return read.matches?.(labels ?? {}) ?? true;
  });
}
