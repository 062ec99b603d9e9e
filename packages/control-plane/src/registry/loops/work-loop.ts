import { setMaxListeners } from "node:events";
import type { Clock } from "setpoint/clock";
import type { Change } from "../../storage/storage.js";
import type { WriteEnvironment } from "../write/write-request.js";

/** What the control plane's own loops need. */
export interface LoopEnvironment extends WriteEnvironment {
  readonly log: LoopLog;
}

/** A loop of the control plane. It receives every change and handles those that concern it. */
export interface RegistryLoop extends AsyncDisposable {
  onChanges(changes: readonly Change[]): void;
}

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 30_000;
/** Number of keys after which the loop yields to requests: work in memory never yields by itself. */
const KEYS_PER_TURN = 16;

/** Receives failures that a loop will retry. */
export type LoopLog = (message: string, error: unknown) => void;

/** The result for a key: done for now, or retry with backoff and without a log line. */
export type Turn = "done" | "again";

/**
 * Processes keys one at a time. A key that is added while it runs runs again. Failures are logged and retried with
 * backoff.
 */
export class WorkLoop implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #log: LoopLog;
  readonly #work: (key: string, signal: AbortSignal) => Promise<Turn> | Promise<void>;
  readonly #keys = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #retries = new Map<string, Disposable>();
  readonly #lifetime = new AbortController();
  #running: Promise<void> | undefined;

  constructor(
    { clock, log }: { readonly clock: Clock; readonly log: LoopLog },
    work: (key: string, signal: AbortSignal) => Promise<Turn> | Promise<void>,
  ) {
    // A turn may have many listeners on this signal: parallel deletes and their webhooks.
    setMaxListeners(0, this.#lifetime.signal);
    this.#clock = clock;
    this.#log = log;
    this.#work = work;
  }

  add(key: string): void {
    if (this.#lifetime.signal.aborted) return;
    this.#keys.add(key);
    this.#running ??= this.#run();
  }

  /** Adds the key after `delayMs`. A later call for the same key replaces an earlier one. */
  addAfter(key: string, delayMs: number): void {
    if (this.#lifetime.signal.aborted) return;
    this.#retries.get(key)?.[Symbol.dispose]();
    const timer = this.#clock.timer(delayMs, () => {
      this.#retries.delete(key);
      this.add(key);
    });
    this.#retries.set(key, timer.unref());
  }

  /** Resolves once every key added so far was processed. Does not wait for retries. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lifetime.abort(new Error("the control plane stops"));
    for (const retry of this.#retries.values()) retry[Symbol.dispose]();
    this.#keys.clear();
    await this.#running;
  }

  async #run(): Promise<void> {
    // Do not run inside the change that added the key: its writer goes first.
    await undefined;
    let keys = 0;
    for (const key of this.#keys) {
      if (++keys % KEYS_PER_TURN === 0) await this.#clock.sleep(0, this.#lifetime.signal).catch(() => {});
      if (this.#lifetime.signal.aborted) break;
      this.#keys.delete(key);
      try {
        const turn = await this.#work(key, this.#lifetime.signal);
        if (turn === "again") this.#retryLater(key);
        else this.#failures.delete(key);
      } catch (error) {
        if (!this.#lifetime.signal.aborted) this.#log(`${key}: will be tried again`, error);
        this.#retryLater(key);
      }
    }
    this.#running = undefined;
  }

  #retryLater(key: string): void {
    if (this.#lifetime.signal.aborted) return;
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS);
    this.addAfter(key, delayMs);
  }
}
