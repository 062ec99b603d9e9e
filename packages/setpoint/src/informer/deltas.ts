import type { KubeObject } from "../kinds/object.js";
import type { HandlerStep } from "./listener.js";
import type { Incoming } from "./reflector/incoming.js";
import { isNewer, isOlder } from "./reflector/revision.js";
import { KeyBytes, type SlotTable } from "./store/slot-table.js";
import type { Slot, Store } from "./store/store.js";
import { namespaceOf } from "./store/store.js";

export type WatchEventType = "ADDED" | "MODIFIED" | "DELETED";

/** A list that is being collected: nothing of it is visible until it replaces the previous content at once. */
export interface Stage {
  /** How many own writes had been observed when the list began. */
  readonly ownWritesBefore: number;
  /** Keys of listed objects that the store already has. */
  readonly known: Set<string>;
  /** Listed objects that the store lacks, kept until the list is complete. */
  readonly slots: SlotTable;
}

/** The part of one reflector: a namespace, or all. */
export interface Partition {
  readonly namespace: string | undefined;
  /** Everything up to this resourceVersion has been seen; empty before the first list. */
  resourceVersion: string;
  isSynced: boolean;
}

export interface DeltaSink<T extends KubeObject> {
  /** False while there are no handlers: no old state is kept then. */
  isNeeded(): boolean;
  /** False while `changed` has no listener. */
  isTracking(): boolean;
  /**
   * Called when the store already shows the step. `isEvent`: the step is a whole watch event, so handlers may run
   * during the call.
   */
  push(step: HandlerStep<T>, isEvent: boolean): void;
  /** An object that a list brought again unchanged. */
  unchanged(key: string): void;
  changed(key: string): void;
}

/** An own write that the watch has not shown yet. */
interface OwnWrite {
  readonly resourceVersion: string;
  readonly sequence: number;
}

/**
 * Applies the server's data to the store, strictly in order, and derives the steps for handlers. A list replaces
 * everything at once: first deletes, then its objects; handlers run when all of it is in place.
 *
 * Own writes may run ahead of the watch. Until the watch reaches them, older data changes nothing; newer data always
 * counts. resourceVersions are compared only while such a write is outstanding, so that a server whose history was
 * reset is still believed.
 */
export class Deltas<T extends KubeObject> {
  readonly #store: Store<T>;
  readonly #sink: DeltaSink<T>;
  readonly #ownWrites = new Map<string, OwnWrite>();
  #ownWriteCount = 0;

  constructor(store: Store<T>, sink: DeltaSink<T>) {
    this.#store = store;
    this.#sink = sink;
  }

  /** Applies one watch event. */
  apply(type: WatchEventType, incoming: Incoming, partition: Partition): void {
    const { key } = incoming;
    const own = this.#ownWrites.get(key);
    const { resourceVersion } = incoming;
    const isOld = own !== undefined && isOlder(resourceVersion, own.resourceVersion);
    if (!isOld) {
      if (own) this.#ownWrites.delete(incoming.key);
      if (type === "DELETED") this.#remove(incoming, true);
      // The echo of an own write: the store already has that response.
      else if (own?.resourceVersion !== resourceVersion || !this.#store.has(incoming.key)) this.#set(incoming, true);
    }
    if (resourceVersion) partition.resourceVersion = resourceVersion;
  }

  /** Everything up to this resourceVersion has been seen. */
  advance(partition: Partition, resourceVersion: string): void {
    if (!resourceVersion) return;
    partition.resourceVersion = resourceVersion;
    this.#dropReached(partition);
  }

  /** Whether the response to an own write is newer than everything known about its object. */
  isNews(key: string, resourceVersion: string, partition: Partition): boolean {
    if (partition.isSynced && !isNewer(resourceVersion, partition.resourceVersion)) return false;
    const own = this.#ownWrites.get(key);
    if (own && !isNewer(resourceVersion, own.resourceVersion)) return false;
    const slot = this.#store.slotOf(key);
    return slot === undefined || isNewer(resourceVersion, this.#store.resourceVersionOf(slot));
  }

  /** Applies the response to an own write, which must be news. */
  observe(incoming: Incoming, isInScope: boolean): void {
    const { key, resourceVersion } = incoming;
    this.#ownWrites.set(key, { resourceVersion, sequence: ++this.#ownWriteCount });
    if (isInScope) this.#set(incoming, false);
    else this.#remove(incoming, false);
  }

  beginList(): Stage {
    return { ownWritesBefore: this.#ownWriteCount, known: new Set(), slots: this.#store.newTable() };
  }

  /** Collects one object of a list, or of a stream's initial events. An unchanged object costs no memory. */
  stage(stage: Stage, incoming: Incoming): void {
    this.unstage(stage, incoming);
    const live = this.#store.size > 0 ? this.#store.slotFor(incoming) : undefined;
    if (live !== undefined && this.#store.holds(live, incoming)) stage.known.add(incoming.key);
    else stage.slots.set(incoming.keyBytes, this.#store.keep(incoming));
  }

  unstage(stage: Stage, incoming: Incoming): void {
    if (stage.known.size > 0) stage.known.delete(incoming.key);
    const staged = stage.slots.delete(incoming.keyBytes);
    if (staged !== undefined) this.#store.release(staged);
  }

  abandon(stage: Stage): void {
    for (const slot of stage.slots) this.#store.release(slot);
  }

  /**
   * Replaces the content of the partition with the list. `isNewest`: the server answered with the newest state, so own
   * writes from before the list no longer take precedence.
   */
  replace(stage: Stage, resourceVersion: string, partition: Partition, isNewest: boolean): void {
    const isInitialList = !partition.isSynced;
    const runsAhead = (key: string): boolean => {
      const own = this.#ownWrites.get(key);
      if (!own || !isNewer(own.resourceVersion, resourceVersion)) return false;
      return !isNewest || own.sequence > stage.ownWritesBefore;
    };
    const staged = new KeyBytes();
    for (const key of this.#store.size > 0 ? [...this.#store.keys(partition.namespace)] : []) {
      const isListed = stage.known.has(key) || stage.slots.get(staged.set(key)) !== undefined;
      if (!isListed && !runsAhead(key)) this.#lose(key);
    }
    if (this.#store.size === 0 && this.#ownWrites.size === 0) this.#adopt(stage.slots, isInitialList);
    else this.#replaceAll(stage, runsAhead, isInitialList);
    for (const key of [...this.#ownWrites.keys()]) {
      if (isWithin(key, partition) && !runsAhead(key)) this.#ownWrites.delete(key);
    }
    partition.resourceVersion = resourceVersion;
    partition.isSynced = true;
  }

  #adopt(slots: SlotTable, isInitialList: boolean): void {
    this.#store.adopt(slots);
    if (!this.#sink.isNeeded() && !this.#sink.isTracking()) return;
    for (const slot of slots) this.#added(this.#store.keyOf(slot), slot, isInitialList);
  }

  #replaceAll(stage: Stage, runsAhead: (key: string) => boolean, isInitialList: boolean): void {
    for (const key of stage.known) {
      if (!runsAhead(key) && this.#store.has(key)) this.#sink.unchanged(key);
    }
    for (const slot of stage.slots) {
      const key = this.#store.keyOf(slot);
      if (runsAhead(key)) this.#store.release(slot);
      else this.#replaceOne(key, slot, isInitialList);
    }
  }

  /** The kind is no longer served: deletes everything in the partition. */
  vanish(partition: Partition): void {
    for (const key of [...this.#store.keys(partition.namespace)]) this.#lose(key);
    for (const key of [...this.#ownWrites.keys()]) if (isWithin(key, partition)) this.#ownWrites.delete(key);
    partition.resourceVersion = "";
  }

  #set(incoming: Incoming, isEvent: boolean): void {
    const slot = this.#store.slotFor(incoming);
    if (slot === undefined) {
      this.#added(incoming.key, this.#store.put(incoming), false, isEvent);
      return;
    }
    if (this.#store.holdsVersion(slot, incoming)) {
      if (!this.#store.holds(slot, incoming)) this.#store.put(incoming);
      return;
    }
    const { key } = incoming;
    if (!this.#store.hasUid(slot, incoming.uid)) {
      this.#lose(key);
      this.#added(key, this.#store.put(incoming), false);
      return;
    }
    const old = this.#sink.isNeeded() ? this.#store.lastSnapshot(slot) : undefined;
    this.#updated(key, old, this.#store.put(incoming), isEvent);
  }

  #replaceOne(key: string, slot: Slot, isInInitialList: boolean): void {
    const live = this.#store.slotOf(key);
    if (live === undefined) {
      this.#store.assign(key, slot);
      this.#added(key, slot, isInInitialList);
      return;
    }
    const old = this.#sink.isNeeded() ? this.#store.lastSnapshot(live) : undefined;
    const isSameObject = this.#store.isSameObject(live, slot);
    if (!isSameObject) {
      this.#lose(key);
      this.#store.assign(key, slot);
      this.#added(key, slot, isInInitialList);
      return;
    }
    const isSameVersion = this.#store.resourceVersionOf(live) === this.#store.resourceVersionOf(slot);
    this.#store.assign(key, slot);
    if (isSameVersion) this.#sink.unchanged(key);
    else this.#updated(key, old, slot);
  }

  /** Delete seen by the watch. */
  #remove(incoming: Incoming, isEvent: boolean): void {
    const slot = this.#store.slotFor(incoming);
    if (slot === undefined) return;
    const { key } = incoming;
    if (!this.#store.hasUid(slot, incoming.uid)) {
      const isOfAnEarlierOne = isOlder(incoming.resourceVersion, this.#store.resourceVersionOf(slot));
      if (!isOfAnEarlierOne) this.#lose(key);
      return;
    }
    this.#store.delete(key);
    this.#sink.changed(key);
    if (this.#sink.isNeeded()) {
      this.#sink.push({ type: "delete", key, object: this.#store.loose(incoming), finalStateUnknown: false }, isEvent);
    }
  }

  /** Delete inferred from a relist. */
  #lose(key: string): void {
    const slot = this.#store.slotOf(key)!;
    const last = this.#sink.isNeeded() ? this.#store.lastSnapshot(slot) : undefined;
    this.#store.delete(key);
    this.#sink.changed(key);
    if (last) this.#sink.push({ type: "delete", key, object: last, finalStateUnknown: true }, false);
  }

  #added(key: string, slot: Slot, isInInitialList: boolean, isEvent = false): void {
    this.#sink.changed(key);
    if (!this.#sink.isNeeded()) return;
    this.#sink.push({ type: "add", key, object: this.#store.snapshot(slot), isInInitialList }, isEvent);
  }

  #updated(key: string, old: ReturnType<Store<T>["snapshot"]> | undefined, slot: Slot, isEvent = false): void {
    this.#sink.changed(key);
    if (!old) return;
    this.#sink.push({ type: "update", key, old, object: this.#store.snapshot(slot), isResync: false }, isEvent);
  }

  #dropReached(partition: Partition): void {
    for (const [key, own] of this.#ownWrites) {
      const isReached = !isNewer(own.resourceVersion, partition.resourceVersion);
      if (isReached && isWithin(key, partition)) this.#ownWrites.delete(key);
    }
  }
}

function isWithin(key: string, partition: Partition): boolean {
  return partition.namespace === undefined || partition.namespace === namespaceOf(key);
}
