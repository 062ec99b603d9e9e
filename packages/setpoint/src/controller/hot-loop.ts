import type { WriteRecord } from "./timeline.js";

const WINDOW_MS = 60_000;
/** So many equal writes within the window, with an unchanged object, are a loop. Statuses follow the world: they may more. */
const MAX_WRITES = 10;
const MAX_STATUS_WRITES = 30;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;

/** A write that a key makes over and over, although nobody asked for anything new. */
export interface HotLoop {
  readonly write: WriteRecord;
  readonly count: number;
  /** How long the key is held back. */
  readonly delayMs: number;
}

interface Tally {
  readonly generation: number | undefined;
  /** Times of equal writes, oldest first. */
  readonly times: Map<string, number[]>;
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
  ): HotLoop | undefined {
    if (writes.length === 0) return undefined;
    let tally = this.#tallies.get(key);
    if (!tally || tally.generation !== generation) tally = { generation, times: new Map(), delayMs: 0 };
    this.#tallies.set(key, tally);
    let hottest: { readonly write: WriteRecord; readonly count: number } | undefined;
    for (const write of writes) {
      const id = `${write.verb} ${write.kind} ${write.key} ${write.paths.join(" ")}`;
      const times = (tally.times.get(id) ?? []).filter((timeMs) => timeMs > nowMs - WINDOW_MS);
      tally.times.set(id, [...times, nowMs]);
      const count = times.length + 1;
      const limit = write.verb === "status" ? MAX_STATUS_WRITES : MAX_WRITES;
      if (count >= limit / 2) this.#suspects.add(`${write.kind} ${write.key}`);
      else this.#suspects.delete(`${write.kind} ${write.key}`);
      if (count >= limit && count > (hottest?.count ?? 0)) hottest = { write, count };
    }
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
