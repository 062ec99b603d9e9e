import { enlarged } from "./key-table.js";

const NONE = -1;

/** What the table of links holds for each slot. */
const BEFORE = 0;
const AFTER = 1;
const LANE = 2;
const LINK_SIZE = 3;

/** The priority of a key: live events are `normal`; initial lists, resyncs and retries are `low`. */
export type Priority = "high" | "normal" | "low";

/** The bands, most urgent first; a band's number is its index here. */
export const BANDS = ["high", "normal", "low"] as const satisfies readonly Priority[];

/** A waiting band is served after at most this many keys of the bands above it. */
export const PATIENCE = 8;

/** How many empty lanes to keep: the next key of a namespace is likely to come soon. */
const KEPT_LANES = 64;

/**
 * The queued slots. Three bands by priority; in each band one line per lane (a namespace), served in turn, so that none
 * can starve another. A lower band yields to a higher one but ages: passed over {@link PATIENCE} times, it is served
 * next.
 */
export class ReadyLines {
  /** The lanes by the hash of their names. Two names with the same hash would only share their turns. */
  readonly #lanes = new Map<number, number>();
  readonly #freeLanes: number[] = [];
  /** By lane: how many slots belong to it, waiting or not, and its hash. */
  #members = new Int32Array(0);
  #hashes = new Int32Array(0);
  /** By lane × band: the first and last slot of the line, and the lane that is served after this one. */
  #first = new Int32Array(0);
  #last = new Int32Array(0);
  #nextLane = new Int32Array(0);
  /** By slot, adjacent in memory for the processor's cache: its neighbours in its line, and its lane. */
  #links = new Int32Array(0);
  /** By band: the first and last lane in turn, and how often the band was passed over. */
  readonly #firstLane = new Int32Array(BANDS.length).fill(NONE);
  readonly #lastLane = new Int32Array(BANDS.length).fill(NONE);
  readonly #passedOver = new Int32Array(BANDS.length);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Makes room for slots below `capacity`. */
  reserve(capacity: number): void {
    this.#links = enlarged(this.#links, capacity * LINK_SIZE);
  }

  /** Sets the lane of a new slot, by the hash of its name. */
  join(slot: number, laneHash: number): void {
    const lane = this.#lanes.get(laneHash) ?? this.#addLane(laneHash);
    this.#members[lane]!++;
    this.#links[slot * LINK_SIZE + LANE] = lane;
  }

  /** Forgets a slot that is not queued. */
  leave(slot: number): void {
    const lane = this.#links[slot * LINK_SIZE + LANE]!;
    if (--this.#members[lane]! > 0 || this.#lanes.size <= KEPT_LANES) return;
    this.#lanes.delete(this.#hashes[lane]!);
    this.#freeLanes.push(lane);
  }

  push(slot: number, band: number): void {
    const lane = this.#links[slot * LINK_SIZE + LANE]!;
    const line = lane * BANDS.length + band;
    const last = this.#last[line]!;
    this.#links[slot * LINK_SIZE + BEFORE] = last;
    this.#links[slot * LINK_SIZE + AFTER] = NONE;
    this.#last[line] = slot;
    if (last < 0) {
      this.#first[line] = slot;
      this.#enterTurn(lane, band);
    } else {
      this.#links[last * LINK_SIZE + AFTER] = slot;
    }
    this.#size++;
  }

  /** Removes a slot from the line of `band`. A lane left empty loses its turn when that comes. */
  remove(slot: number, band: number): void {
    const line = this.#links[slot * LINK_SIZE + LANE]! * BANDS.length + band;
    const before = this.#links[slot * LINK_SIZE + BEFORE]!;
    const after = this.#links[slot * LINK_SIZE + AFTER]!;
    if (before < 0) this.#first[line] = after;
    else this.#links[before * LINK_SIZE + AFTER] = after;
    if (after < 0) this.#last[line] = before;
    else this.#links[after * LINK_SIZE + BEFORE] = before;
    if (this.#first[line]! < 0) this.#leaveTurn(this.#links[slot * LINK_SIZE + LANE]!, band);
    this.#size--;
  }

  /** Removes the next slot and returns it, or -1. */
  shift(): number {
    if (this.#size === 0) return NONE;
    const band = this.#chooseBand();
    const lane = this.#firstLane[band]!;
    const line = lane * BANDS.length + band;
    const slot = this.#first[line]!;
    const after = this.#links[slot * LINK_SIZE + AFTER]!;
    this.#first[line] = after;
    if (after < 0) this.#last[line] = NONE;
    else this.#links[after * LINK_SIZE + BEFORE] = NONE;
    if (after < 0 || this.#firstLane[band] !== this.#lastLane[band]) {
      this.#dropFirstLane(band);
      if (after >= 0) this.#enterTurn(lane, band);
    }
    this.#size--;
    return slot;
  }

  #chooseBand(): number {
    let chosen = 0;
    while (this.#firstLane[chosen]! < 0) chosen++;
    let longestWaiting = chosen;
    for (let band = chosen + 1; band < BANDS.length; band++) {
      if (this.#firstLane[band]! < 0) continue;
      const passedOver = ++this.#passedOver[band]!;
      if (passedOver > PATIENCE && (longestWaiting === chosen || passedOver > this.#passedOver[longestWaiting]!)) {
        longestWaiting = band;
      }
    }
    this.#passedOver[longestWaiting] = 0;
    return longestWaiting;
  }

  #enterTurn(lane: number, band: number): void {
    const last = this.#lastLane[band]!;
    this.#nextLane[lane * BANDS.length + band] = NONE;
    this.#lastLane[band] = lane;
    if (last < 0) this.#firstLane[band] = lane;
    else this.#nextLane[last * BANDS.length + band] = lane;
  }

  #dropFirstLane(band: number): void {
    const next = this.#nextLane[this.#firstLane[band]! * BANDS.length + band]!;
    this.#firstLane[band] = next;
    if (next < 0) this.#lastLane[band] = NONE;
  }

  /** Rare (the last key of a lane was raised to a higher band), so a walk along the lanes will do. */
  #leaveTurn(lane: number, band: number): void {
    if (this.#firstLane[band] === lane) {
      this.#dropFirstLane(band);
      return;
    }
    let previous = this.#firstLane[band]!;
    while (this.#nextLane[previous * BANDS.length + band] !== lane) {
      previous = this.#nextLane[previous * BANDS.length + band]!;
    }
    const next = this.#nextLane[lane * BANDS.length + band]!;
    this.#nextLane[previous * BANDS.length + band] = next;
    if (next < 0) this.#lastLane[band] = previous;
  }

  #addLane(hash: number): number {
    const lane = this.#freeLanes.pop() ?? this.#lanes.size;
    this.#lanes.set(hash, lane);
    if (lane >= this.#members.length) {
      const capacity = Math.max(16, 2 * lane);
      this.#members = enlarged(this.#members, capacity);
      this.#hashes = enlarged(this.#hashes, capacity);
      this.#first = enlarged(this.#first, capacity * BANDS.length);
      this.#last = enlarged(this.#last, capacity * BANDS.length);
      this.#nextLane = enlarged(this.#nextLane, capacity * BANDS.length);
    }
    this.#hashes[lane] = hash;
    this.#first.fill(NONE, lane * BANDS.length, (lane + 1) * BANDS.length);
    this.#last.fill(NONE, lane * BANDS.length, (lane + 1) * BANDS.length);
    return lane;
  }
}
