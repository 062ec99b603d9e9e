import type { Clock, Timer } from "../clock/clock.js";
import { type Duration, parseDuration } from "../clock/duration.js";
import type { Random } from "../clock/random.js";
import { Backoff, type BackoffOptions } from "../loop/backoff.js";
import { KeyQueue, type MergeCauses, type WorkItem } from "./key-queue.js";
import type { QueueObserver } from "./queue-metrics.js";
import type { Priority } from "./ready-lines.js";
import { TokenBucket, type TokenBucketOptions } from "./token-bucket.js";

export interface WorkQueueOptions<Cause> {
  readonly clock: Clock;
  readonly random: Random;
  readonly merge: MergeCauses<Cause>;
  /** What remains of a delayed add's cause if the key is handed out early. Defaults to all of it. */
  readonly early?: (cause: Cause) => Cause | undefined;
  readonly backoff?: BackoffOptions;
  /** Limits all retries of the queue together. Defaults to none: API servers protect themselves. */
  readonly retryLimit?: TokenBucketOptions;
  /** Without one, items have no times. */
  readonly observer?: QueueObserver;
}

export interface AddOptions {
  /** Defaults to `normal`. */
  readonly priority?: Priority;
  /** Requests a hand-out no later than this, instead of at once. With 0, everything that is due now goes first. */
  readonly after?: Duration;
}

export interface RetryOptions {
  /** Defaults to `low`. */
  readonly priority?: Priority;
  /** Waits for so long at least, however short the key's back-off is. */
  readonly least?: Duration;
  /** Waits for so long, in place of the key's back-off, which counts the failure all the same. */
  readonly after?: Duration;
}

type Waiter<Cause> = (item: WorkItem<Cause> | undefined) => void;

/**
 * The queue that workers wait on: {@link KeyQueue} on a clock, with one timer for all delayed keys.
 *
 * ```ts
 * signal.addEventListener("abort", () => queue.dismiss(), { once: true });
 * while (!signal.aborted) {
 *   const item = queue.take() ?? (await queue.get()); // waits only when nothing is in line
 *   if (!item) break;
 *   await handle(item.key, item.cause);
 *   queue.done(item);
 * }
 * ```
 */
export class WorkQueue<Cause> {
  readonly #clock: Clock;
  readonly #keys: KeyQueue<Cause>;
  readonly #backoff: Backoff;
  readonly #retryLimit: TokenBucket | undefined;
  readonly #observer: QueueObserver | undefined;
  /** Idle workers in order. Empty whenever a key is queued. */
  readonly #waiters: Waiter<Cause>[] = [];
  readonly #onDrained = new Set<() => void>();
  #timer: { readonly dueMs: number; readonly timer: Timer } | undefined;
  #isShutDown = false;

  constructor(options: WorkQueueOptions<Cause>) {
    this.#clock = options.clock;
    this.#keys = new KeyQueue(options.merge, {
      seed: Math.floor(options.random.next() * 2 ** 32),
      ...(options.early ? { early: options.early } : {}),
    });
    this.#backoff = new Backoff(options.random, options.backoff);
    this.#retryLimit = options.retryLimit && new TokenBucket(options.retryLimit);
    this.#observer = options.observer;
  }

  /** Keys in the queue. */
  get depth(): number {
    return this.#keys.ready;
  }

  /** Delayed keys. */
  get delayed(): number {
    return this.#keys.delayed;
  }

  /** Keys that are queued, or will be when they are done, in no particular order. Linear in the number of keys. */
  get pending(): Iterable<{ readonly key: string; readonly cause: Cause }> {
    return this.#keys.pending();
  }

  /** Items that workers have, in no particular order. */
  get running(): Iterable<WorkItem<Cause>> {
    return this.#keys.items();
  }

  get isShutDown(): boolean {
    return this.#isShutDown;
  }

  /** Requests a hand-out of the key. Ignored after `shutDown`. */
  add(key: string, cause: Cause, options: AddOptions = {}): void {
    if (this.#isShutDown) return;
    const { priority = "normal", after } = options;
    if (after !== undefined) {
      this.#keys.addAt(key, cause, priority, this.#clock.monotonic() + parseDuration(after, "after"));
      this.#arm();
      return;
    }
    if (this.#keys.add(key, cause, priority, this.#stamp())) this.#observer?.added();
    this.#serveWaiters();
  }

  /**
   * Asks for a hand-out after the key's back-off, or what the options say, and after the overall limit if there is one:
   * whichever is longest. Gives the delay in milliseconds.
   */
  retry(key: string, cause: Cause, { priority = "low", least = 0, after }: RetryOptions = {}): number {
    const backoffMs = this.#backoff.fail(key);
    const delayMs = after === undefined ? backoffMs : parseDuration(after, "after");
    return this.#retry(key, cause, priority, Math.max(delayMs, parseDuration(least, "least")));
  }

  /** How often the key was retried since it was forgotten. */
  retries(key: string): number {
    return this.#backoff.failures(key);
  }

  /** Resets the key's back-off: its next retry starts with the first delay. */
  forget(key: string): void {
    this.#backoff.forget(key);
  }

  /** Cancels the delayed add of a key. Does not wait for a worker that has it. False if there was none. */
  cancel(key: string): boolean {
    const cancelled = this.#keys.cancel(key);
    this.#arm();
    return cancelled;
  }

  /** The next key, if one is queued. */
  take(): WorkItem<Cause> | undefined {
    const item = this.#keys.take(this.#stamp());
    if (item) this.#observer?.taken(item.startedMs - item.readySinceMs);
    return item;
  }

  /** Waits for a key. Undefined after `dismiss`, and once the queue is shut down and empty. */
  get(): Promise<WorkItem<Cause> | undefined> {
    const item = this.take();
    if (item || (this.#isShutDown && this.#isDrained())) return Promise.resolve(item);
    return new Promise((resolve) => void this.#waiters.push(resolve));
  }

  /** Ends all current waits without a key, for workers that must stop. Later calls wait again. */
  dismiss(): void {
    for (const letGo of this.#waiters.splice(0)) letGo(undefined);
  }

  /** Returns a key. It is queued again if it was added meanwhile. */
  done(item: WorkItem<Cause>): void {
    const nowMs = this.#stamp();
    this.#keys.done(item, nowMs);
    this.#observer?.finished(nowMs - item.startedMs);
    this.#serveWaiters();
    if (this.#isDrained()) this.#announceDrained();
  }

  /**
   * Refuses further adds and drops delayed ones. Queued keys, and those added while they were processed, are still
   * handed out; then `get` resolves to undefined.
   */
  shutDown(): void {
    if (this.#isShutDown) return;
    this.#isShutDown = true;
    this.#timer?.timer[Symbol.dispose]();
    this.#timer = undefined;
    if (this.#isDrained()) this.#announceDrained();
  }

  /** Resolves when nothing is queued and no worker has a key, or when the signal is aborted. */
  drained(signal?: AbortSignal): Promise<void> {
    if (this.#isDrained() || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = (): void => {
        this.#onDrained.delete(finish);
        signal?.removeEventListener("abort", finish);
        resolve();
      };
      this.#onDrained.add(finish);
      signal?.addEventListener("abort", finish, { once: true });
    });
  }

  #retry(key: string, cause: Cause, priority: Priority, leastMs: number): number {
    const limitMs = this.#retryLimit?.reserve(this.#clock.monotonic()) ?? 0;
    const delayMs = Math.max(leastMs, limitMs);
    this.#observer?.retried();
    this.add(key, cause, { priority, after: delayMs });
    return delayMs;
  }

  /** The time for metrics. Reading the clock costs as much as the queue itself, so only with an observer. */
  #stamp(): number {
    return this.#observer ? this.#clock.monotonic() : 0;
  }

  #isDrained(): boolean {
    return this.#keys.ready === 0 && this.#keys.processing === 0;
  }

  #serveWaiters(): void {
    while (this.#waiters.length > 0) {
      const item = this.take();
      if (!item) return;
      this.#waiters.shift()!(item);
    }
  }

  #announceDrained(): void {
    if (this.#isShutDown) this.dismiss();
    for (const finish of this.#onDrained) finish();
  }

  /** Sets the one timer to the earliest delayed key. */
  #arm(): void {
    const dueMs = this.#keys.nextDueMs;
    if (this.#timer?.dueMs === dueMs) return;
    this.#timer?.timer[Symbol.dispose]();
    this.#timer =
      dueMs === undefined || this.#isShutDown
        ? undefined
        : { dueMs, timer: this.#clock.timer(dueMs - this.#clock.monotonic(), () => this.#promote()) };
  }

  #promote(): void {
    this.#timer = undefined;
    const promoted = this.#keys.promote(this.#clock.monotonic());
    for (let count = 0; count < promoted; count++) this.#observer?.added();
    this.#serveWaiters();
    this.#arm();
  }
}
