import { FieldPath } from "../../informer/store/field-path.js";
import type { KubeObject } from "../../kinds/object.js";

/** A read of a run. `source` is the kind in its cluster. A read that found nothing counts as well. */
export type Read =
  | { readonly type: "object"; readonly source: string; readonly key: string }
  | {
      readonly type: "list";
      readonly source: string;
      /** Defaults to all namespaces. */
      readonly namespace?: string;
      readonly labelSelector?: string;
      readonly fieldSelector?: string;
      /** Made from the selectors; without it, all objects match. */
      readonly matches?: (object: KubeObject) => boolean;
      /** Labels and fields that every match has, so that an object's own labels and fields lead to the read. */
      readonly shared?: readonly SharedText[];
    }
  | { readonly type: "index"; readonly source: string; readonly index: string; readonly value: string };

/** A label or field, and the value that every match of a list read has there. */
export interface SharedText {
  readonly type: "label" | "field";
  readonly name: string;
  readonly text: string;
}

interface Readers {
  readonly read: Read;
  readonly keys: Set<string>;
  /** For a list read: the shared text that it is indexed by. */
  shared?: SharedText | undefined;
}

/** A change of an object of `source`. For index look-ups, `indexed` has the values before and after. */
export interface ObjectStep {
  readonly source: string;
  readonly key: string;
  readonly old?: KubeObject | undefined;
  readonly object?: KubeObject | undefined;
  readonly indexed?: (index: string) => Iterable<string>;
}

/**
 * Which keys read what, in both directions: which keys must run again when an object changes. Pure and synchronous: a
 * read is recorded at the moment it happens, so that no change is missed.
 */
export class DependencyIndex {
  readonly #readsOf = new Map<string, Map<string, Read>>();
  /** By read, the keys that made it. */
  readonly #readers = new Map<string, Readers>();
  /** By source, the number of its reads. Controllers watch many kinds that no run has read yet. */
  readonly #readsIn = new Map<string, number>();
  /** By source, then by place: the namespace and one label of a list read, if it has them. */
  readonly #listReads = new Map<string, Map<string, Set<string>>>();
  /** By source, the indexes that were read, with the number of reads of each. */
  readonly #indexes = new Map<string, Map<string, number>>();
  /** By source, the fields in selectors of list reads, with the number of reads of each. */
  readonly #fields = new Map<string, Map<string, number>>();

  /** Records that `key` read something. `id` is the identity of the read, if known. */
  add(key: string, read: Read, id = identityOf(read)): void {
    const reads = this.#readsOf.get(key) ?? new Map<string, Read>();
    if (reads.has(id)) return;
    this.#readsOf.set(key, reads.set(id, read));
    const readers = this.#readers.get(id);
    if (readers) {
      readers.keys.add(key);
      return;
    }
    const added: Readers = { read, keys: new Set([key]) };
    this.#readers.set(id, added);
    this.#readsIn.set(read.source, (this.#readsIn.get(read.source) ?? 0) + 1);
    if (read.type === "index") count(this.#indexes, read.source, read.index, 1);
    if (read.type !== "list") return;
    const places = this.#listReads.get(read.source) ?? new Map<string, Set<string>>();
    this.#listReads.set(read.source, places);
    added.shared = fewestReads(places, read);
    if (added.shared?.type === "field") count(this.#fields, read.source, added.shared.name, 1);
    const place = placeOf(read.namespace, added.shared);
    places.set(place, (places.get(place) ?? new Set<string>()).add(id));
  }

  /** Forgets the reads of `key` that are not in `kept`: those of an earlier run that the last one did not repeat. */
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

  /** Whether any key has read from a source: if not, no change there requeues a key. */
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
    for (const place of placesOf(step, this.#fields.get(step.source)?.keys() ?? [])) {
      for (const id of places.get(place) ?? []) {
        const { read, keys } = this.#readers.get(id)!;
        if (touches(read, step)) yield* keys;
      }
    }
  }

  readsOf(key: string): Iterable<Read> {
    return this.#readsOf.get(key)?.values() ?? [];
  }

  #removeReader(id: string, read: Read, key: string): void {
    const readers = this.#readers.get(id)!;
    readers.keys.delete(key);
    if (readers.keys.size > 0) return;
    this.#readers.delete(id);
    this.#readsIn.set(read.source, this.#readsIn.get(read.source)! - 1);
    if (read.type === "index") count(this.#indexes, read.source, read.index, -1);
    if (read.type !== "list") return;
    const places = this.#listReads.get(read.source)!;
    if (readers.shared?.type === "field") count(this.#fields, read.source, readers.shared.name, -1);
    const place = placeOf(read.namespace, readers.shared);
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
      return `list ${read.source} ${read.namespace ?? "*"} ${read.labelSelector ?? ""} ${read.fieldSelector ?? ""}`;
    case "index":
      return `index ${read.source} ${read.index} ${read.value}`;
  }
}

function count(counts: Map<string, Map<string, number>>, source: string, name: string, by: 1 | -1): void {
  const ofSource = counts.get(source) ?? new Map<string, number>();
  const next = (ofSource.get(name) ?? 0) + by;
  if (next === 0) ofSource.delete(name);
  else counts.set(source, ofSource.set(name, next));
}

/**
 * The shared text that the fewest other reads are indexed by. Selectors often begin with a label that all of them have
 * (`app=postgres,cluster=a`): indexed by that one, every change would check every read.
 */
function fewestReads(places: ReadonlyMap<string, ReadonlySet<string>>, read: Read & { type: "list" }) {
  let fewest: SharedText | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const shared of read.shared ?? []) {
    const reads = places.get(placeOf(read.namespace, shared))?.size ?? 0;
    if (reads >= least) continue;
    fewest = shared;
    least = reads;
  }
  return fewest;
}

function placeOf(namespace: string | undefined, shared: SharedText | undefined): string {
  return `${namespace ?? "*"} ${shared ? `${shared.type} ${shared.name}=${shared.text}` : ""}`;
}

/**
 * The places of all list reads that may contain an object, before or after the change. `fields` are those that reads
 * select by.
 */
function placesOf({ old, object }: ObjectStep, fields: Iterable<string>): ReadonlySet<string> {
  const paths = [...fields].map((name) => ({ name, path: FieldPath.ofField(name) }));
  const places = new Set<string>();
  for (const state of [old, object]) {
    if (!state) continue;
    const { namespace, labels = {} } = state.metadata;
    const shared: SharedText[] = Object.entries(labels).map(([name, text]) => ({ type: "label", name, text }));
    for (const { name, path } of paths) shared.push({ type: "field", name, text: path.textOf(state) ?? "" });
    for (const where of namespace === undefined ? [undefined] : [undefined, namespace]) {
      places.add(placeOf(where, undefined));
      for (const each of shared) places.add(placeOf(where, each));
    }
  }
  return places;
}

function touches(read: Read, step: ObjectStep): boolean {
  if (read.type !== "list") return false;
  return [step.old, step.object].some((object) => {
    if (!object) return false;
    if (read.namespace !== undefined && read.namespace !== object.metadata.namespace) return false;
    return read.matches?.(object) ?? true;
  });
}
