import type { WriteRecord } from "./timeline.js";

const WINDOW_MS = 60_000;
/** So many equal writes within the window, with an unchanged object, are a loop. Statuses follow the world: they may more. */
const MAX_WRITES = 10;
const MAX_STATUS_WRITES = 30;
/** Values that move each time are a count or a rollout, unless there is no end of them. */
const MOVING_FACTOR = 10;
const FIRST_SWEEP = 32;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;

/** A write that a key makes over and over, although nobody asked for anything new. */
export interface HotLoop {
  readonly write: WriteRecord;
  readonly count: number;
  /** How long the key is held back. */
  readonly delayMs: number;
}

interface TalliedWrite {
  readonly timeMs: number;
  /** What was written, where that is known: nothing else is known to be a different write. */
  readonly content: string | undefined;
}

interface Tally {
  readonly generation: number | undefined;
  /** Writes of the same fields, oldest first. */
  readonly times: Map<string, readonly TalliedWrite[]>;
  /** With more than so many, those of which the window holds nothing are dropped. */
  sweepAt: number;
  delayMs: number;
}

/** Finds keys that keep writing the same fields: two writers that undo each other, or a desire that is never the same. */
export class HotLoopDetector {
  readonly #tallies = new Map<string, Tally>();
  /** Objects that are on the way to a loop, by kind and key: who else writes them is worth a request. */
  readonly #suspects = new Set<string>();

  isSuspect(kind: string, key: string): boolean {
    return this.#suspects.has(`${kind} ${key}`);
  }

  /** Takes in the writes of a run. Gives the worst loop that it makes, if it does. */
  observe(
    key: string,
    generation: number | undefined,
    writes: readonly WriteRecord[],
    nowMs: number,
    contents: ReadonlyMap<WriteRecord, string> = new Map(),
  ): HotLoop | undefined {
    if (writes.length === 0) return undefined;
    let tally = this.#tallies.get(key);
    if (!tally || tally.generation !== generation)
      tally = { generation, times: new Map(), sweepAt: FIRST_SWEEP, delayMs: 0 };
    this.#tallies.set(key, tally);
    let hottest: { readonly write: WriteRecord; readonly count: number } | undefined;
    for (const write of writes) {
      const id = `${write.verb} ${write.kind} ${write.key} ${write.paths.join(" ")}`;
      const content = contents.get(write);
      const recent = (tally.times.get(id) ?? []).filter(({ timeMs }) => timeMs > nowMs - WINDOW_MS);
      tally.times.set(id, [...recent, { timeMs: nowMs, content }]);
      const limit = limitOf(write);
      const mayMove = recent.length + 1 < limit * MOVING_FACTOR;
      const count = (mayMove ? recent.filter((earlier) => earlier.content === content) : recent).length + 1;
      if (count >= limit / 2) this.#suspects.add(`${write.kind} ${write.key}`);
      else this.#suspects.delete(`${write.kind} ${write.key}`);
      if (count >= limit && count > (hottest?.count ?? 0)) hottest = { write, count };
    }
    if (tally.times.size > tally.sweepAt) sweep(tally, nowMs);
    if (!hottest) {
      tally.delayMs = 0;
      return undefined;
    }
    tally.delayMs = Math.min(Math.max(FIRST_DELAY_MS, tally.delayMs * 2), MAX_DELAY_MS);
    return { ...hottest, delayMs: tally.delayMs };
  }

  forget(key: string): void {
    this.#tallies.delete(key);
  }
}

/** What a key wrote once and never again, as children of which each has a new name, is not kept for good. */
function sweep(tally: Tally, nowMs: number): void {
  for (const [id, writes] of tally.times) if (writes.at(-1)!.timeMs <= nowMs - WINDOW_MS) tally.times.delete(id);
  tally.sweepAt = Math.max(FIRST_SWEEP, tally.times.size * 2);
}

function limitOf({ verb }: WriteRecord): number {
  return verb === "status" ? MAX_STATUS_WRITES : MAX_WRITES;
}
