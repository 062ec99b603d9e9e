import type { Cause } from "../causes/cause.js";
import type { WriteRecord } from "../timeline/timeline.js";

const WINDOW_MS = 60_000;
/**
 * This many equal writes within the window, with an unchanged object, are a loop. Statuses follow the world, so they
 * may have more.
 */
const MAX_WRITES = 10;
const MAX_STATUS_WRITES = 30;
/** Values that change each time are a count or a rollout, so these get a higher limit. */
const MOVING_FACTOR = 10;
const FIRST_SWEEP = 32;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;

/** A write that a key repeats although nothing new was requested. */
export interface HotLoop {
  readonly write: WriteRecord;
  readonly count: number;
  /** How long to delay the key. */
  readonly delayMs: number;
  /** Whether this starts an episode, which is reported; later writes of the same episode are not. */
  readonly isNew: boolean;
}

/** From the first write of a loop until the key has been calm for a while. */
interface Episode {
  /** The write that repeats. */
  readonly id: string;
  count: number;
  delayMs: number;
  lastMs: number;
}

/** The parts of a run that matter for loops. */
export interface TalliedRun {
  /** Kind, key and generation of its own object. */
  readonly kind: string;
  readonly key: string;
  readonly generation: number | undefined;
  readonly causes: readonly Cause[];
  readonly writes: readonly WriteRecord[];
  /** The written contents, if known. */
  readonly contents: ReadonlyMap<WriteRecord, string>;
}

interface TalliedWrite {
  readonly timeMs: number;
  /** Something other than the written object has changed, and the write follows that. */
  readonly followsNews: boolean;
  /** The written content; undefined if unknown. Only known contents can prove that two writes differ. */
  readonly content: string | undefined;
}

interface Tally {
  readonly generation: number | undefined;
  /** Writes of the same fields, oldest first. */
  readonly times: Map<string, readonly TalliedWrite[]>;
  /** Objects that may become a loop, with the last time: it is worth a request to find their other writers. */
  readonly suspects: Map<string, number>;
  /** Above this number, entries without writes in the window are dropped. */
  sweepAt: number;
  episode: Episode | undefined;
}

/**
 * Finds keys that keep writing the same fields: two writers that undo each other, or a desired state that is never the
 * same.
 */
export class HotLoopDetector {
  readonly #tallies = new Map<string, Tally>();

  /** Whether the runs of `key` may become a loop over an object, given by its own kind and key. */
  isSuspect(key: string, kind: string, writtenKey: string): boolean {
    return this.#tallies.get(key)?.suspects.has(`${kind} ${writtenKey}`) ?? false;
  }

  /** Records the writes of a run. Returns its worst loop, if any. */
  observe(run: TalliedRun, nowMs: number): HotLoop | undefined {
    if (run.writes.length === 0) return undefined;
    const tally = this.#tallyOf(run);
    if (tally.episode && isOver(tally.episode, nowMs)) tally.episode = undefined;
    const { episode } = tally;
    let hottest: { readonly write: WriteRecord; readonly count: number } | undefined;
    for (const write of run.writes) {
      const { count, followsNews } = repeated(tally, write, run, nowMs);
      const limit = limitOf(write);
      // A delayed key has few writes in the window: one more of the same continues the episode.
      const isContinued = episode?.id === idOf(write) && !followsNews;
      if (count >= limit / 2 || isContinued) tally.suspects.set(`${write.kind} ${write.key}`, nowMs);
      else tally.suspects.delete(`${write.kind} ${write.key}`);
      if (isContinued) hottest = { write, count: episode.count + 1 };
      else if (count >= limit && count > (hottest?.count ?? 0)) hottest = { write, count };
    }
    if (tally.times.size > tally.sweepAt) sweep(tally, nowMs);
    if (!hottest) return undefined;
    const { write, count } = hottest;
    const delayMs = Math.min(Math.max(FIRST_DELAY_MS, (episode?.delayMs ?? 0) * 2), MAX_DELAY_MS);
    tally.episode = { id: idOf(write), count, delayMs, lastMs: nowMs };
    return { write, count, delayMs, isNew: episode === undefined };
  }

  forget(key: string): void {
    this.#tallies.delete(key);
  }

  #tallyOf({ key, generation }: TalliedRun): Tally {
    const known = this.#tallies.get(key);
    if (known && known.generation === generation) return known;
    const tally = { generation, times: new Map(), suspects: new Map(), sweepAt: FIRST_SWEEP, episode: undefined };
    this.#tallies.set(key, tally);
    return tally;
  }
}

/** The key was calm for longer than the delays of both writers explain. */
function isOver({ lastMs, delayMs }: Episode, nowMs: number): boolean {
  return nowMs - lastMs > WINDOW_MS + 2 * delayMs;
}

function idOf(write: WriteRecord): string {
  return `${write.verb} ${write.kind} ${write.key} ${write.paths.join(" ")}`;
}

/** Adds a write to the tally; `count` is how many equal writes in the window, this one included, follow no news. */
function repeated(
  tally: Tally,
  write: WriteRecord,
  run: TalliedRun,
  nowMs: number,
): { readonly count: number; readonly followsNews: boolean } {
  const id = idOf(write);
  const content = run.contents.get(write);
  const followsNews = run.causes.some((cause) => isNewsFor(cause, write, run));
  const recent = (tally.times.get(id) ?? []).filter(({ timeMs }) => timeMs > nowMs - WINDOW_MS);
  tally.times.set(id, [...recent, { timeMs: nowMs, content, followsNews }]);
  if (recent.length + 1 >= limitOf(write) * MOVING_FACTOR) return { count: recent.length + 1, followsNews };
  const before = recent.filter((earlier) => !earlier.followsNews && earlier.content === content).length;
  return { count: followsNews ? before : before + 1, followsNews };
}

/** Whether a cause says anything beyond the written object itself, whose changes may come from another writer. */
function isNewsFor(cause: Cause, write: WriteRecord, run: TalliedRun): boolean {
  switch (cause.type) {
    case "retry":
    case "requeue":
    case "recheck":
    case "resync":
      return false;
    case "updated":
      return write.kind !== run.kind || write.key !== run.key;
    case "dependency":
    case "owned":
      return write.kind !== cause.kind || write.key !== cause.key;
    default:
      return true;
  }
}

/** Forgets single writes, such as those to children with a new name each time. */
function sweep(tally: Tally, nowMs: number): void {
  const beginMs = nowMs - WINDOW_MS;
  for (const [id, writes] of tally.times) if (writes.at(-1)!.timeMs <= beginMs) tally.times.delete(id);
  for (const [id, timeMs] of tally.suspects) if (timeMs <= beginMs) tally.suspects.delete(id);
  tally.sweepAt = Math.max(FIRST_SWEEP, tally.times.size * 2);
}

function limitOf({ verb }: WriteRecord): number {
  return verb === "status" ? MAX_STATUS_WRITES : MAX_WRITES;
}
