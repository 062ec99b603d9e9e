import type { Clock } from "../../clock/clock.js";
import { SetpointError } from "../../errors/error.js";
import type { Kind } from "../../kinds/kind.js";
import type { KubeObject } from "../../kinds/object.js";
import { currentSignal, type Fence } from "../../loop/fence.js";
import type { DependencyIndex, Read } from "../causes/dependency-index.js";
import { identityOf } from "../causes/dependency-index.js";
import type { SecretMask } from "../secrets/secret-mask.js";
import type { WriteRecord } from "../timeline/timeline.js";
import type { RunSpan } from "../timeline/traces.js";
import { BLOCKED_AFTER_MS, type Pause } from "./event-loop-watch.js";

export interface ReconcileRunOptions {
  readonly id: number;
  readonly controller: string;
  readonly kind: Kind;
  readonly key: string;
  readonly object: KubeObject;
  readonly signal: AbortSignal;
  readonly fence: Fence;
  readonly dependencies: DependencyIndex;
  readonly clock: Pick<Clock, "monotonic">;
  readonly mask: SecretMask;
  readonly span: RunSpan | undefined;
}

/** One run in progress: its reads and writes, and whether it may still act. */
export class ReconcileRun {
  readonly id: number;
  readonly controller: string;
  readonly kind: Kind;
  readonly key: string;
  /** The object at the start of the run, without the run's own writes. */
  readonly object: KubeObject;
  readonly reads = new Set<string>();
  readonly writes: WriteRecord[] = [];
  /** The contents of patches and statuses, to tell a loop from progress; they never leave the run. */
  readonly contents = new Map<WriteRecord, string>();
  readonly effects: string[] = [];
  /** The effect that ended a plan, because the rest depends on its result. */
  endedByEffect: string | undefined;
  /** The owned objects that this run stated, by source and key. */
  readonly stated = new Set<string>();
  readonly #fence: Fence;
  readonly #dependencies: DependencyIndex;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #mask: SecretMask;
  readonly #span: RunSpan | undefined;
  readonly #signal: AbortSignal;
  #isSignalLent = false;
  /** Writes in flight. */
  #writing = 0;
  /** When the run last acted. */
  #lastSeenMs: number;
  #pause: Pause | undefined;
  #isOver = false;

  constructor(options: ReconcileRunOptions) {
    this.id = options.id;
    this.controller = options.controller;
    this.kind = options.kind;
    this.key = options.key;
    this.object = options.object;
    this.#signal = options.signal;
    this.#fence = options.fence;
    this.#dependencies = options.dependencies;
    this.#clock = options.clock;
    this.#mask = options.mask;
    this.#span = options.span;
    this.#lastSeenMs = options.clock.monotonic();
    this.#mask.name(options.key);
  }

  get lastSeenMs(): number {
    return this.#lastSeenMs;
  }

  /** Aborted on timeout and shutdown. Callers may keep it. */
  get signal(): AbortSignal {
    this.#isSignalLent = true;
    return this.#signal;
  }

  /** Whether nobody can hold the signal after the end of the run, so that another run may reuse it. */
  get isSignalFree(): boolean {
    return !this.#isSignalLent && this.#writing === 0;
  }

  get pause(): Pause | undefined {
    return this.#pause;
  }

  /** Tracks a read: from now on a change of it runs the object again. */
  track(read: Read): void {
    const id = identityOf(read);
    this.reads.add(id);
    // Also of objects that do not exist: messages name them.
    if (read.type === "object") this.#mask.name(read.key);
    this.#dependencies.add(this.key, read, id);
  }

  /** Throws if the run is over, timed out or lost its lease: it must not act any more. */
  assertOpen(): void {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#lastSeenMs >= BLOCKED_AFTER_MS) this.#pause = { fromMs: this.#lastSeenMs, toMs: nowMs };
    this.#lastSeenMs = nowMs;
    if (this.#isOver) {
      const message = `${this.controller}: the run of ${this.key} has ended; await every promise in it`;
      throw new SetpointError("RUN_OVER", message);
    }
    this.#signal.throwIfAborted();
  }

  assertMayWrite(): void {
    this.assertOpen();
    this.#fence.check();
  }

  /** The signal for work that starts now. Also aborted if the lease has just ended unnoticed. */
  currentSignal(): AbortSignal {
    return currentSignal(this.signal, this.#fence);
  }

  /** Records Secret values that the run has seen, for masking; names are public. */
  learn(kind: Kind, object: unknown): void {
    this.#mask.learn(kind, object);
  }

  /** Makes one write, in its own span if tracing is on. The callback may use the signal only until it returns. */
  async write<Answer>(
    verb: string,
    source: string,
    key: string,
    request: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const signal = this.#signal;
    this.#writing++;
    try {
      return await (this.#span ? this.#span.write(verb, source, key, () => request(signal)) : request(signal));
    } finally {
      this.#writing--;
    }
  }

  /** Ends the run. `isComplete`: it made all its reads, so those of earlier runs no longer count. */
  end(isComplete: boolean): void {
    this.#isOver = true;
    if (isComplete) this.#dependencies.retain(this.key, this.reads);
  }
}
