import type { Clock, Timer } from "../clock/clock.js";
import { parseDuration } from "../clock/duration.js";
import { jitter, type Random } from "../clock/random.js";
import { SetpointError } from "../errors/error.js";
import type { KubeObject } from "../kinds/object.js";
import type { HandlerOptions, HandlerRegistration, InformerEvent, InformerHandler } from "./informer.js";

/** A version of an object, possibly not parsed yet. */
export interface Held<T extends KubeObject = KubeObject> {
  readonly object: T;
}

/** One step in the life of an object, as it goes to every handler. */
export type HandlerStep<T extends KubeObject = KubeObject> =
  | { readonly type: "add"; readonly key: string; readonly object: Held<T>; readonly isInInitialList: boolean }
  | {
      readonly type: "update";
      readonly key: string;
      readonly old: Held<T>;
      readonly object: Held<T>;
      readonly isResync: boolean;
    }
  | {
      readonly type: "delete";
      readonly key: string;
      readonly object: Held<T> | undefined;
      readonly finalStateUnknown: boolean;
    };

/** A step that waits; its object moves on when later steps are merged into it. */
type Pending<T extends KubeObject> = { step: HandlerStep<T>; merged: boolean };

/** Queued after the last event of the initial list. */
const INITIAL_LIST_END = Symbol("end of the initial list");

export interface ListenerContext {
  readonly clock: Clock;
  readonly random: Random;
  /** Called with what a handler throws; the step is not repeated. */
  readonly onHandlerError: (key: string, error: unknown) => void;
  /** Every object of the store, for a resync. */
  readonly everything: () => Iterable<readonly [key: string, object: Held]>;
  readonly onDispose: () => void;
}

const DEFAULT_MAX_STEPS_PER_KEY = 64;
/** How often to call a synchronous handler before others get a turn. */
const STEPS_PER_TURN = 256;
/** The jitter of resyncs, so that those of many handlers and processes drift apart. */
const RESYNC_JITTER = 0.2;

/**
 * Delivers every step to one handler, in order, one at a time, without delaying other handlers.
 *
 * Memory is bounded per key: beyond `maxStepsPerKey` waiting steps, an update is merged into the previous update. Adds
 * and deletes are never merged, so a re-creation is always seen as a delete and an add.
 */
export class Listener<T extends KubeObject> implements HandlerRegistration {
  readonly synced: Promise<void>;
  readonly wantsResync: boolean;
  readonly #handler: InformerHandler<T>;
  readonly #context: ListenerContext;
  readonly #maxStepsPerKey: number;
  readonly #resyncMs: number;
  #queue: (Pending<T> | typeof INITIAL_LIST_END)[] = [];
  /** How many entries of `#queue` are taken. */
  #taken = 0;
  /** The newest waiting step of each key, and how many wait. */
  readonly #waiting = new Map<string, { count: number; newest: Pending<T> }>();
  #isRunning = false;
  #isDisposed = false;
  #resyncTimer: Timer | undefined;
  #markSynced!: () => void;
  #markFailed!: (error: unknown) => void;

  constructor(handler: InformerHandler<T>, options: HandlerOptions, context: ListenerContext) {
    this.#handler = handler;
    this.#context = context;
    this.#maxStepsPerKey = Math.max(1, options.maxStepsPerKey ?? DEFAULT_MAX_STEPS_PER_KEY);
    this.#resyncMs = parseDuration(options.resync ?? 0, "resync");
    this.wantsResync = this.#resyncMs > 0;
    this.synced = new Promise((resolve, reject) => {
      this.#markSynced = resolve;
      this.#markFailed = reject;
    });
    this.synced.catch(() => {});
    if (this.wantsResync) this.#scheduleResync();
  }

  /** Steps that wait or are being handled. */
  get backlog(): number {
    return this.#queue.length - this.#taken + (this.#isRunning ? 1 : 0);
  }

  isWaiting(key: string): boolean {
    return this.#waiting.has(key);
  }

  push(step: HandlerStep<T>): void {
    if (this.#isDisposed) return;
    const waiting = this.#waiting.get(step.key);
    if (waiting && waiting.count >= this.#maxStepsPerKey && step.type === "update") {
      const { newest } = waiting;
      if (newest.step.type === "update") {
        const isResync = newest.step.isResync && step.isResync;
        newest.step = { ...step, old: newest.step.old, isResync };
        newest.merged = true;
        return;
      }
    }
    const pending = { step, merged: false };
    if (waiting) {
      waiting.count++;
      waiting.newest = pending;
    } else {
      this.#waiting.set(step.key, { count: 1, newest: pending });
    }
    this.#enqueue(pending);
  }

  /** As {@link push}, of a step that is a whole change: a handler that waits for nothing takes it at once. */
  pushEvent(step: HandlerStep<T>): void {
    if (this.#isRunning || this.#isDisposed) {
      this.push(step);
      return;
    }
    this.#isRunning = true;
    const returned = this.#call({ step, merged: false });
    if (returned) void returned.then(this.#start);
    else if (this.#taken < this.#queue.length) queueMicrotask(this.#start);
    else this.#isRunning = false;
  }

  /** Everything in the initial list has been pushed. */
  endInitialList(): void {
    if (!this.#isDisposed) this.#enqueue(INITIAL_LIST_END);
  }

  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#resyncTimer?.[Symbol.dispose]();
    this.#queue = [];
    this.#taken = 0;
    this.#waiting.clear();
    this.#markFailed(new SetpointError("ABORTED", "the handler was removed before it had seen the initial list"));
    this.#context.onDispose();
  }

  #enqueue(entry: Pending<T> | typeof INITIAL_LIST_END): void {
    this.#queue.push(entry);
    if (this.#isRunning) return;
    this.#isRunning = true;
    queueMicrotask(this.#start);
  }

  readonly #start = (): void => void this.#run();

  async #run(): Promise<void> {
    for (let inTurn = 1; this.#taken < this.#queue.length; inTurn++) {
      const entry = this.#take();
      if (entry === INITIAL_LIST_END) {
        this.#markSynced();
        continue;
      }
      const returned = this.#call(entry);
      if (returned) await returned;
      if (inTurn % STEPS_PER_TURN === 0) await this.#context.clock.sleep(0);
    }
    this.#isRunning = false;
  }

  /** Calls the handler and reports what it throws, now or later. */
  #call(pending: Pending<T>): Promise<void> | undefined {
    const report = (error: unknown): void => this.#context.onHandlerError(pending.step.key, error);
    try {
      const returned = this.#handler(eventOf(pending));
      return returned ? returned.then(undefined, report) : undefined;
    } catch (error) {
      report(error);
      return undefined;
    }
  }

  #take(): Pending<T> | typeof INITIAL_LIST_END {
    const entry = this.#queue[this.#taken++]!;
    if (this.#taken === this.#queue.length) {
      this.#queue = [];
      this.#taken = 0;
    } else if (this.#taken >= 1024 && this.#taken * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#taken);
      this.#taken = 0;
    }
    if (entry !== INITIAL_LIST_END) {
      const waiting = this.#waiting.get(entry.step.key)!;
      if (--waiting.count === 0) this.#waiting.delete(entry.step.key);
    }
    return entry;
  }

  #scheduleResync(): void {
    const delayMs = jitter(this.#context.random, this.#resyncMs * (1 - RESYNC_JITTER / 2), RESYNC_JITTER);
    this.#resyncTimer = this.#context.clock.timer(delayMs, () => {
      for (const [key, object] of this.#context.everything() as Iterable<readonly [string, Held<T>]>) {
        if (!this.isWaiting(key)) this.push({ type: "update", key, old: object, object, isResync: true });
      }
      this.#scheduleResync();
    });
    this.#resyncTimer.unref();
  }
}

/** The event as the handler sees it. */
function eventOf<T extends KubeObject>({ step, merged }: Pending<T>): InformerEvent<T> {
  switch (step.type) {
    case "add":
      return new AddEvent(step);
    case "update":
      return new UpdateEvent(step, merged);
    case "delete":
      return step.object
        ? new DeleteEvent(step)
        : { type: "delete", key: step.key, finalStateUnknown: step.finalStateUnknown };
  }
}

/*
 * Events whose objects are parsed on access. Classes, because an accessor in an object literal is created each time,
 * which costs as much as parsing a small object.
 */

type StepOf<T extends KubeObject, Type extends HandlerStep["type"]> = HandlerStep<T> & { readonly type: Type };

class AddEvent<T extends KubeObject> {
  readonly type = "add";
  readonly key: string;
  readonly isInInitialList: boolean;
  readonly #step: StepOf<T, "add">;

  constructor(step: StepOf<T, "add">) {
    this.key = step.key;
    this.isInInitialList = step.isInInitialList;
    this.#step = step;
  }

  get object(): T {
    return this.#step.object.object;
  }
}

class UpdateEvent<T extends KubeObject> {
  readonly type = "update";
  readonly key: string;
  readonly isResync: boolean;
  readonly merged: boolean;
  readonly #step: StepOf<T, "update">;

  constructor(step: StepOf<T, "update">, merged: boolean) {
    this.key = step.key;
    this.isResync = step.isResync;
    this.merged = merged;
    this.#step = step;
  }

  get old(): T {
    return this.#step.old.object;
  }

  get object(): T {
    return this.#step.object.object;
  }
}

class DeleteEvent<T extends KubeObject> {
  readonly type = "delete";
  readonly key: string;
  readonly finalStateUnknown: boolean;
  readonly #step: StepOf<T, "delete">;

  constructor(step: StepOf<T, "delete">) {
    this.key = step.key;
    this.finalStateUnknown = step.finalStateUnknown;
    this.#step = step;
  }

  get object(): T {
    return this.#step.object!.object;
  }
}
