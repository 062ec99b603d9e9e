import { SetpointError } from "../errors/error.js";
import type { InformerScope, InformerStatus } from "../informer/informer.js";
import { type Kind, kindId, parseKey } from "../kinds/kind.js";
import type { KubeObject } from "../kinds/object.js";
import type { WorkItem } from "../queue/key-queue.js";
import type { Priority } from "../queue/ready-lines.js";
import { WorkQueue } from "../queue/work-queue.js";
import { AppliedMemory } from "./applied-memory.js";
import { type Cause, mergeCauses } from "./cause.js";
import type { Controller, FailedRun, ScopedKind } from "./controller.js";
import { DependencyIndex } from "./dependency-index.js";
import { isPaused, stepOf } from "./directives.js";
import type { ControllerEnvironment } from "./environment.js";
import { EventRouter } from "./event-router.js";
import { openFence } from "./fence.js";
import { changedPaths } from "./field-paths.js";
import { type HotLoop, HotLoopDetector } from "./hot-loop.js";
import { KindSource } from "./kind-source.js";
import { type Logger, silentLogger } from "./logger.js";
import type { Sources } from "./object-reader.js";
import { collectOrphans } from "./orphan-collector.js";
import type { Outcome } from "./outcome.js";
import { OwnWrites } from "./own-writes.js";
import { messageOf, RunExecutor, type RunResult } from "./run-executor.js";
import { MAX_READS, type RunRecord, Timeline } from "./timeline.js";
import { findWriter } from "./writer-search.js";

/** How many objects are kept as they were at their last run, to tell what changed since. */
const MAX_REMEMBERED = 1_000;
/** How long runs may go on after `stop` before their signals are aborted. */
const DEFAULT_GRACE_MS = 30_000;

export type ControllerPhase = "starting" | "running" | "stopping" | "stopped";

export interface ControllerStatus {
  readonly name: string;
  readonly phase: ControllerPhase;
  /** Keys in line, keys that wait for their time, and keys that are at their longest interval. */
  readonly queued: number;
  readonly delayed: number;
  readonly parked: readonly string[];
  readonly running: readonly string[];
  readonly informers: readonly (InformerStatus & { readonly kind: string; readonly scope: InformerScope })[];
}

type Item = WorkItem<readonly Cause[]>;

/** A controller at work: its informers, its queue and its workers. */
export class ControllerRun implements AsyncDisposable {
  readonly controller: Controller;
  readonly #environment: ControllerEnvironment;
  readonly #log: Logger;
  readonly #timeline: Timeline;
  readonly #queue: WorkQueue<readonly Cause[]>;
  readonly #primary: KindSource;
  /** Declared kinds by cluster (the empty name is the manager's own), then by kind. */
  readonly #sources = new Map<string, Map<string, KindSource>>();
  readonly #watches: KindSource[] = [];
  readonly #dependencies = new DependencyIndex();
  readonly #router: EventRouter;
  readonly #executor: RunExecutor;
  readonly #hotLoops = new HotLoopDetector();
  readonly #applied = new AppliedMemory();
  /** By key: what retries should not do again; until when it is held back; how it was; which step it has taken. */
  readonly #states = new Map<string, Record<string, unknown>>();
  readonly #dampedUntilMs = new Map<string, number>();
  readonly #before = new Map<string, KubeObject>();
  readonly #steps = new Map<string, string>();
  readonly #parked = new Set<string>();
  readonly #running = new Set<string>();
  /** Aborted when no more keys are taken; then, when the runs that go on must end. */
  readonly #taking = new AbortController();
  readonly #aborting = new AbortController();
  readonly #workers = new Set<Promise<void>>();
  #phase: ControllerPhase = "starting";
  #started: Promise<void> | undefined;

  // A controller of one kind is handled as one of any: inside, objects are known by their declarations alone.
  // biome-ignore lint/suspicious/noExplicitAny: the kind's type cannot matter here
  constructor(controller: Controller<any>, environment: ControllerEnvironment) {
    this.controller = controller as Controller;
    this.#environment = environment;
    this.#log = (environment.log ?? silentLogger).with({ controller: controller.name });
    this.#timeline = environment.timeline ?? new Timeline();
    const { clock, random, observer } = environment;
    const queueObserver = observer?.queueObserver?.(controller.name);
    this.#queue = new WorkQueue({
      clock,
      random,
      merge: mergeCauses,
      backoff: controller.backoff,
      ...(queueObserver ? { observer: queueObserver } : {}),
    });
    const ownWrites = new OwnWrites();
    this.#router = new EventRouter({
      controller: this.controller,
      dependencies: this.#dependencies,
      ownWrites,
      enqueue: (key, cause, priority) => this.#enqueue(key, cause, priority),
      onChange: (key, old, object) => this.#onChange(key, old, object),
      onGone: (source, key) => this.#applied.forget(source, key),
    });
    const { namespaces, labelSelector, kind, resyncMs } = controller;
    this.#primary = new KindSource(
      { kind, ...(labelSelector ? { labelSelector } : {}), ...(namespaces ? {} : { namespaces: "all" }) },
      { cluster: environment.cluster, namespaces, resyncMs, onEvent: (...event) => this.#router.onPrimary(...event) },
    );
    this.#sources.set("", new Map([[kindId(kind), this.#primary]]));
    for (const use of controller.uses) this.#declare(use, undefined);
    for (const use of controller.owns) this.#declare(use, controller.fieldManager);
    for (const watch of controller.watches) {
      const cluster = this.#clusterOf(watch);
      const onEvent = (source: KindSource, event: Parameters<EventRouter["onPrimary"]>[1]): void =>
        this.#router.onWatched(watch, source, event);
      this.#watches.push(new KindSource(watch, { cluster, namespaces, onEvent }));
    }
    this.#executor = new RunExecutor({
      controller: this.controller,
      environment,
      primary: this.#primary,
      dependencies: this.#dependencies,
      ownWrites,
      applied: this.#applied,
      sourcesOf: (cluster) => this.#sourcesOf(cluster),
      rivalOf: async (source, key, paths, signal) =>
        this.#hotLoops.isSuspect(source.id, key)
          ? findWriter(source, key, paths, controller.fieldManager, signal)
          : undefined,
      onBlocked: ({ blockedMs, key, others }) => {
        const seconds = (blockedMs / 1_000).toFixed(1);
        const message = `${key} blocked the event loop for ${seconds} s: nothing else ran, lease renewal included`;
        this.#log.warn(message, { object: key, blockedMs, others });
      },
    });
  }

  /** Starts the informers alone, so that a later `start` finds them filled: for a standby. */
  warmUp(): void {
    for (const source of [this.#primary, ...this.#declared(), ...this.#watches]) source.start();
  }

  /** Starts informers, and workers once these are synced. Resolves when the workers are at work. */
  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  async #start(): Promise<void> {
    const { signal } = this.#taking;
    this.warmUp();
    const sources = [this.#primary, ...this.#declared(), ...this.#watches];
    await Promise.all(sources.map((source) => source.synced(signal)));
    if (signal.aborted) return;
    this.#phase = "running";
    await this.#collectOrphans(undefined);
    for (const trigger of this.controller.triggers) {
      const enqueue = (key: string): void => this.#enqueue(key, { type: "trigger", name: trigger.name }, "normal");
      trigger.start(enqueue, () => this.keys(), signal);
    }
    for (let worker = 0; worker < this.controller.concurrency; worker++) this.#addWorker();
  }

  /** The keys of all objects that this controller looks after. */
  *keys(): Iterable<string> {
    for (const informer of this.#primary.informers) yield* informer.keys();
  }

  /** Asks for a run of an object, from outside of the cluster. */
  trigger(key: string, name: string): void {
    this.#enqueue(key, { type: "trigger", name }, "normal");
  }

  status(): ControllerStatus {
    const sources = [this.#primary, ...this.#declared(), ...this.#watches];
    return {
      name: this.controller.name,
      phase: this.#phase,
      queued: this.#queue.depth,
      delayed: this.#queue.delayed,
      parked: [...this.#parked],
      running: [...this.#running],
      informers: sources.flatMap(({ id, informers }) =>
        [...informers].map((informer) => ({ kind: id, scope: informer.scope, ...informer.status() })),
      ),
    };
  }

  /**
   * Takes no more keys, lets the runs that go on end, aborts them after `graceMs`, and gives up those that do not end
   * even then. Resolves when nothing is left of the controller but what it gave up.
   */
  async stop(graceMs = DEFAULT_GRACE_MS): Promise<void> {
    if (this.#phase === "stopped") return;
    this.#phase = "stopping";
    const reason = new SetpointError("CONTROLLER_STOPPED", `controller ${this.controller.name} is stopping`);
    this.#taking.abort(reason);
    this.#queue.shutDown();
    await this.#started?.catch(() => {});
    using _grace = this.#environment.clock.timer(graceMs, () => this.#aborting.abort(reason));
    while (this.#workers.size > 0) await Promise.all(this.#workers);
    this.#executor[Symbol.dispose]();
    for (const source of [this.#primary, ...this.#declared(), ...this.#watches]) source[Symbol.dispose]();
    this.#phase = "stopped";
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #declare(use: ScopedKind, fieldManager: string | undefined): void {
    const { namespaces } = this.controller;
    const source = new KindSource(use, {
      cluster: this.#clusterOf(use),
      namespaces,
      onEvent: (...event) => this.#router.onDependency(...event),
      ...(fieldManager === undefined ? {} : { fieldManager }),
    });
    const name = use.cluster ?? "";
    const known = this.#sources.get(name) ?? new Map<string, KindSource>();
    this.#sources.set(name, known.set(kindId(use.kind), source));
  }

  #clusterOf(use: ScopedKind): ControllerEnvironment["cluster"] {
    if (use.cluster === undefined) return this.#environment.cluster;
    const cluster = this.#environment.clusters?.[use.cluster];
    if (cluster) return cluster;
    const message = `controller ${this.controller.name}: ${kindId(use.kind)} is in the cluster "${use.cluster}", which is not known`;
    throw new SetpointError("CLUSTER_UNKNOWN", message);
  }

  #sourcesOf(cluster: string | undefined): Sources {
    const known = this.#sources.get(cluster ?? "") ?? new Map<string, KindSource>();
    return {
      of: (kind: Kind) => {
        const source = known.get(kindId(kind));
        if (source) return source;
        const where = cluster === undefined ? "" : ` in the cluster "${cluster}"`;
        const message = `controller ${this.controller.name} declares no ${kindId(kind)}${where}; add it to uses or owns`;
        throw new SetpointError("KIND_NOT_DECLARED", message);
      },
      owned: [...known.values()].filter(({ isOwned }) => isOwned),
      isHome: cluster === undefined,
    };
  }

  *#declared(): Iterable<KindSource> {
    for (const sources of this.#sources.values())
      for (const source of sources.values()) if (source !== this.#primary) yield source;
  }

  #enqueue(key: string, cause: Cause, priority: Priority): void {
    const dampedMs = (this.#dampedUntilMs.get(key) ?? 0) - this.#environment.clock.monotonic();
    const isUrgent = cause.type === "requested" || cause.type === "deleted";
    if (dampedMs <= 0 || isUrgent) this.#queue.add(key, [cause], { priority });
    else this.#queue.add(key, [cause], { priority: "low", afterMs: dampedMs });
  }

  #onChange(key: string, old: KubeObject, object: KubeObject): void {
    if (!this.#before.has(key) && this.#before.size < MAX_REMEMBERED) this.#before.set(key, old);
    if (old.metadata.generation === object.metadata.generation) return;
    // Somebody wants something new: earlier failures and loops say nothing about it.
    this.#queue.forget(key);
    this.#hotLoops.forget(key);
    this.#dampedUntilMs.delete(key);
  }

  #addWorker(): void {
    const worker = this.#work().finally(() => this.#workers.delete(worker));
    this.#workers.add(worker);
  }

  async #work(): Promise<void> {
    const { signal } = this.#taking;
    for (;;) {
      const item = signal.aborted ? undefined : (this.#queue.take() ?? (await this.#queue.get(signal)));
      if (!item) return;
      try {
        await this.#process(item);
      } catch (error) {
        // Nothing of ours throws here: an observer or an error handler did. The key must not be lost by it.
        this.#log.error(`the run of ${item.key} could not be filed: ${messageOf(error)}`, { object: item.key, error });
        this.#running.delete(item.key);
        if (!signal.aborted) this.#queue.retry(item.key, item.cause);
        this.#queue.done(item);
      }
    }
  }

  async #process(item: Item): Promise<void> {
    const { key } = item;
    const known = this.#objectOf(key);
    if (!known || isSuccessor(known, item.cause)) await this.#forget(key);
    const object = this.#objectOf(key);
    if (!object || (isPaused(object) && !this.#takeStep(key, object))) {
      if (object) this.#record(item, object.metadata.uid, this.#environment.clock.monotonic(), { outcome: "paused" });
      this.#queue.done(item);
      return;
    }
    this.#running.add(key);
    const startedMs = this.#environment.clock.monotonic();
    this.#environment.observer?.runStarted?.(this.controller.name, key);
    const attempt = this.#queue.retries(key);
    const state = this.#states.get(key) ?? {};
    this.#states.set(key, state);
    const before = this.#before.get(key);
    this.#before.delete(key);
    const result = await this.#executor.execute({
      id: this.#timeline.nextId(),
      key,
      object,
      causes: item.cause,
      attempt,
      isLastAttempt: attempt >= this.controller.maxAttempts,
      state,
      changedPaths: () => (before ? changedPaths(before, object) : []),
      signal: this.#aborting.signal,
    });
    this.#settle(item, object, result, attempt, startedMs);
  }

  #objectOf(key: string): KubeObject | undefined {
    return this.#primary.peek(parseKey(key).namespace)?.get(key);
  }

  /** Files what a run came to, and gives its key back: at once, or when code that hangs lets go of it. */
  #settle(item: Item, object: KubeObject, result: RunResult, attempt: number, startedMs: number): void {
    const { key } = item;
    const { run, outcome, hung } = result;
    const giveBack = (): void => {
      this.#running.delete(key);
      this.#queue.done(item);
    };
    const isAborted = result.isAborted && outcome.type === "retry";
    const isParked = !isAborted && outcome.type === "retry" && attempt >= this.controller.maxAttempts;
    const reason = reasonOf(outcome);
    this.#record(item, object.metadata.uid, startedMs, {
      id: run.id,
      attempt,
      reads: [...run.reads].slice(0, MAX_READS),
      writes: run.writes,
      effects: run.effects,
      outcome: isAborted ? "aborted" : outcome.type,
      ...(reason === undefined ? {} : { reason }),
      ...(isParked ? { parked: true } : {}),
    });
    if (!isAborted) {
      if (outcome.type === "retry" || outcome.type === "terminal")
        this.#report(outcome.error, object, key, attempt, isParked);
      this.#schedule(item, outcome, attempt, isParked);
      const { generation } = object.metadata;
      const nowMs = this.#environment.clock.monotonic();
      const loop = this.#hotLoops.observe(key, generation, run.writes, nowMs, run.contents);
      if (loop) this.#damp(key, object, loop);
    }
    if (hung) void hung.finally(giveBack);
    else giveBack();
  }

  #schedule(item: Item, outcome: Outcome, attempt: number, isParked: boolean): void {
    const { key } = item;
    if (outcome.type !== "retry") {
      this.#queue.forget(key);
      this.#parked.delete(key);
    }
    switch (outcome.type) {
      case "done":
        this.#states.delete(key);
        break;
      case "requeueAfter":
        this.#queue.add(key, [{ type: "requeue" }], { afterMs: outcome.afterMs, priority: "low" });
        break;
      case "waitFor":
        this.#queue.add(key, [{ type: "recheck", reason: outcome.reason }], {
          afterMs: outcome.recheckMs,
          priority: "low",
        });
        break;
      case "retry": {
        // What the failed run was to answer is still unanswered.
        const cause: Cause = { type: "retry", attempt: attempt + 1, error: messageOf(outcome.error) };
        const unanswered = item.cause.filter(({ type }) => type !== "deleted");
        const causes = mergeCauses(unanswered, [cause]);
        if (isParked) {
          this.#parked.add(key);
          this.#queue.add(key, causes, { afterMs: this.controller.backoff.maxMs, priority: "low" });
        } else {
          this.#queue.retry(key, causes, "low", outcome.afterMs ?? retryAfterOf(outcome.error));
        }
        break;
      }
      case "terminal":
        this.#states.delete(key);
        break;
    }
  }

  #report(error: unknown, object: KubeObject, key: string, attempt: number, parked: boolean): void {
    const failed: FailedRun = { controller: this.controller.name, key, attempt, parked };
    this.#log.error(`reconcile of ${key} failed: ${messageOf(error)}`, { object: key, attempt, parked, error });
    this.controller.onError?.(error, failed);
    this.#environment.observer?.failed?.(error, failed);
    if (!parked) return;
    const message = `${attempt + 1} tries failed; the next are ${this.controller.backoff.maxMs / 1_000} s apart: ${messageOf(error)}`;
    this.#environment.recorder?.record({ object, type: "Warning", reason: "RetriesExhausted", message });
  }

  #damp(key: string, object: KubeObject, loop: HotLoop): void {
    const { clock, recorder } = this.#environment;
    const { write, count, delayMs } = loop;
    this.#dampedUntilMs.set(key, clock.monotonic() + delayMs);
    const { rival } = write;
    const fields = write.paths.join(", ") || "unknown fields";
    const message =
      `${key} wrote ${fields} of ${write.kind} ${write.key} ${count} times within a minute, although nothing new was ` +
      `asked for; ${rival ? `${rival} writes it too` : "no other writer is known: is what it wants the same each time?"}`;
    this.#log.warn(`hot loop: ${message}`, { object: key, fields: write.paths, rival, delayMs });
    recorder?.record({ object, type: "Warning", reason: "HotLoop", message });
  }

  /** A paused object runs once for each new value of its step annotation. */
  #takeStep(key: string, object: KubeObject): boolean {
    const step = stepOf(object);
    if (step === undefined || this.#steps.get(key) === step) return false;
    this.#steps.set(key, step);
    return true;
  }

  /** The object is gone: nothing of it is kept, and what it owned elsewhere goes too. */
  async #forget(key: string): Promise<void> {
    this.#dependencies.forget(key);
    this.#queue.forget(key);
    this.#queue.cancel(key);
    this.#hotLoops.forget(key);
    this.#parked.delete(key);
    for (const known of [this.#states, this.#dampedUntilMs, this.#before, this.#steps]) known.delete(key);
    await this.#collectOrphans(key);
  }

  async #collectOrphans(ownerKey: string | undefined): Promise<void> {
    const owned = [...this.#declared()].filter(({ isOwned }) => isOwned);
    const fence = this.#environment.fence ?? openFence;
    const { signal } = this.#aborting;
    try {
      for (const [key, error] of await collectOrphans(this.#primary, owned, fence, signal, ownerKey)) {
        this.#log.error(`children of ${key}, which is gone, could not be deleted: ${messageOf(error)}`, { error });
        this.#queue.retry(key, [{ type: "deleted" }]);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#log.error(`children of deleted objects could not be collected: ${messageOf(error)}`, { error });
      if (ownerKey !== undefined) this.#queue.retry(ownerKey, [{ type: "deleted" }]);
    }
  }

  #record(item: Item, uid: string, startedMs: number, run: Partial<RunRecord> & Pick<RunRecord, "outcome">): void {
    const { clock, observer } = this.#environment;
    const durationMs = clock.monotonic() - startedMs;
    const record: RunRecord = {
      id: run.id ?? this.#timeline.nextId(),
      controller: this.controller.name,
      kind: this.#primary.id,
      key: item.key,
      uid,
      causes: item.cause,
      startedAt: new Date(clock.now() - durationMs).toISOString(),
      durationMs,
      attempt: 0,
      reads: [],
      writes: [],
      effects: [],
      ...run,
    };
    this.#timeline.add(record);
    observer?.runEnded?.(record);
  }
}

/** An object of a deleted one's name: nothing that was known of the key is true of it. */
function isSuccessor(object: KubeObject, causes: readonly Cause[]): boolean {
  return !object.metadata.deletionTimestamp && causes.some(({ type }) => type === "deleted");
}

function reasonOf(outcome: Outcome): string | undefined {
  if (outcome.type === "waitFor") return outcome.message ? `${outcome.reason}: ${outcome.message}` : outcome.reason;
  return outcome.type === "retry" || outcome.type === "terminal" ? messageOf(outcome.error) : undefined;
}

/** When the server wants to be asked again, where the error is its answer and says so. */
function retryAfterOf(error: unknown): number {
  const retryAfterMs = (error as { retryAfterMs?: unknown } | undefined)?.retryAfterMs;
  return typeof retryAfterMs === "number" ? retryAfterMs : 0;
}
