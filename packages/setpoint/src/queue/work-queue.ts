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
  /** What is left of a delayed add's cause where the key is handed out before its time. All of it unless given. */
  readonly early?: (cause: Cause) => Cause | undefined;
  readonly backoff?: BackoffOptions;
  /** Limits all retries of the queue together. None by default: API servers protect themselves. */
  readonly retryLimit?: TokenBucketOptions;
  /** Without one, items carry no times. */
  readonly observer?: QueueObserver;
}

export interface AddOptions {
  /** Defaults to `normal`. */
  readonly priority?: Priority;
  /** Asks for a hand-out no later than this, instead of at once. Where it is 0, all that is due now has its turn before. */
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
  /** Workers that found nothing, in the order of their coming. Empty whenever a key is in line. */
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

  /** Keys in line. */
  get depth(): number {
    return this.#keys.ready;
  }

  /** Keys that wait for their time. */
  get delayed(): number {
    return this.#keys.delayed;
  }

  /** What is in line, or goes back there when it is done, in no promised order. Takes longer the more keys there are. */
  get pending(): Iterable<{ readonly key: string; readonly cause: Cause }> {
    return this.#keys.pending();
  }

  /** What workers have in their hands, in no promised order. */
  get running(): Iterable<WorkItem<Cause>> {
    return this.#keys.items();
  }

  get isShutDown(): boolean {
    return this.#isShutDown;
  }

  /** Asks for a hand-out of the key. Ignored after `shutDown`. */
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

  /** Ends the key's back-off: its next retry starts from the first delay again. */
  forget(key: string): void {
    this.#backoff.forget(key);
  }

  /** Takes back the delayed add of a key. Never waits for a worker that has it in hand. False where none was pending. */
  cancel(key: string): boolean {
    const cancelled = this.#keys.cancel(key);
    this.#arm();
    return cancelled;
  }

  /** The key whose turn it is, if one is in line. */
  take(): WorkItem<Cause> | undefined {
    const item = this.#keys.take(this.#stamp());
    if (item) this.#observer?.taken(item.startedMs - item.readySinceMs);
    return item;
  }

  /** Waits for a key. Undefined for who is dismissed, and once the queue is shut down and nothing is left in line. */
  get(): Promise<WorkItem<Cause> | undefined> {
    const item = this.take();
    if (item || (this.#isShutDown && this.#isDrained())) return Promise.resolve(item);
    return new Promise((resolve) => void this.#waiters.push(resolve));
  }

  /** Lets all that wait for a key go without one: for workers that are to stop. Who comes later waits again. */
  dismiss(): void {
    for (const letGo of this.#waiters.splice(0)) letGo(undefined);
  }

  /** Gives a key back. It is in line again if it was added meanwhile. */
  done(item: WorkItem<Cause>): void {
    const nowMs = this.#stamp();
    this.#keys.done(item, nowMs);
    this.#observer?.finished(nowMs - item.startedMs);
    this.#serveWaiters();
    if (this.#isDrained()) this.#announceDrained();
  }

  /**
   * Refuses further adds and drops the delayed ones. Keys in line, and those added while they were processed, are still
   * handed out; then `get` resolves to undefined.
   */
  shutDown(): void {
    if (this.#isShutDown) return;
    this.#isShutDown = true;
    this.#timer?.timer[Symbol.dispose]();
    this.#timer = undefined;
    if (this.#isDrained()) this.#announceDrained();
  }

  /** Resolves when nothing is in line and no worker has a key, or when the signal is aborted. */
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

  /** The time for metrics. Reading the clock costs as much as the queue itself: read only with an observer. */
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

  /** Keeps the one timer at the earliest delayed key. */
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
