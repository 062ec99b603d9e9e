import { DelayHeap } from "./delay-heap.js";
import { enlarged, hashText, KeyTable } from "./key-table.js";
import { BANDS, type Priority, ReadyLines } from "./ready-lines.js";

/** What a slot is. A key that is none of these has no slot. `READY` and `DELAYED` exclude each other. */
const READY = 1;
const PROCESSING = 2;
/** Added again while it is processed: it goes back in line when it is done. Only together with `PROCESSING`. */
const DIRTY = 4;
const DELAYED = 8;

/** How the causes of one key become one: the queue itself does not look into them. */
export type MergeCauses<Cause> = (earlier: Cause, later: Cause) => Cause;

/** A key handed out to a worker, with everything that was said of it since it was handed out last. */
export interface WorkItem<Cause> {
  readonly key: string;
  readonly cause: Cause;
  readonly priority: Priority;
  /** When it came in line, and when it was handed out, as the queue was told. */
  readonly readySinceMs: number;
  readonly startedMs: number;
  /** Where the queue keeps the key. */
  readonly slot: number;
}

export interface KeyQueueOptions {
  /** Starts the hash of keys, which users choose: a number that they cannot know. */
  readonly seed?: number;
}

/**
 * The pure heart of the queue: what is added, when it is due and who is next, with time passed in and nothing waiting.
 *
 * Guarantees: a key is in line at most once and handed out to at most one worker at a time; a key added while it is
 * processed is handed out again after `done`; every add is followed by a hand-out that carries its cause. An add with
 * a delay asks for a hand-out no later than that: the earliest of several wins, and any hand-out in between serves it.
 */
export class KeyQueue<Cause> {
  readonly #merge: MergeCauses<Cause>;
  readonly #seed: number;
  readonly #keys = new KeyTable();
  readonly #ready = new ReadyLines();
  readonly #delayed = new DelayHeap();
  #capacity = 0;
  /** By slot. */
  #flags = new Uint8Array(0);
  #bands = new Uint8Array(0);
  #hashes = new Int32Array(0);
  #readySinceMs = new Float64Array(0);
  readonly #causes: (Cause | undefined)[] = [];
  /** By slot: what was handed out and not given back. */
  readonly #items: (WorkItem<Cause> | undefined)[] = [];
  #processing = 0;

  constructor(merge: MergeCauses<Cause>, options: KeyQueueOptions = {}) {
    this.#merge = merge;
    this.#seed = options.seed ?? 0;
  }

  /** Keys in line; those that wait for their time or are processed do not count. */
  get ready(): number {
    return this.#ready.size;
  }

  get processing(): number {
    return this.#processing;
  }

  get delayed(): number {
    return this.#delayed.size;
  }

  /** When the next delayed key is due; undefined if none waits. */
  get nextDueMs(): number | undefined {
    return this.#delayed.earliestMs;
  }

  /** Puts the key in line. False where it already was, or goes there when it is done: its cause was merged. */
  add(key: string, cause: Cause, priority: Priority, nowMs: number): boolean {
    const slot = this.#slotFor(key);
    const flags = this.#flags[slot]!;
    this.#addCause(slot, cause);
    const band = this.#raise(slot, bandOf(priority));
    if (flags & DELAYED) this.#delayed.remove(slot);
    if (flags & PROCESSING) {
      this.#flags[slot] = PROCESSING | DIRTY;
      return !(flags & DIRTY);
    }
    if (flags & READY) return false;
    this.#enterLine(slot, band, nowMs);
    return true;
  }

  /** Puts the key in line at `dueMs`, or leaves it where it already gets its turn earlier. */
  addAt(key: string, cause: Cause, priority: Priority, dueMs: number): void {
    const slot = this.#slotFor(key);
    this.#addCause(slot, cause);
    if (this.#flags[slot]! & (READY | DIRTY)) return;
    this.#raise(slot, bandOf(priority));
    this.#flags[slot]! |= DELAYED;
    this.#delayed.add(slot, dueMs);
  }

  /** Puts the delayed keys in line that are due. Gives how many. */
  promote(nowMs: number): number {
    let promoted = 0;
    for (let slot = this.#delayed.popDue(nowMs); slot >= 0; slot = this.#delayed.popDue(nowMs)) {
      if (this.#flags[slot]! & PROCESSING) this.#flags[slot] = PROCESSING | DIRTY;
      else this.#enterLine(slot, this.#bands[slot]!, nowMs);
      promoted++;
    }
    return promoted;
  }

  /** Hands out the key whose turn it is; undefined if none is in line. It must be given back with `done`. */
  take(nowMs: number): WorkItem<Cause> | undefined {
    const slot = this.#ready.shift();
    if (slot < 0) return undefined;
    const band = this.#bands[slot]!;
    const cause = this.#causes[slot] as Cause;
    this.#causes[slot] = undefined;
    this.#flags[slot] = PROCESSING;
    this.#bands[slot] = BANDS.length;
    this.#processing++;
    return (this.#items[slot] = {
      key: this.#keys.keyOf(slot),
      cause,
      priority: BANDS[band]!,
      readySinceMs: this.#readySinceMs[slot]!,
      startedMs: nowMs,
      slot,
    });
  }

  /** Ends the processing of a key that was handed out. True where it went back in line. A second call does nothing. */
  done(item: WorkItem<Cause>, nowMs: number): boolean {
    const { slot } = item;
    if (this.#items[slot] !== item) return false;
    this.#items[slot] = undefined;
    this.#processing--;
    const flags = this.#flags[slot]!;
    if (flags & DIRTY) {
      this.#enterLine(slot, this.#bands[slot]!, nowMs);
      return true;
    }
    this.#flags[slot] = flags & DELAYED;
    if (!(flags & DELAYED)) this.#release(slot);
    return false;
  }

  /** What is in line, or goes back there when it is done, in no promised order. Walks all keys: for those who look on. */
  *pending(): Iterable<{ readonly key: string; readonly cause: Cause }> {
    for (let slot = 0; slot < this.#capacity; slot++) {
      if (this.#flags[slot]! & (READY | DIRTY))
        yield { key: this.#keys.keyOf(slot), cause: this.#causes[slot] as Cause };
    }
  }

  /** What was handed out and not given back, in no promised order. */
  *items(): Iterable<WorkItem<Cause>> {
    for (const item of this.#items) if (item) yield item;
  }

  /** Takes back a delayed add, its cause included. False where none waited. Does not touch a key that is processed. */
  cancel(key: string): boolean {
    const slot = this.#find(key);
    if (slot < 0 || !(this.#flags[slot]! & DELAYED)) return false;
    this.#delayed.remove(slot);
    this.#causes[slot] = undefined;
    this.#bands[slot] = BANDS.length;
    this.#flags[slot]! &= ~DELAYED;
    if (!(this.#flags[slot]! & PROCESSING)) this.#release(slot);
    return true;
  }

  isDelayed(key: string): boolean {
    const slot = this.#find(key);
    return slot >= 0 && (this.#flags[slot]! & DELAYED) !== 0;
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
    this.#bands[slot] = BANDS.length;
    this.#hashes[slot] = hash;
    this.#ready.join(slot, laneHash);
    return slot;
  }

  #addCause(slot: number, cause: Cause): void {
    const earlier = this.#causes[slot];
    this.#causes[slot] = earlier === undefined ? cause : this.#merge(earlier, cause);
  }

  /** The more urgent of two priorities holds; a key in line moves to the end of the line that it is raised to. */
  #raise(slot: number, band: number): number {
    const current = this.#bands[slot]!;
    if (band >= current) return current;
    this.#bands[slot] = band;
    if (this.#flags[slot]! & READY) {
      this.#ready.remove(slot, current);
      this.#ready.push(slot, band);
    }
    return band;
  }

  #enterLine(slot: number, band: number, nowMs: number): void {
    this.#flags[slot] = READY;
    this.#readySinceMs[slot] = nowMs;
    this.#ready.push(slot, band);
  }

  #release(slot: number): void {
    this.#ready.leave(slot);
    this.#keys.remove(slot, this.#hashes[slot]!);
  }

  #reserve(capacity: number): void {
    this.#flags = enlarged(this.#flags, capacity);
    this.#bands = enlarged(this.#bands, capacity);
    this.#hashes = enlarged(this.#hashes, capacity);
    this.#readySinceMs = enlarged(this.#readySinceMs, capacity);
    this.#ready.reserve(capacity);
    this.#capacity = capacity;
  }
}

function bandOf(priority: Priority): number {
  return priority === "normal" ? 1 : priority === "high" ? 0 : 2;
}

/** The part of a key before its slash is the namespace, and the lane in which it waits. */
function laneLength(key: string): number {
  const slash = key.indexOf("/");
  return Math.max(slash, 0);
}
