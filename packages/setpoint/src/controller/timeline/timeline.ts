import type { Outcome } from "../../loop/outcome.js";
import type { Action, Cause } from "../causes/cause.js";

/** One write of a run, without its values. */
export interface WriteRecord {
  readonly verb: "apply" | "create" | "patch" | "delete" | "status" | "finalizer";
  readonly kind: string;
  readonly key: string;
  /** The differing fields, for apply and status. */
  readonly paths: readonly string[];
  /** The resourceVersion of the response; links this write to the runs that it caused. */
  readonly resourceVersion?: string;
  /** Another writer of the same fields, if the controller looked for one. */
  readonly rival?: string;
}

/** One run of a reconciler, from its causes to its outcome. */
export interface RunRecord {
  /** Increases with each run of a process. */
  readonly id: number;
  readonly controller: string;
  readonly kind: string;
  readonly key: string;
  readonly uid: string;
  readonly causes: readonly Cause[];
  /** The causes in one word. */
  readonly action: Action;
  /** RFC 3339 with milliseconds. */
  readonly startedAt: string;
  /** How long the key was queued. */
  readonly waitedMs: number;
  readonly durationMs: number;
  /** 0 for the first attempt. */
  readonly attempt: number;
  /** `object v1/ConfigMap team/settings`, `list …`, `index …`. */
  readonly reads: readonly string[];
  readonly writes: readonly WriteRecord[];
  readonly effects: readonly string[];
  readonly outcome: Outcome["type"] | "paused" | "held" | "gone" | "aborted";
  /** Why it waits, is held back by its refs, or failed. */
  readonly reason?: string;
  /** Set when the retries are used up and the key only runs at the longest interval. */
  readonly parked?: boolean;
}

export interface TimelineFilter {
  readonly controller?: string;
  readonly key?: string;
}

/** How many reads of a run to keep: a list is one read, but a loop over gets may be thousands. */
export const MAX_READS = 100;

/** The last runs of all controllers of a process: bounded, in memory, oldest first. */
export class Timeline {
  readonly #capacity: number;
  readonly #runs: RunRecord[] = [];
  readonly #listeners = new Set<(run: RunRecord) => void>();
  /** The index of the oldest record, once the ring is full. */
  #start = 0;
  #nextId = 1;

  constructor(capacity = 1_000) {
    this.#capacity = capacity;
  }

  nextId(): number {
    return this.#nextId++;
  }

  add(run: RunRecord): void {
    if (this.#runs.length < this.#capacity) {
      this.#runs.push(run);
    } else {
      this.#runs[this.#start] = run;
      this.#start = (this.#start + 1) % this.#capacity;
    }
    for (const listener of this.#listeners) listener(run);
  }

  *runs(filter: TimelineFilter = {}): Iterable<RunRecord> {
    for (let at = 0; at < this.#runs.length; at++) {
      const run = this.#runs[(this.#start + at) % this.#runs.length]!;
      if (filter.controller !== undefined && run.controller !== filter.controller) continue;
      if (filter.key !== undefined && run.key !== filter.key) continue;
      yield run;
    }
  }

  /** Calls `listener`, which must not throw, with every run that ends from now on. */
  subscribe(listener: (run: RunRecord) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
}
