import type { Clock } from "../clock/clock.js";
import type { Random } from "../clock/random.js";
import type { BackoffOptions } from "../loop/backoff.js";
import { WorkQueue } from "../queue/work-queue.js";

export interface OrphanRetryOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly backoff: BackoffOptions;
  /** Tries again for one owner; says whether nothing is left to be tried. Never rejects. */
  readonly collect: (ownerKey: string) => Promise<boolean>;
}

/**
 * The owners, gone by now, whose children could not be deleted. They are tried again one by one, each after its own
 * back-off, for as long as it takes. Apart from the queue of the controller: an object that has taken the name of one
 * has nothing to do with it.
 */
export class OrphanRetries {
  readonly #queue: WorkQueue<true>;
  readonly #collect: OrphanRetryOptions["collect"];

  constructor({ clock, random, backoff, collect }: OrphanRetryOptions) {
    this.#queue = new WorkQueue({ clock, random, merge: () => true, backoff });
    this.#collect = collect;
  }

  /** How many owners wait for their next try. */
  get waiting(): number {
    return this.#queue.delayed + this.#queue.depth;
  }

  /** Counts a failure. Gives how many there were before, and the delay after it. */
  add(ownerKey: string): { readonly attempt: number; readonly delayMs: number } {
    const attempt = this.#queue.retries(ownerKey);
    return { attempt, delayMs: this.#queue.retry(ownerKey, true) };
  }

  /** Works until the signal is aborted. */
  async work(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#queue.shutDown(), { once: true });
    if (signal.aborted) this.#queue.shutDown();
    for (let item = await this.#queue.get(); item; item = await this.#queue.get()) {
      if (!signal.aborted && (await this.#collect(item.key))) this.#queue.forget(item.key);
      this.#queue.done(item);
    }
  }
}
