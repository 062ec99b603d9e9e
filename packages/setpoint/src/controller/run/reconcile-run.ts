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

/** One run while it lasts: what it has read and written, and whether it still may. */
export class ReconcileRun {
  readonly id: number;
  readonly controller: string;
  readonly kind: Kind;
  readonly key: string;
  /** The object as the run got it; of its own writes the run knows more than this. */
  readonly object: KubeObject;
  readonly reads = new Set<string>();
  readonly writes: WriteRecord[] = [];
  /** What patches and statuses wrote, to tell a loop from progress; never leaves the run. */
  readonly contents = new Map<WriteRecord, string>();
  readonly effects: string[] = [];
  /** A plan could not go on: what follows depends on an effect that was not run. */
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
  /** Writes that are under way. */
  #writing = 0;
  /** When the run last showed that it is at work. */
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

  /** Whether nothing can hold the signal after the run has ended: another run may then use it. */
  get isSignalFree(): boolean {
    return !this.#isSignalLent && this.#writing === 0;
  }

  get pause(): Pause | undefined {
    return this.#pause;
  }

  /** Tracks a read: from now on its changes repeat this run. */
  track(read: Read): void {
    const id = identityOf(read);
    this.reads.add(id);
    // Also of what is not there: messages name it.
    if (read.type === "object") this.#mask.name(read.key);
    this.#dependencies.add(this.key, read, id);
  }

  /** What a run that is over, timed out or lost its lease still tries must not reach the world. */
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

  /** The signal for work that begins now. Aborted also if the lease has just ended, unnoticed so far. */
  currentSignal(): AbortSignal {
    return currentSignal(this.signal, this.#fence);
  }

  /** The values of a Secret that the run has seen must not be seen by others; names may. */
  learn(kind: Kind, object: unknown): void {
    this.#mask.learn(kind, object);
  }

  /** Makes one write, in a span of its own where traces are wanted. The signal is lent for as long as it lasts. */
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

  /** Ends the run. `isComplete`: it read all that it needs, so reads of earlier runs count no more. */
  end(isComplete: boolean): void {
    this.#isOver = true;
    if (isComplete) this.#dependencies.retain(this.key, this.reads);
  }
}
