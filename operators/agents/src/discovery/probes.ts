import type { Clock, Random, Timer } from "setpoint/clock";

/** An external server to ask repeatedly, and the object it belongs to. */
export interface ProbeTarget {
  /** The id of the object: `RemoteMCPServer.kagent.dev team/search`. */
  readonly id: string;
  readonly uid: string;
  readonly generation: number;
  /** A hash of everything that the request depends on. A new fingerprint causes a new request. */
  readonly fingerprint: string;
  /** Host and port, for the limit per host. */
  readonly host: string;
  readonly timeoutMs: number;
  /** If undefined, asks once per fingerprint, and again only after failures. */
  readonly intervalMs: number | undefined;
}

export type ProbeResult<Answer> = { readonly at: number } & (
  | { readonly type: "answer"; readonly answer: Answer }
  | { readonly type: "failure"; readonly error: unknown; readonly failures: number }
);

/** Asks a target. Calls `onProgress` whenever a part of the answer arrives. */
export type Ask<Target, Answer> = (target: Target, signal: AbortSignal, onProgress: () => void) => Promise<Answer>;

/**
 * Listens to a target that has answered, and calls `onChanged` when it must be asked again. Resolves at once for a
 * target that announces no changes; rejects when the connection breaks.
 */
export type Watch<Target, Answer> = (
  target: Target,
  answer: Answer,
  signal: AbortSignal,
  onChanged: () => void,
) => Promise<void>;

export interface ProbesOptions<Target, Answer> {
  readonly clock: Clock;
  readonly random: Random;
  readonly ask: Ask<Target, Answer>;
  readonly watch?: Watch<Target, Answer>;
  /** Concurrent requests in total. Defaults to 16. */
  readonly limit?: number;
  /** Concurrent requests per host and port. Defaults to 4. */
  readonly limitPerHost?: number;
}

interface Entry<Target, Answer> {
  target: Target;
  state: "idle" | "queued" | "running";
  failures: number;
  result: ProbeResult<Answer> | undefined;
  timer: Timer | undefined;
  abort: AbortController | undefined;
  /** Kept after a watch that resolved. Cleared after one that broke, so that the next answer starts another. */
  watch: AbortController | undefined;
  /** The target announced a change while a request was queued or running. */
  isStale: boolean;
  settledMs: number;
}

const DEFAULT_LIMIT = 16;
const DEFAULT_LIMIT_PER_HOST = 4;
/** A request without progress for this long releases its slot, and continues without one. */
const PATIENCE_MS = 500;
const JITTER = 0.1;
const MAX_BACKOFF = 8;
/** The retry interval of a target without an interval. */
const RETRY_MS = 30_000;
/** The least time between requests, however often a target announces changes. */
const CHANGE_SPACING_MS = 1_000;
/** Each watch uses a socket. Beyond this limit, targets are only asked at their interval. */
const MAX_WATCHES = 1_000;

/**
 * Asks external servers in the background, outside the controllers' workers. Limits concurrency in total and per host,
 * and sets a deadline for each request. Silent servers release their slot after `PATIENCE_MS`, and servers that failed
 * queue behind all others, so hanging servers delay a healthy one only briefly. A result is valid only for the object,
 * generation and fingerprint that asked for it.
 */
export class Probes<Target extends ProbeTarget, Answer> implements Disposable {
  readonly #options: ProbesOptions<Target, Answer>;
  readonly #entries = new Map<string, Entry<Target, Answer>>();
  /** Two FIFO queues: targets without failures go before targets that failed. */
  readonly #fresh = new Set<string>();
  readonly #failed = new Set<string>();
  readonly #busyHosts = new Map<string, number>();
  readonly #listeners = new Set<(id: string) => void>();
  #busy = 0;
  #watches = 0;
  #isOver = false;

  constructor(options: ProbesOptions<Target, Answer>) {
    this.#options = options;
  }

  /** Calls the listener with the id of each result. Dispose to stop. */
  onResult(listener: (id: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Starts to ask a target. A changed uid, generation or fingerprint discards the old result and asks at once. */
  want(target: Target): void {
    if (this.#isOver) return;
    const entry = this.#entries.get(target.id);
    if (entry && isSame(entry.target, target)) {
      const isRescheduled = entry.state === "idle" && entry.target.intervalMs !== target.intervalMs;
      entry.target = target;
      if (isRescheduled) this.#askSoon(entry);
      return;
    }
    if (entry) this.#drop(entry);
    const fresh: Entry<Target, Answer> = {
      target,
      state: "idle",
      failures: entry?.target.uid === target.uid ? entry.failures : 0,
      result: undefined,
      timer: undefined,
      abort: undefined,
      watch: undefined,
      isStale: false,
      settledMs: 0,
    };
    this.#entries.set(target.id, fresh);
    this.#queue(fresh);
  }

  /** Stops asking. With a uid, only if it matches: a new object may have the same name. */
  forget(id: string, uid?: string): void {
    const entry = this.#entries.get(id);
    if (!entry || (uid !== undefined && entry.target.uid !== uid)) return;
    this.#entries.delete(id);
    this.#drop(entry);
  }

  /** The last result for exactly this object, generation and fingerprint. */
  result(target: Target): ProbeResult<Answer> | undefined {
    const entry = this.#entries.get(target.id);
    return entry && isSame(entry.target, target) ? entry.result : undefined;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const entry of this.#entries.values()) this.#drop(entry);
    this.#entries.clear();
  }

  #drop(entry: Entry<Target, Answer>): void {
    const { id } = entry.target;
    entry.timer?.[Symbol.dispose]();
    entry.abort?.abort();
    entry.watch?.abort();
    this.#fresh.delete(id);
    this.#failed.delete(id);
  }

  #queue(entry: Entry<Target, Answer>): void {
    entry.timer?.[Symbol.dispose]();
    entry.timer = undefined;
    entry.state = "queued";
    (entry.failures > 0 ? this.#failed : this.#fresh).add(entry.target.id);
    this.#pump();
  }

  #pump(): void {
    const { limit = DEFAULT_LIMIT, limitPerHost = DEFAULT_LIMIT_PER_HOST } = this.#options;
    for (const lane of [this.#fresh, this.#failed]) {
      for (const id of lane) {
        if (this.#busy >= limit || this.#isOver) return;
        const entry = this.#entries.get(id)!;
        if ((this.#busyHosts.get(entry.target.host) ?? 0) >= limitPerHost) continue;
        lane.delete(id);
        void this.#run(entry);
      }
    }
  }

  async #run(entry: Entry<Target, Answer>): Promise<void> {
    const { clock, ask } = this.#options;
    const { target } = entry;
    const abort = new AbortController();
    entry.abort = abort;
    entry.state = "running";
    const release = this.#takePlace(target.host);
    let patience = clock.timer(PATIENCE_MS, release);
    const onProgress = (): void => {
      patience[Symbol.dispose]();
      patience = clock.timer(PATIENCE_MS, release);
    };
    const deadline = clock.timer(target.timeoutMs, () => abort.abort(new DOMException("timed out", "TimeoutError")));
    let outcome: { readonly answer: Answer } | { readonly error: unknown };
    try {
      outcome = { answer: await ask(target, abort.signal, onProgress) };
    } catch (error) {
      outcome = { error };
    } finally {
      deadline[Symbol.dispose]();
      patience[Symbol.dispose]();
    }
    // Ignore a late answer if the target was forgotten or replaced.
    if (this.#entries.get(target.id) === entry && !this.#isOver) this.#settle(entry, outcome);
    release();
  }

  #takePlace(host: string): () => void {
    this.#busy++;
    this.#busyHosts.set(host, (this.#busyHosts.get(host) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#busy--;
      const left = this.#busyHosts.get(host)! - 1;
      if (left === 0) this.#busyHosts.delete(host);
      else this.#busyHosts.set(host, left);
      this.#pump();
    };
  }

  #settle(entry: Entry<Target, Answer>, outcome: { readonly answer: Answer } | { readonly error: unknown }): void {
    const { clock } = this.#options;
    const { id } = entry.target;
    const at = clock.now();
    entry.settledMs = clock.monotonic();
    entry.state = "idle";
    entry.abort = undefined;
    if ("answer" in outcome) {
      entry.failures = 0;
      entry.result = { type: "answer", answer: outcome.answer, at };
    } else {
      entry.failures++;
      entry.result = { type: "failure", error: outcome.error, failures: entry.failures, at };
    }
    if (entry.result.type === "answer") this.#listen(entry, entry.result.answer);
    if (entry.isStale) this.#askSoon(entry);
    else this.#askLater(entry);
    for (const listener of this.#listeners) listener(id);
  }

  #askLater(entry: Entry<Target, Answer>): void {
    const { clock, random } = this.#options;
    const { intervalMs } = entry.target;
    const backoff = entry.failures === 0 ? 1 : Math.min(2 ** (entry.failures - 1), MAX_BACKOFF);
    const everyMs = intervalMs ?? (entry.failures > 0 ? RETRY_MS : undefined);
    if (everyMs !== undefined) {
      const delayMs = everyMs * backoff * (1 + random.next() * JITTER);
      entry.timer = clock.timer(delayMs, () => this.#queue(entry)).unref();
    }
  }

  #askSoon(entry: Entry<Target, Answer>): void {
    entry.isStale = false;
    entry.timer?.[Symbol.dispose]();
    const { clock } = this.#options;
    const sinceMs = clock.monotonic() - entry.settledMs;
    entry.timer = clock.timer(CHANGE_SPACING_MS - sinceMs, () => this.#queue(entry)).unref();
  }

  #listen(entry: Entry<Target, Answer>, answer: Answer): void {
    const { watch } = this.#options;
    if (!watch || entry.watch || this.#watches >= MAX_WATCHES) return;
    const abort = new AbortController();
    entry.watch = abort;
    this.#watches++;
    const onChanged = (): void => {
      if (abort.signal.aborted) return;
      if (entry.state === "idle") this.#askSoon(entry);
      else entry.isStale = true;
    };
    watch(entry.target, answer, abort.signal, onChanged)
      .catch(() => {
        entry.watch = undefined;
      })
      .finally(() => this.#watches--);
  }
}

function isSame(a: ProbeTarget, b: ProbeTarget): boolean {
  return a.uid === b.uid && a.generation === b.generation && a.fingerprint === b.fingerprint;
}
