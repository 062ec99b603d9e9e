import { DelayHeap } from "./delay-heap.js";
import { enlarged, hashText, KeyTable } from "./key-table.js";
import { BANDS, type Priority, ReadyLines } from "./ready-lines.js";

/** States of a slot. A key in none of these has no slot. `READY`, `DIRTY` and `DELAYED` exclude each other. */
const READY = 1;
const PROCESSING = 2;
/** Added again while it is processed: it returns to the queue when it is done. Only together with `PROCESSING`. */
const DIRTY = 4;
const DELAYED = 8;
/** In the higher bits, the band of the slot; `NO_BAND` if the key need not be handed out. */
const BAND_SHIFT = 4;
const NO_BAND = BANDS.length << BAND_SHIFT;

/** Merges the causes of one key; the queue does not look into them. */
export type MergeCauses<Cause> = (earlier: Cause, later: Cause) => Cause;

/** A key that a worker has, with all causes since it was last handed out. */
export interface WorkItem<Cause> {
  readonly key: string;
  readonly cause: Cause;
  readonly priority: Priority;
  /** When it was queued and when it was handed out, if the queue has times. */
  readonly readySinceMs: number;
  readonly startedMs: number;
  /** The queue's indexes of the key and the item. */
  readonly slot: number;
  readonly hand: number;
}

export interface KeyQueueOptions<Cause = unknown> {
  /** The seed of the key hash: users choose keys and must not be able to predict it. */
  readonly seed?: number;
  /**
   * What remains of a delayed add's cause if the key is handed out early: a timer that did not fire is no cause.
   * Defaults to all of it.
   */
  readonly early?: (cause: Cause) => Cause | undefined;
}

/**
 * The pure core of the queue: what is added, when it is due and which key is next. The caller passes the time, and
 * nothing waits.
 *
 * Guarantees: a key is queued at most once and handed out to at most one worker at a time; a key added while it is
 * processed is handed out again after `done`; every add is followed by a hand-out with its cause. A delayed add
 * requests a hand-out no later than its delay: the earliest of several wins, and any hand-out in between satisfies it.
 */
export class KeyQueue<Cause> {
  readonly #merge: MergeCauses<Cause>;
  readonly #seed: number;
  readonly #early: (cause: Cause) => Cause | undefined;
  readonly #keys = new KeyTable();
  readonly #ready = new ReadyLines();
  readonly #delayed = new DelayHeap();
  #capacity = 0;
  /** By slot: its state and band. */
  #states = new Uint8Array(0);
  /** By slot: when it was queued. Empty until a time is given: most queues have no metrics. */
  #readySinceMs = new Float64Array(0);
  readonly #causes: (Cause | undefined)[] = [];
  /** Items that were handed out and not returned. A free place is reused. */
  readonly #hands: (WorkItem<Cause> | undefined)[] = [];
  readonly #emptyHands: number[] = [];
  #processing = 0;

  constructor(merge: MergeCauses<Cause>, options: KeyQueueOptions<Cause> = {}) {
    this.#merge = merge;
    this.#early = options.early ?? ((cause) => cause);
    this.#seed = options.seed ?? 0;
  }

  /** Queued keys, without delayed and processed ones. */
  get ready(): number {
    return this.#ready.size;
  }

  get processing(): number {
    return this.#processing;
  }

  get delayed(): number {
    return this.#delayed.size;
  }

  /** When the next delayed key is due; undefined if there is none. */
  get nextDueMs(): number | undefined {
    return this.#delayed.earliestMs;
  }

  /** Queues the key. False if it is queued already, or will be when it is done: its cause was merged. */
  add(key: string, cause: Cause, priority: Priority, nowMs: number): boolean {
    const slot = this.#slotFor(key);
    const state = this.#states[slot]!;
    const band = Math.min(bandOf(priority), state >> BAND_SHIFT);
    if (state & DELAYED) {
      this.#delayed.remove(slot);
      this.#causes[slot] = this.#early(this.#causes[slot] as Cause);
    }
    this.#addCause(slot, cause);
    if (state & PROCESSING) {
      this.#states[slot] = (band << BAND_SHIFT) | PROCESSING | DIRTY;
      return !(state & DIRTY);
    }
    if (state & READY) {
      this.#raise(slot, band);
      return false;
    }
    this.#enterLine(slot, band, nowMs);
    return true;
  }

  /** Queues the key at `dueMs`, unless it gets its turn earlier. */
  addAt(key: string, cause: Cause, priority: Priority, dueMs: number): void {
    const slot = this.#slotFor(key);
    const state = this.#states[slot]!;
    if (state & (READY | DIRTY)) {
      const left = this.#early(cause);
      if (left !== undefined) this.#addCause(slot, left);
      return;
    }
    this.#addCause(slot, cause);
    const band = Math.min(bandOf(priority), state >> BAND_SHIFT);
    this.#states[slot] = (band << BAND_SHIFT) | (state & PROCESSING) | DELAYED;
    this.#delayed.add(slot, dueMs);
  }

  /** Queues the delayed keys that are due. Returns how many. */
  promote(nowMs: number): number {
    let promoted = 0;
    for (let slot = this.#delayed.popDue(nowMs); slot >= 0; slot = this.#delayed.popDue(nowMs)) {
      const state = this.#states[slot]!;
      if (state & PROCESSING) this.#states[slot] = (state & ~DELAYED) | DIRTY;
      else this.#enterLine(slot, state >> BAND_SHIFT, nowMs);
      promoted++;
    }
    return promoted;
  }

  /** Hands out the next key; undefined if none is queued. Return it with `done`. */
  take(nowMs: number): WorkItem<Cause> | undefined {
    const slot = this.#ready.shift();
    if (slot < 0) return undefined;
    const cause = this.#causes[slot] as Cause;
    const priority = BANDS[this.#states[slot]! >> BAND_SHIFT]!;
    const readySinceMs = this.#readySinceMs.length === 0 ? 0 : this.#readySinceMs[slot]!;
    const hand = this.#emptyHands.pop() ?? this.#hands.length;
    const item = { key: this.#keys.keyOf(slot), cause, priority, readySinceMs, startedMs: nowMs, slot, hand };
    this.#causes[slot] = undefined;
    this.#states[slot] = NO_BAND | PROCESSING;
    this.#hands[hand] = item;
    this.#processing++;
    return item;
  }

  /** Ends the processing of a key. True if it was queued again. A second call does nothing. */
  done(item: WorkItem<Cause>, nowMs: number): boolean {
    const { slot, hand } = item;
    if (this.#hands[hand] !== item) return false;
    this.#hands[hand] = undefined;
    this.#emptyHands.push(hand);
    this.#processing--;
    const state = this.#states[slot]!;
    if (state & DIRTY) {
      this.#enterLine(slot, state >> BAND_SHIFT, nowMs);
      return true;
    }
    if (state & DELAYED) this.#states[slot] = state & ~PROCESSING;
    else this.#release(slot);
    return false;
  }

  /** Keys that are queued, or will be when they are done, in no particular order. Walks all keys: for metrics. */
  *pending(): Iterable<{ readonly key: string; readonly cause: Cause }> {
    for (let slot = 0; slot < this.#capacity; slot++) {
      if (this.#states[slot]! & (READY | DIRTY))
        yield { key: this.#keys.keyOf(slot), cause: this.#causes[slot] as Cause };
    }
  }

  /** Items that were handed out and not returned, in no particular order. */
  *items(): Iterable<WorkItem<Cause>> {
    for (const item of this.#hands) if (item) yield item;
  }

  /** Cancels a delayed add with its cause. False if there was none. Does not affect a key that is processed. */
  cancel(key: string): boolean {
    const slot = this.#find(key);
    if (slot < 0 || !(this.#states[slot]! & DELAYED)) return false;
    this.#delayed.remove(slot);
    this.#causes[slot] = undefined;
    if (this.#states[slot]! & PROCESSING) this.#states[slot] = NO_BAND | PROCESSING;
    else this.#release(slot);
    return true;
  }

  isDelayed(key: string): boolean {
    const slot = this.#find(key);
    return slot >= 0 && (this.#states[slot]! & DELAYED) !== 0;
  }

  #find(key: string): number {
    const length = laneLength(key);
    const hash = hashText(key, length, key.length, hashText(key, 0, length, this.#seed));
    return this.#keys.find(key, hash);
  }

  #slotFor(key: string): number {
    const length = laneLength(key);
    const laneHash = hashText(key, 0, length, this.#seed);
    const hash = hashText(key, length, key.length, laneHash);
    const known = this.#keys.find(key, hash);
    if (known >= 0) return known;
    const slot = this.#keys.insert(key, hash);
    if (slot >= this.#capacity) this.#reserve(this.#keys.capacity);
    this.#states[slot] = NO_BAND;
    this.#ready.join(slot, laneHash);
    return slot;
  }

  #addCause(slot: number, cause: Cause): void {
    const earlier = this.#causes[slot];
    this.#causes[slot] = earlier === undefined ? cause : this.#merge(earlier, cause);
  }

  /** The more urgent of two priorities counts: a queued key moves to the end of the higher line. */
  #raise(slot: number, band: number): void {
    const current = this.#states[slot]! >> BAND_SHIFT;
    if (band === current) return;
    this.#states[slot] = (band << BAND_SHIFT) | READY;
    this.#ready.remove(slot, current);
    this.#ready.push(slot, band);
  }

  #enterLine(slot: number, band: number, nowMs: number): void {
    this.#states[slot] = (band << BAND_SHIFT) | READY;
    if (nowMs !== 0 && this.#readySinceMs.length === 0) this.#readySinceMs = new Float64Array(this.#capacity);
    if (this.#readySinceMs.length > 0) this.#readySinceMs[slot] = nowMs;
    this.#ready.push(slot, band);
  }

  #release(slot: number): void {
    this.#states[slot] = NO_BAND;
    this.#ready.leave(slot);
    this.#keys.remove(slot);
  }

  #reserve(capacity: number): void {
    this.#states = enlarged(this.#states, capacity);
    if (this.#readySinceMs.length > 0) this.#readySinceMs = enlarged(this.#readySinceMs, capacity);
    this.#causes.length = capacity;
    this.#ready.reserve(capacity);
    this.#capacity = capacity;
  }
}

function bandOf(priority: Priority): number {
  return priority === "normal" ? 1 : priority === "high" ? 0 : 2;
}

/** The namespace of a key, before its slash, is its lane. */
function laneLength(key: string): number {
  const slash = key.indexOf("/");
  return Math.max(slash, 0);
}
