import { type Duration, parseDuration } from "../../clock/duration.js";
import { isSetpointError, SetpointError } from "../../errors/error.js";
import type { InformerEvent } from "../../informer/informer.js";
import type { InformerShare } from "../../informer/informers.js";
import { kindId } from "../../kinds/kind.js";
import type { KubeObject } from "../../kinds/object.js";
import { Backoff } from "../../loop/backoff.js";
import { currentSignal, openFence } from "../../loop/fence.js";
import { type Logger, silentLogger } from "../../loop/logger.js";
import { messageOf } from "../../loop/outcome.js";
import { WorkQueue } from "../../queue/work-queue.js";
import type { SourceStatus } from "../causes/controller-sources.js";
import { type ControllerEnvironment, type MaskedEnvironment, masked } from "../environment.js";
import { noMetrics } from "../metric-source.js";
import type { FailedStep, WatchContext, Watcher, WatchStep } from "../watcher.js";
import { Deadlines } from "./deadlines.js";
import { isHung } from "./hung.js";
import { handleOpinionated } from "./opinionated-steps.js";
import { Turn } from "./turn.js";

/** How many steps may wait before the informer holds back events and, if necessary, merges them. */
const MAX_BACKLOG = 1_024;
/** How many steps of an object to keep while one of its steps hangs, before updates are merged. */
const MAX_STUCK_STEPS = 64;
/** How long `stop` waits for steps before it aborts their signal. */
const DEFAULT_GRACE: Duration = "30s";

interface PendingRetry {
  readonly step: WatchStep;
  readonly attempt: number;
  readonly dueMs: number;
}

/** The pending steps of one object. */
interface Lane {
  readonly steps: WatchStep[];
  retries: PendingRetry[];
  /** A step hangs: no other step of this object starts until it ends, and waiting steps do not delay other objects. */
  isStuck: boolean;
}

/** A running watcher: delivers every step in order, retries failed ones, and never runs two at once for one object. */
export class LiveWatcher implements AsyncDisposable {
  readonly watcher: Watcher;
  readonly #stuck = new Set<string>();
  readonly #environment: MaskedEnvironment;
  readonly #log: Logger;
  readonly #queue: WorkQueue<true>;
  readonly #backoff: Backoff;
  readonly #lanes = new Map<string, Lane>();
  /** Objects, by uid, that are gone because this watcher removed the last finalizer; until that step arrives. */
  readonly #released = new Set<string>();
  readonly #begunHeld = new WeakSet<WatchStep>();
  /** Aborted when running steps must end. */
  readonly #aborting = new AbortController();
  readonly #deadlines: Deadlines;
  readonly #turn: Turn;
  readonly #workers: Promise<void>[] = [];
  #share: InformerShare | undefined;
  #backlog = 0;
  #onSpace: (() => void) | undefined;

  // biome-ignore lint/suspicious/noExplicitAny: the kind's type cannot matter here
  constructor(watcher: Watcher<any>, environment: ControllerEnvironment) {
    this.watcher = watcher as Watcher;
    // The requests of each worker listen to it: many listeners are not a leak.
    process.getBuiltinModule("node:events").setMaxListeners(0, this.#aborting.signal);
    this.#environment = masked(environment);
    this.#log = (this.#environment.log ?? silentLogger).with({ watcher: watcher.name });
    const { clock, random, observer, fence } = environment;
    fence?.lost?.addEventListener("abort", this.#onLeaseLost, { once: true });
    this.#backoff = new Backoff(random, watcher.retry);
    this.#deadlines = new Deadlines(clock, watcher.timeoutMs, this.#aborting.signal);
    this.#turn = new Turn(clock);
    const queueObserver = observer?.queueObserver?.(`watcher ${watcher.name}`);
    this.#queue = new WorkQueue({
      clock,
      random,
      merge: () => true,
      ...(queueObserver ? { observer: queueObserver } : {}),
    });
    this.#aborting.signal.addEventListener("abort", () => this.#queue.dismiss(), { once: true });
  }

  /** Steps that wait for a worker, without delayed retries and steps behind one that hangs. */
  get backlog(): number {
    return this.#backlog;
  }

  /** The keys whose code still runs although the watcher gave it up. */
  get stuck(): Iterable<string> {
    return this.#stuck;
  }

  status(): { readonly name: string; readonly informers: readonly SourceStatus[] } {
    const share = this.#share;
    const informers = share ? [{ kind: kindId(share.kind), scope: share.scope, ...share.status() }] : [];
    return { name: this.watcher.name, informers };
  }

  /** Starts only the informer, so that a later `start` finds it synced: for a standby. */
  warmUp(): void {
    const { namespaces = "all", labelSelector } = this.watcher.options;
    const scope = { namespaces, ...(labelSelector ? { labelSelector } : {}) };
    this.#share ??= this.#environment.cluster.informers.for(this.watcher.kind, scope);
  }

  /** Starts to watch. Resolves when all existing objects are queued. */
  async start(): Promise<void> {
    const { concurrency, resyncMs } = this.watcher;
    this.warmUp();
    const handler = this.#share!.addHandler(
      (event) => this.#onEvent(event),
      resyncMs === undefined ? {} : { resync: resyncMs },
    );
    for (let worker = 0; worker < concurrency; worker++) this.#workers.push(this.#work());
    await handler.synced;
  }

  /**
   * Takes no more steps, handles queued ones, aborts running ones after `grace`, and gives up those that do not end
   * even then. Drops delayed retries.
   */
  async stop(grace: Duration = DEFAULT_GRACE): Promise<void> {
    const graceMs = parseDuration(grace, "grace");
    this.#queue.shutDown();
    this.#share?.[Symbol.dispose]();
    this.#onSpace?.();
    const reason = new SetpointError("CONTROLLER_STOPPED", `watcher ${this.watcher.name} is stopping`);
    using _grace = this.#environment.clock.timer(graceMs, () => this.#aborting.abort(reason));
    await Promise.all(this.#workers);
    this.#deadlines[Symbol.dispose]();
    this.#environment.fence?.lost?.removeEventListener("abort", this.#onLeaseLost);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  readonly #onLeaseLost = (): void => this.#aborting.abort(this.#environment.fence?.lost?.reason);

  #onEvent(event: InformerEvent<KubeObject>): void | Promise<void> {
    const { key } = event;
    const lane = this.#lanes.get(key) ?? { steps: [], retries: [], isStuck: false };
    this.#lanes.set(key, lane);
    const step = stepOf(event);
    lane.retries = lane.retries.filter((pending) => !this.#supersedes(key, pending.step, step));
    if (lane.isStuck) {
      if (lane.steps.length < MAX_STUCK_STEPS || !mergeIntoLast(lane.steps, step)) lane.steps.push(step);
      return;
    }
    lane.steps.push(step);
    this.#backlog++;
    this.#queue.add(key, true);
    if (this.#backlog < MAX_BACKLOG) return;
    return new Promise((resolve) => {
      this.#onSpace = resolve;
    });
  }

  /** The user's policy. If it throws, the retry stays: one too many does no harm. */
  #supersedes(key: string, pending: WatchStep, next: WatchStep): boolean {
    try {
      return this.watcher.supersedes(pending, next);
    } catch (error) {
      this.#log.error(`supersedes failed for ${key}: ${messageOf(error)}`, { object: key, error });
      return false;
    }
  }

  async #work(): Promise<void> {
    const { signal } = this.#aborting;
    for (;;) {
      const item = signal.aborted ? undefined : (this.#queue.take() ?? (await this.#queue.get()));
      if (!item) return;
      await this.#serve(item.key);
      this.#queue.done(item);
    }
  }

  /** Handles everything that is due for one object: new steps in order, then retries; until one hangs. */
  async #serve(key: string): Promise<void> {
    const { clock } = this.#environment;
    const lane = this.#lanes.get(key);
    if (!lane) return;
    for (;;) {
      if (this.#aborting.signal.aborted || lane.isStuck) break;
      const step = lane.steps.shift();
      if (step) {
        this.#leaveBacklog(1);
        await this.#attempt(key, lane, step, 0);
        if (this.#turn.isOver) await this.#turn.next();
        continue;
      }
      const due = lane.retries.find(({ dueMs }) => dueMs <= clock.monotonic());
      if (!due) break;
      lane.retries = lane.retries.filter((pending) => pending !== due);
      await this.#attempt(key, lane, due.step, due.attempt);
      if (this.#turn.isOver) await this.#turn.next();
    }
    if (lane.isStuck) return;
    if (lane.steps.length === 0 && lane.retries.length === 0) this.#lanes.delete(key);
    else
      for (const { dueMs } of lane.retries)
        this.#queue.add(key, true, { after: Math.max(0, dueMs - clock.monotonic()) });
  }

  #leaveBacklog(steps: number): void {
    this.#backlog -= steps;
    if (this.#backlog >= MAX_BACKLOG / 2) return;
    this.#onSpace?.();
    this.#onSpace = undefined;
  }

  async #attempt(key: string, lane: Lane, step: WatchStep, attempt: number): Promise<void> {
    const { clock, mask, fence = openFence, metrics = noMetrics } = this.#environment;
    const aborting = new AbortController();
    const { signal } = aborting;
    // A handler may have any number of requests in flight.
    process.getBuiltinModule("node:events").setMaxListeners(0, signal);
    const ctx: WatchContext = {
      key,
      get signal() {
        return currentSignal(signal, fence);
      },
      attempt,
      metrics,
      log: this.#log.with({ object: key }),
      isInInitialList: step.type === "add" && step.isInInitialList,
      finalStateUnknown: step.type === "delete" && step.finalStateUnknown,
      merged: step.type === "update" && step.merged === true,
    };
    mask.learn(this.watcher.kind, step.object);
    const startedMs = clock.monotonic();
    this.#deadlines.begin(aborting, () => this.#timedOut(step, key));
    try {
      fence.check();
      await this.#untilHung(this.#handle(step, ctx), lane, step, ctx);
      this.#ended(step, startedMs, false);
    } catch (thrown) {
      const error = mask.error(thrown);
      if (this.#aborting.signal.aborted && !isSetpointError(error, "RECONCILE_HUNG")) return;
      this.#ended(step, startedMs, true);
      const givenUp = attempt >= this.watcher.maxAttempts;
      this.#report(error, { watcher: this.watcher.name, key, type: step.type, attempt, givenUp });
      if (!givenUp) {
        const dueMs = clock.monotonic() + this.#backoff.delayAfter(attempt);
        lane.retries.push({ step, attempt: attempt + 1, dueMs });
      }
    } finally {
      this.#deadlines.end(aborting);
    }
  }

  #timedOut({ type }: WatchStep, key: string): SetpointError {
    const { name, timeoutMs } = this.watcher;
    return new SetpointError(
      "RECONCILE_TIMEOUT",
      `watcher ${name}: ${type} of ${key} took more than ${timeoutMs / 1_000} s`,
    );
  }

  async #untilHung(work: Promise<unknown>, lane: Lane, { type }: WatchStep, ctx: WatchContext): Promise<void> {
    const { key, signal } = ctx;
    if (!(await isHung(work, signal, this.#environment.clock))) return void (await work);
    this.#stuck.add(key);
    lane.isStuck = true;
    this.#leaveBacklog(lane.steps.length);
    void work.catch(() => {}).finally(() => this.#onUnstuck(key, lane));
    const message = `watcher ${this.watcher.name}: ${type} of ${key} continues although its signal is aborted; pass ctx.signal to everything it awaits`;
    throw new SetpointError("RECONCILE_HUNG", message, { cause: signal.reason });
  }

  #onUnstuck(key: string, lane: Lane): void {
    this.#stuck.delete(key);
    lane.isStuck = false;
    this.#backlog += lane.steps.length;
    this.#queue.add(key, true);
  }

  async #handle(step: WatchStep, ctx: WatchContext): Promise<unknown> {
    const { options, finalizer } = this.watcher;
    if (finalizer !== undefined) {
      if (step.type === "delete") this.#released.delete(step.object?.metadata.uid ?? "");
      const observe = (object: KubeObject): void => {
        const isLeaving = object.metadata.deletionTimestamp && !object.metadata.finalizers?.length;
        if (isLeaving) this.#released.add(object.metadata.uid);
        else this.#share?.observe(object);
      };
      const latest = (object: KubeObject): KubeObject | undefined => {
        const { uid } = object.metadata;
        if (this.#released.has(uid)) return undefined;
        const known = this.#share?.get(ctx.key);
        return known?.metadata.uid === uid ? known : object;
      };
      const { cluster, fence = openFence } = this.#environment;
      const parts = { client: cluster.client, fence, observe, latest, begunHeld: this.#begunHeld };
      return handleOpinionated(this.watcher, step, ctx, parts);
    }
    switch (step.type) {
      case "add":
        return options.add?.(step.object, ctx);
      case "update":
        return options.update?.(step.object, step.old, ctx);
      case "sync":
        return options.sync ? options.sync(step.object, ctx) : options.update?.(step.object, step.object, ctx);
      case "delete":
        return step.object && options.delete?.(step.object, ctx);
    }
  }

  #ended({ type }: WatchStep, startedMs: number, isFailed: boolean): void {
    const { clock, observer } = this.#environment;
    const { name, kind } = this.watcher;
    const durationMs = clock.monotonic() - startedMs;
    observer?.stepEnded?.({ watcher: name, kind: kindId(kind), type, durationMs, isFailed });
  }

  #report(error: unknown, failed: FailedStep): void {
    const { key, type, attempt, givenUp } = failed;
    const what = `${type} of ${key} failed${givenUp ? " for good" : ""}: ${messageOf(error)}`;
    this.#log.error(what, { object: key, attempt, givenUp, error });
    try {
      this.watcher.options.onError?.(error, failed);
    } catch (thrown) {
      // The retry of the step must not be lost.
      this.#log.error(`an error handler failed: ${messageOf(thrown)}`, { object: key, error: thrown });
    }
    const controller = `watcher ${failed.watcher}`;
    this.#environment.observer?.failed?.(error, { controller, key, attempt, parked: givenUp });
  }
}

/** Merges a new step into the last waiting one, if only intermediate states are lost. */
function mergeIntoLast(steps: WatchStep[], step: WatchStep): boolean {
  const last = steps.at(-1);
  if (last?.type === "update" && step.type === "update") {
    steps[steps.length - 1] = { ...step, old: last.old, merged: true };
    return true;
  }
  return step.type === "sync" && (last?.type === "update" || last?.type === "sync");
}

function stepOf(event: InformerEvent<KubeObject>): WatchStep {
  switch (event.type) {
    case "add":
      return { type: "add", object: event.object, isInInitialList: event.isInInitialList };
    case "update":
      return event.isResync
        ? { type: "sync", object: event.object }
        : { type: "update", old: event.old, object: event.object, ...(event.merged ? { merged: true } : {}) };
    case "delete":
      return { type: "delete", object: event.object, finalStateUnknown: event.finalStateUnknown };
  }
}
