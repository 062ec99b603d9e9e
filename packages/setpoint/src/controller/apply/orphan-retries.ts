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
  /**
   * Deletes the children of one owner that is gone, or of all such owners. Returns the owners for which that failed,
   * with the errors.
   */
  readonly collect: (ownerKey: string | undefined) => Promise<ReadonlyMap<string, unknown>>;
  /** Aborts running attempts. */
  readonly signal: AbortSignal;
}

/**
 * The deleted owners whose children could not be deleted. Each is retried after its own back-off, without limit. They
 * are not in the controller's queue, because a new object of the same name has nothing to do with them.
 */
export class OrphanRetries {
  readonly #queue: WorkQueue<true>;
  readonly #options: OrphanRetryOptions;

  constructor(options: OrphanRetryOptions) {
    const { clock, random, backoff } = options;
    this.#queue = new WorkQueue({ clock, random, merge: () => true, backoff });
    this.#options = options;
  }

  /** How many owners wait for their next attempt. */
  get waiting(): number {
    return this.#queue.delayed + this.#queue.depth;
  }

  /** Deletes children of deleted owners in other namespaces and clusters. Returns false if some are left, which are retried. */
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
