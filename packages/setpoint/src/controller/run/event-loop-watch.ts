import type { Clock, Timer } from "../../clock/clock.js";

const TICK_MS = 500;
/** A tick that is this late was delayed by code that blocked the event loop. */
export const BLOCKED_AFTER_MS = 500;

/** A run as the watch sees it. */
export interface WatchedRun {
  readonly key: string;
  /** When it last called its context, or was called: code that blocks does so right after that. */
  readonly lastSeenMs: number;
  /** The last time that it did neither for as long as a blocked loop takes. */
  readonly pause?: Pause;
}

export interface Pause {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface BlockedLoop {
  readonly blockedMs: number;
  /** The run that acted last before the block, and not during it. */
  readonly key: string;
  /** The other runs in progress. */
  readonly others: readonly string[];
}

/**
 * Finds runs that block the event loop: nothing else runs meanwhile, and a lease may be lost. Ticks only while there
 * are runs.
 */
export class EventLoopWatch {
  readonly #clock: Clock;
  readonly #onBlocked: (blocked: BlockedLoop) => void;
  readonly #runs = new Set<WatchedRun>();
  /** Runs that ended since the last tick: the end of a run may be what blocked. */
  #ended: WatchedRun[] = [];
  #timer: Timer | undefined;

  constructor(clock: Clock, onBlocked: (blocked: BlockedLoop) => void) {
    this.#clock = clock;
    this.#onBlocked = onBlocked;
  }

  begin(run: WatchedRun): void {
    this.#runs.add(run);
    if (!this.#timer) this.#arm();
  }

  end(run: WatchedRun): void {
    this.#runs.delete(run);
    // Not the run itself, which would keep everything that it read alive until the next tick.
    this.#ended.push({ key: run.key, lastSeenMs: run.lastSeenMs, pause: pauseOf(run, this.#clock.monotonic()) });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  #arm(): void {
    const dueMs = this.#clock.monotonic() + TICK_MS;
    this.#timer = this.#clock.timer(TICK_MS, () => this.#tick(dueMs)).unref();
  }

  #tick(dueMs: number): void {
    this.#timer = undefined;
    const blockedMs = this.#clock.monotonic() - dueMs;
    const candidates = [...this.#runs, ...this.#ended];
    this.#ended = [];
    if (this.#runs.size > 0) this.#arm();
    if (blockedMs < BLOCKED_AFTER_MS || candidates.length === 0) return;
    const beganMs = (run: WatchedRun): number => blockBeganMs(run, dueMs, dueMs + blockedMs);
    const [last, ...others] = candidates.sort(
      (left, right) => beganMs(right) - beganMs(left) || right.lastSeenMs - left.lastSeenMs,
    );
    this.#onBlocked({ blockedMs, key: last!.key, others: others.map(({ key }) => key) });
  }
}

/** When this run may have begun to block: a run that acted after the tick was due has only waited. */
function blockBeganMs(run: WatchedRun, dueMs: number, nowMs: number): number {
  const { fromMs, toMs } = pauseOf(run, nowMs);
  return fromMs <= dueMs && dueMs <= toMs ? fromMs : Number.NEGATIVE_INFINITY;
}

function pauseOf({ lastSeenMs, pause }: WatchedRun, nowMs: number): Pause {
  return pause && nowMs - lastSeenMs < BLOCKED_AFTER_MS ? pause : { fromMs: lastSeenMs, toMs: nowMs };
}
