import type { Clock } from "../../clock/clock.js";
import type { Random } from "../../clock/random.js";
import type { BackoffOptions } from "../../loop/backoff.js";
import type { Logger } from "../../loop/logger.js";
import { messageOf } from "../../loop/outcome.js";
import { WorkQueue } from "../../queue/work-queue.js";

export interface OrphanRetryOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly backoff: BackoffOptions;
  readonly log: Logger;
  /** Deletes what one owner that is gone, or all of them, left behind. Gives the owners where that failed, and why. */
  readonly collect: (ownerKey: string | undefined) => Promise<ReadonlyMap<string, unknown>>;
  /** Ends the tries that are under way. */
  readonly signal: AbortSignal;
}

/**
 * The owners, gone by now, whose children could not be deleted. They are tried again one by one, each after its own
 * back-off, for as long as it takes. Apart from the queue of the controller: an object that has taken the name of one
 * has nothing to do with it.
 */
export class OrphanRetries {
  readonly #queue: WorkQueue<true>;
  readonly #options: OrphanRetryOptions;

  constructor(options: OrphanRetryOptions) {
    const { clock, random, backoff } = options;
    this.#queue = new WorkQueue({ clock, random, merge: () => true, backoff });
    this.#options = options;
  }

  /** How many owners wait for their next try. */
  get waiting(): number {
    return this.#queue.delayed + this.#queue.depth;
  }

  /** Deletes what objects that are gone owned elsewhere. False where something is left, which is tried again. */
  async collect(ownerKey: string | undefined): Promise<boolean> {
    const { collect, log, signal } = this.#options;
    try {
      const failed = await collect(ownerKey);
      for (const [key, error] of failed) {
        const attempt = this.#queue.retries(key);
        const delayMs = this.#queue.retry(key, true);
        const message = `could not delete the children of ${key}, which is gone: ${messageOf(error)}`;
        log.error(message, { object: key, attempt, delayMs, error });
      }
      return failed.size === 0;
    } catch (error) {
      if (signal.aborted) return false;
      log.error(`could not garbage collect the children of deleted objects: ${messageOf(error)}`, { error });
      if (ownerKey !== undefined) this.#queue.retry(ownerKey, true);
      return false;
    }
  }

  /** Works until the signal is aborted. */
  async work(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#queue.shutDown(), { once: true });
    if (signal.aborted) this.#queue.shutDown();
    for (let item = await this.#queue.get(); item; item = await this.#queue.get()) {
      if (!signal.aborted && (await this.collect(item.key))) this.#queue.forget(item.key);
      this.#queue.done(item);
    }
  }
}
