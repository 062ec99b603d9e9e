import { Buffer } from "node:buffer";
import { copyBytes } from "../../client/transport/copy-bytes.js";
import { SetpointError } from "../../errors/error.js";
import type { Kind } from "../../kinds/kind.js";
import type { KubeObject, ManagedFieldsEntry } from "../../kinds/object.js";
import { headOf, type Incoming } from "../reflector/incoming.js";
import { Column } from "./column.js";
import { Dictionary } from "./dictionary.js";
import { FieldIndexes, type IndexedSlots, type NamespaceSlots } from "./field-indexes.js";
import type { FieldPath } from "./field-path.js";
import { ParsedObjects } from "./parsed-objects.js";
import { startsWith } from "./scan.js";
import type { Term } from "./selection.js";
import { Slabs } from "./slab.js";
import { KeyBytes, type KeyCells, SlotTable } from "./slot-table.js";
import { Snapshot } from "./snapshot.js";

/** The place of one version of an object. A slot belongs to one key, or to a list that is still being collected. */
export type Slot = number;

export interface StoreOptions {
  /**
   * How many parsed objects to keep. By default the last 128, or more if their JSON is within 256 kB; and of those that
   * are read repeatedly, 512 kB of JSON or an eighth of the store.
   */
  readonly maxParsed?: number;
  /** Whether objects are frozen. Defaults to true unless NODE_ENV is `production`. */
  readonly freeze?: boolean;
}

const QUOTE = 0x22;
/** The start of a body without kind and apiVersion, which the server omits in lists, or the decoder removed. */
const HEADLESS = '{"metadata":';
/** How many snapshots to make between two sweeps for dead ones. */
const SNAPSHOT_SWEEP = 4096;
/** A smaller store needs no dictionary: it would use as much as it saves. */
const LEARNS_FROM_BYTES = 64 * 1024;

/**
 * The objects of one kind, each as compact JSON in {@link Slabs}, coded with a {@link Dictionary}, and with the few
 * values that are needed without parsing. Columns of numbers instead of an object for each entry.
 */
export class Store<T extends KubeObject = KubeObject> implements KeyCells, IndexedSlots {
  readonly seed: number;
  readonly #kind: Kind<T>;
  /** The start that bodies omit. */
  readonly #head: string;
  readonly #freeze: boolean;
  readonly #slabs = new Slabs();
  #dictionary = new Dictionary();
  #slots = new SlotTable(this);
  /** The key of the current look-up. */
  readonly #wanted = new KeyBytes();
  /** Keys by namespace; made on first use, then kept up to date. */
  #namespaces: Map<string, Set<string>> | undefined;

  /** A cell has the key, followed by the body's code. */
  readonly #address = new Column((length) => new Uint32Array(length));
  readonly #units = new Column((length) => new Uint32Array(length));
  /** Of the body. */
  readonly #length = new Column((length) => new Uint32Array(length));
  readonly #keyLength = new Column((length) => new Uint32Array(length));
  readonly #uidAt = new Column((length) => new Int32Array(length));
  /** The resourceVersion as a number; -1 if a number cannot represent it exactly, then it is in `#oddRevisions`. */
  readonly #revision = new Column((length) => new Float64Array(length));
  readonly #oddRevisions = new Map<Slot, string>();
  readonly #managedFields = new Map<Slot, string>();
  /** Each text of kept managedFields once, with the number of slots that use it. */
  readonly #interned = new Map<string, { readonly text: string; users: number }>();
  #slotCount = 0;
  readonly #freeSlots: Slot[] = [];
  #bodyBytes = 0;

  readonly #parsed: ParsedObjects<T>;
  readonly #fields = new FieldIndexes(this);
  readonly #snapshots = new Map<Slot, WeakRef<Snapshot<T>>>();
  #snapshotsAtSweep = 0;

  /** `seed` is the seed of the key hash. */
  constructor(kind: Kind<T>, options: StoreOptions = {}, seed = 0) {
    this.seed = seed;
    this.#kind = kind;
    this.#head = headOf({ apiVersion: kind.apiVersion, kind: kind.kind });
    this.#freeze = options.freeze ?? process.env.NODE_ENV !== "production";
    const lengthOf = (slot: Slot): number => this.#length.get(slot);
    this.#parsed = new ParsedObjects({ maxObjects: options.maxParsed, lengthOf, store: this });
  }

  get size(): number {
    return this.#slots.size;
  }

  /** The length of all bodies as JSON; their codes are shorter. */
  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** Bytes that this kind uses: slabs, dictionary, columns and table. */
  get bytes(): number {
    const columns = [this.#address, this.#units, this.#length, this.#keyLength, this.#uidAt, this.#revision];
    const shared = this.#slabs.bytes + this.#dictionary.bytes + this.#slots.bytes;
    return columns.reduce((sum, column) => sum + column.bytes, shared);
  }

  has(key: string): boolean {
    return this.slotOf(key) !== undefined;
  }

  slotOf(key: string): Slot | undefined {
    return this.#slots.get(this.#wanted.set(key));
  }

  /** The slot of the incoming object's key. */
  slotFor(incoming: Incoming): Slot | undefined {
    return this.#slots.get(incoming.keyBytes);
  }

  get(key: string): T | undefined {
    const slot = this.slotOf(key);
    return slot === undefined ? undefined : this.read(slot);
  }

  keys(namespace?: string): Iterable<string> {
    if (namespace === undefined) return this.#allKeys();
    return this.#byNamespace().get(namespace) ?? [];
  }

  keyOf(slot: Slot): string {
    const address = this.#address.get(slot);
    const start = this.#slabs.offset(address);
    return this.#slabs.slab(address).toString("utf8", start, start + this.#keyLength.get(slot));
  }

  isKeyOf(slot: Slot, key: KeyBytes): boolean {
    const { bytes, length } = key;
    if (this.#keyLength.get(slot) !== length) return false;
    const address = this.#address.get(slot);
    const slab = this.#slabs.slab(address);
    const start = this.#slabs.offset(address);
    for (let at = 0; at < length; at++) if (slab[start + at] !== bytes[at]) return false;
    return true;
  }

  resourceVersionOf(slot: Slot): string {
    const revision = this.#revision.get(slot);
    return revision >= 0 ? String(revision) : this.#oddRevisions.get(slot)!;
  }

  /** Whether the slot has the incoming version. */
  holdsVersion(slot: Slot, incoming: Incoming): boolean {
    const { revision } = incoming;
    if (revision !== this.#revision.get(slot)) return false;
    const isSame = revision >= 0 || this.#oddRevisions.get(slot) === incoming.resourceVersion;
    return isSame && this.hasUid(slot, incoming.uid);
  }

  /** Whether the slot has the incoming version with the same kept managedFields. */
  holds(slot: Slot, incoming: Incoming): boolean {
    return (this.#managedFields.get(slot) ?? "") === incoming.managedFields && this.holdsVersion(slot, incoming);
  }

  hasUid(slot: Slot, uid: string): boolean {
    return this.#uid(slot) === uid;
  }

  /** Whether both slots have the same object in any versions, and not another one of the same name. */
  isSameObject(a: Slot, b: Slot): boolean {
    return this.hasUid(a, this.#uid(b));
  }

  /** Copies the incoming object into a new slot without a key. */
  keep(incoming: Incoming): Slot {
    const slot = this.#freeSlots.pop() ?? this.#slotCount++;
    const codeLength = this.#encode(incoming);
    this.#occupy(slot, unitsOf(incoming, codeLength));
    this.#fill(slot, incoming, codeLength);
    return slot;
  }

  /** A table for slots of this store that have no key yet. */
  newTable(): SlotTable {
    return new SlotTable(this);
  }

  /** Assigns the slot to the key; releases its previous slot. */
  assign(key: string, slot: Slot): void {
    const before = this.#slots.set(this.#wanted.set(key), slot);
    this.#fields.set(slot);
    if (before !== undefined) this.release(before);
    else if (this.#namespaces) this.#addToNamespace(key);
  }

  /** Assigns all slots to their keys at once. Only for an empty store. */
  adopt(slots: SlotTable): void {
    this.#slots = slots;
    this.#namespaces = undefined;
    this.#fields.rebuild();
  }

  /** Writes the incoming object under its key, in place if it fits. */
  put(incoming: Incoming): Slot {
    const slot = this.slotFor(incoming);
    if (slot === undefined) {
      const added = this.keep(incoming);
      this.#slots.set(incoming.keyBytes, added);
      this.#fields.set(added);
      if (this.#namespaces) this.#addToNamespace(incoming.key);
      return added;
    }
    this.#forget(slot);
    const codeLength = this.#encode(incoming);
    const units = unitsOf(incoming, codeLength);
    if (!Slabs.fits(units, this.#units.get(slot))) {
      this.#slabs.give(this.#address.get(slot), this.#units.get(slot));
      this.#occupy(slot, units);
    }
    this.#fill(slot, incoming, codeLength);
    this.#fields.set(slot);
    return slot;
  }

  delete(key: string): void {
    const slot = this.#slots.delete(this.#wanted.set(key));
    if (slot === undefined) return;
    this.release(slot);
    if (this.#namespaces) this.#removeFromNamespace(key);
  }

  /** Frees a slot without a key. */
  release(slot: Slot): void {
    this.#forget(slot);
    this.#parsed.release(slot);
    this.#fields.remove(slot);
    this.#slabs.give(this.#address.get(slot), this.#units.get(slot));
    this.#freeSlots.push(slot);
  }

  clear(): void {
    for (const slot of this.#slots) this.#forget(slot);
    this.#slots = new SlotTable(this);
    this.#namespaces = undefined;
    this.#parsed.clear();
    this.#fields.rebuild();
    this.#slabs.clear();
    this.#dictionary = new Dictionary();
    this.#freeSlots.length = 0;
    this.#slotCount = 0;
  }

  /** The slot's object; parses it unless it is cached. */
  read(slot: Slot): T {
    const parsed = this.#parsed.get(slot);
    if (parsed) return parsed;
    const object = this.parse(this.#text(slot), this.#managedFields.get(slot));
    this.#parsed.add(slot, object);
    return object;
  }

  /** The same without counting as a use: for a pass over all objects. */
  peek(slot: Slot): T {
    return this.#parsed.peek(slot) ?? this.parse(this.#text(slot), this.#managedFields.get(slot));
  }

  /** The slots of the selected objects; valid until the store changes. */
  select(namespace: string | undefined, terms: readonly Term[]): readonly Slot[] {
    return this.#fields.select(terms, namespace === undefined ? undefined : this.#namespaceSlots(namespace));
  }

  slots(): Iterable<Slot> {
    return this.#slots;
  }

  textOf(slot: Slot, path: FieldPath): string | undefined {
    return path.textIn(this.#decode(slot), this.#length.get(slot));
  }

  /** This version of the object, for as long as somebody holds the snapshot, even if the slot changes. */
  snapshot(slot: Slot): Snapshot<T> {
    const known = this.#snapshots.get(slot)?.deref();
    if (known) return known;
    if (this.#snapshots.size > this.#snapshotsAtSweep + SNAPSHOT_SWEEP) this.#sweepSnapshots();
    const snapshot = new Snapshot<T>(this, slot, this.resourceVersionOf(slot));
    this.#snapshots.set(slot, new WeakRef(snapshot));
    return snapshot;
  }

  /** The same for a version that is about to be overwritten: it leaves no trace in the store. */
  lastSnapshot(slot: Slot): Snapshot<T> {
    const known = this.#snapshots.get(slot)?.deref();
    if (known) return known;
    const snapshot = new Snapshot<T>(this, -1, this.resourceVersionOf(slot));
    const parsed = this.#parsed.peek(slot);
    if (parsed) snapshot.keep(parsed);
    else snapshot.detach(this.#copy(slot), this.#managedFields.get(slot));
    return snapshot;
  }

  /** A snapshot of an object that is not in the store (the last state of a delete event). */
  loose(incoming: Incoming): Snapshot<T> {
    const body = Buffer.allocUnsafe(incoming.bodyLength);
    incoming.copyBody(body, 0);
    const snapshot = new Snapshot<T>(this, -1, incoming.resourceVersion);
    snapshot.detach(body, incoming.managedFields || undefined);
    return snapshot;
  }

  /** Parses a body: adds what list items omit, and the kept managedFields. */
  parse(text: string, managedFields: string | undefined): T {
    let object: Record<string, unknown>;
    const whole = text.startsWith(HEADLESS) ? this.#head + text.slice(1) : text;
    try {
      object = JSON.parse(whole);
    } catch (cause) {
      throw new SetpointError("INFORMER_BODY_UNREADABLE", `a stored ${this.#kind.kind} is not JSON`, { cause });
    }
    if (object.kind !== this.#kind.kind || object.apiVersion !== this.#kind.apiVersion) {
      object = { ...object, apiVersion: this.#kind.apiVersion, kind: this.#kind.kind };
    }
    if (managedFields) {
      (object.metadata as { managedFields?: unknown }).managedFields = JSON.parse(
        managedFields,
      ) as ManagedFieldsEntry[];
    }
    return this.#frozen(object as unknown as T);
  }

  #frozen(object: T): T {
    return this.#freeze ? (deepFreeze(object) as T) : object;
  }

  #uid(slot: Slot): string {
    const at = this.#uidAt.get(slot);
    const parsed = at < 0 ? this.peek(slot) : this.#parsed.peek(slot);
    if (parsed) return parsed.metadata.uid ?? "";
    const body = this.#decode(slot);
    return body.toString("latin1", at, body.indexOf(QUOTE, at));
  }

  #text(slot: Slot): string {
    return this.#decode(slot).toString("utf8", 0, this.#length.get(slot));
  }

  /** The slot's decoded body; valid until the next use of the dictionary. */
  #decode(slot: Slot): Buffer {
    const address = this.#address.get(slot);
    const start = this.#slabs.offset(address) + this.#keyLength.get(slot);
    return this.#dictionary.decode(this.#slabs.slab(address), start, this.#length.get(slot));
  }

  /** Leaves the body's code in the dictionary; returns its length. */
  #encode(incoming: Incoming): number {
    return this.#dictionary.encode(incoming, this.#slabs.bytes >= LEARNS_FROM_BYTES);
  }

  #occupy(slot: Slot, units: number): void {
    this.#address.set(slot, this.#slabs.take(units));
    this.#units.set(slot, this.#slabs.takenUnits);
  }

  #fill(slot: Slot, incoming: Incoming, codeLength: number): void {
    const address = this.#address.get(slot);
    const slab = this.#slabs.slab(address);
    const offset = this.#slabs.offset(address);
    const { bodyLength, keyBytes } = incoming;
    copyBytes(keyBytes.bytes, 0, keyBytes.length, slab, offset);
    copyBytes(this.#dictionary.coded, 0, codeLength, slab, offset + keyBytes.length);
    this.#length.set(slot, bodyLength);
    this.#keyLength.set(slot, keyBytes.length);
    this.#bodyBytes += bodyLength;
    this.#uidAt.set(slot, incoming.uidAt);
    this.#revision.set(slot, incoming.revision);
    if (this.#revision.get(slot) === -1) this.#oddRevisions.set(slot, incoming.resourceVersion);
    if (incoming.managedFields) this.#managedFields.set(slot, this.#intern(incoming.managedFields));
    if (incoming.parsed) this.#parsed.add(slot, this.#frozen(incoming.parsed as T));
  }

  /** Forgets the slot's current body; snapshots of it get a copy first. */
  #forget(slot: Slot): void {
    const parsed = this.#parsed.peek(slot);
    this.#parsed.overwrite(slot);
    const snapshot = this.#snapshots.get(slot);
    const managedFields = this.#managedFields.get(slot);
    if (snapshot) {
      const held = snapshot.deref();
      if (parsed) held?.keep(parsed);
      else if (held && !held.isParsed) held.detach(this.#copy(slot), managedFields);
      this.#snapshots.delete(slot);
    }
    this.#bodyBytes -= this.#length.get(slot);
    this.#length.set(slot, 0);
    if (this.#revision.get(slot) === -1) this.#oddRevisions.delete(slot);
    if (managedFields !== undefined) {
      this.#managedFields.delete(slot);
      const interned = this.#interned.get(managedFields)!;
      if (--interned.users === 0) this.#interned.delete(managedFields);
    }
  }

  #copy(slot: Slot): Buffer {
    return Buffer.from(this.#decode(slot).subarray(0, this.#length.get(slot)));
  }

  #intern(text: string): string {
    const known = this.#interned.get(text);
    if (known) {
      known.users++;
      return known.text;
    }
    this.#interned.set(text, { text, users: 1 });
    return text;
  }

  *#allKeys(): Iterable<string> {
    const slots = this.#slots;
    for (const slot of slots) {
      if (slots !== this.#slots) return;
      yield this.keyOf(slot);
    }
  }

  #byNamespace(): Map<string, Set<string>> {
    if (!this.#namespaces) {
      this.#namespaces = new Map();
      for (const key of this.#allKeys()) this.#addToNamespace(key);
    }
    return this.#namespaces;
  }

  #namespaceSlots(namespace: string): NamespaceSlots {
    const keys = this.#byNamespace().get(namespace) ?? new Set<string>();
    const prefix = Buffer.from(`${namespace}/`);
    const slotOf = (key: string): Slot => this.slotOf(key)!;
    return {
      size: keys.size,
      *slots() {
        for (const key of keys) yield slotOf(key);
      },
      has: (slot) => {
        const address = this.#address.get(slot);
        return startsWith(this.#slabs.slab(address), this.#slabs.offset(address), prefix);
      },
    };
  }

  #addToNamespace(key: string): void {
    const namespace = namespaceOf(key);
    const keys = this.#namespaces!.get(namespace);
    if (keys) keys.add(key);
    else this.#namespaces!.set(namespace, new Set([key]));
  }

  #removeFromNamespace(key: string): void {
    const namespace = namespaceOf(key);
    const keys = this.#namespaces!.get(namespace);
    if (keys?.delete(key) && keys.size === 0) this.#namespaces!.delete(namespace);
  }

  #sweepSnapshots(): void {
    for (const [slot, snapshot] of this.#snapshots) if (!snapshot.deref()) this.#snapshots.delete(slot);
    this.#snapshotsAtSweep = this.#snapshots.size;
  }
}

export function namespaceOf(key: string): string {
  const slash = key.indexOf("/");
  return slash < 0 ? "" : key.slice(0, slash);
}

/** The units of a cell for a key and the code of a body. */
function unitsOf(incoming: Incoming, codeLength: number): number {
  return Slabs.unitsFor(incoming.keyBytes.length + codeLength);
}

function deepFreeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
