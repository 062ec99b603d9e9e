import { retryAfterOf } from "../../client/api-error.js";
import { untilAborted } from "../../client/transport/transport-error.js";
import { type Duration, parseDuration } from "../../clock/duration.js";
import { timeoutSignal } from "../../clock/timeout-signal.js";
import { SetpointError } from "../../errors/error.js";
import type { KubeObject } from "../../kinds/object.js";
import { openFence } from "../../loop/fence.js";
import { done, messageOf, type Outcome } from "../../loop/outcome.js";
import type { WorkItem } from "../../queue/key-queue.js";
import type { Priority } from "../../queue/ready-lines.js";
import { WorkQueue } from "../../queue/work-queue.js";
import { AppliedMemory } from "../apply/applied-memory.js";
import { changedPaths } from "../apply/field-paths.js";
import { collectOrphans } from "../apply/orphan-collector.js";
import { OrphanRetries } from "../apply/orphan-retries.js";
import { OwnWrites } from "../apply/own-writes.js";
import {
  type Action,
  actionOf,
  type Cause,
  describeCause,
  isSuccessor,
  isUrgent,
  mergeControllerCauses,
} from "../causes/cause.js";
import { ControllerSources } from "../causes/controller-sources.js";
import { DependencyIndex } from "../causes/dependency-index.js";
import { withoutTimers } from "../causes/early-causes.js";
import { EventRouter } from "../causes/event-router.js";
import { type Controller, keyProblem } from "../controller.js";
import { type ControllerEnvironment, type MaskedEnvironment, masked } from "../environment.js";
import { noMetrics } from "../metric-source.js";
import { MAX_READS } from "../timeline/timeline.js";
import type { ControllerPhase, ControllerStatus } from "./controller-status.js";
import { isPaused } from "./directives.js";
import { HotLoopDetector } from "./hot-loop.js";
import { KeyMemory } from "./key-memory.js";
import type { Admission, RefSchedule } from "./ref-schedule.js";
import { type EndedRun, RunExecutor } from "./run-executor.js";
import { RunReporter, reasonOf } from "./run-reporter.js";
import { Turn } from "./turn.js";
import { findWriter } from "./writer-search.js";

/** How long `stop` waits for runs before it aborts their signals. */
const DEFAULT_GRACE: Duration = "30s";

type Item = WorkItem<readonly Cause[]>;

/** A running controller: its informers, its queue and its workers. */
export class LiveController implements AsyncDisposable {
  readonly controller: Controller;
  readonly #environment: MaskedEnvironment;
  readonly #reporter: RunReporter;
  readonly #queue: WorkQueue<readonly Cause[]>;
  readonly #sources: ControllerSources;
  readonly #dependencies = new DependencyIndex();
  readonly #executor: RunExecutor;
  readonly #hotLoops = new HotLoopDetector();
  readonly #memory = new KeyMemory();
  readonly #orphans: OrphanRetries;
  /** Set for controllers that declare refs. */
  #refs: RefSchedule | undefined;
  readonly #turn: Turn;
  readonly #running = new Set<string>();
  readonly #stuck = new Set<string>();
  /** Aborted when workers take no more keys. The second is aborted when running reconciles must end. */
  readonly #taking = new AbortController();
  readonly #aborting = new AbortController();
  readonly #workers = new Set<Promise<void>>();
  #phase: ControllerPhase = "starting";
  #started: Promise<void> | undefined;

  // Internally a controller works on objects of any kind, known only by their declarations.
  // biome-ignore lint/suspicious/noExplicitAny: the kind's type cannot matter here
  constructor(controller: Controller<any>, environment: ControllerEnvironment) {
    this.controller = controller as Controller;
    // Triggers listen to the first and requests of each worker to the second: many listeners are not a leak.
    process.getBuiltinModule("node:events").setMaxListeners(0, this.#taking.signal, this.#aborting.signal);
    this.#environment = masked(environment);
    this.#reporter = new RunReporter(this.controller, this.#environment);
    const { clock, random, observer, traces, fence } = environment;
    fence?.lost?.addEventListener("abort", this.#onLeaseLost, { once: true });
    const queueObserver = observer?.queueObserver?.(controller.name);
    this.#queue = new WorkQueue({
      ...{ clock, random, merge: mergeControllerCauses, early: withoutTimers },
      backoff: controller.backoff,
      ...(queueObserver ? { observer: queueObserver } : {}),
    });
    this.#turn = new Turn(clock);
    this.#orphans = new OrphanRetries({
      clock,
      random,
      backoff: controller.backoff,
      log: this.#reporter.log,
      collect: (ownerKey) => {
        const { owned, primary } = this.#sources;
        return collectOrphans(primary, owned, fence ?? openFence, this.#aborting.signal, ownerKey);
      },
      signal: this.#aborting.signal,
    });
    // One listener for all workers: otherwise each would need one whenever it waits.
    this.#taking.signal.addEventListener("abort", () => this.#queue.dismiss(), { once: true });
    const ownWrites = new OwnWrites((key, error) =>
      this.#reporter.log.error(`could not handle an event of ${key}: ${messageOf(error)}`, { error }),
    );
    const applied = new AppliedMemory();
    const router = new EventRouter({
      controller: this.controller,
      dependencies: this.#dependencies,
      ownWrites,
      enqueue: (key, cause, priority) => this.#enqueue(key, cause, priority),
      onChange: (key, old, object) => this.#onChange(key, old, object),
      onGone: (source, key) => applied.forget(source, key),
      ...(traces ? { onOrigin: (key, origin) => this.#memory.noteOrigin(key, origin) } : {}),
    });
    this.#sources = new ControllerSources(this.controller, this.#environment, router);
    this.#executor = new RunExecutor({
      controller: this.controller,
      environment: this.#environment,
      primary: this.#sources.primary,
      dependencies: this.#dependencies,
      ownWrites,
      applied,
      sourcesOf: (cluster) => this.#sources.in(cluster),
      rivalOf: (source, key, paths, run) =>
        this.#hotLoops.isSuspect(run.key, source.id, key)
          ? findWriter(source, key, paths, controller.fieldManager, run.signal)
          : undefined,
      onBlocked: (blocked) => this.#reporter.blocked(blocked),
      signal: this.#aborting.signal,
    });
  }

  /** Starts only the informers, so that a later `start` finds them synced: for a standby. */
  warmUp(): void {
    this.#sources.start();
  }

  /** Starts the informers, and the workers once these are synced. Resolves when the workers run. */
  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  async #start(): Promise<void> {
    const { signal } = this.#taking;
    this.#sources.start();
    await this.#sources.synced(signal);
    if (this.controller.refs) await this.#openRefs();
    if (signal.aborted) return;
    this.#phase = "running";
    await this.#orphans.collect(undefined);
    for (const trigger of this.controller.triggers) {
      const enqueue = (key: string): void => this.trigger(key, trigger.name);
      trigger.start({ enqueue, keys: () => this.keys(), signal, clock: this.#environment.clock });
    }
    for (let worker = 0; worker < this.controller.concurrency; worker++) this.#addWorker(this.#work());
    this.#addWorker(this.#orphans.work(signal));
  }

  async #openRefs(): Promise<void> {
    const { openRefSchedule } = await import("./ref-schedule.js");
    const parts = { controller: this.controller, clock: this.#environment.clock };
    const objectOf = (key: string) => this.#sources.object(key);
    const enqueue = (key: string, causes: readonly Cause[]) => this.#queue.add(key, causes);
    this.#refs = openRefSchedule({ ...parts, objectOf, enqueue }, this.#queue.pending);
  }

  /** The keys of all objects that this controller reconciles. */
  keys(): Iterable<string> {
    return this.#sources.keys();
  }

  /** Requests a run of an object from outside the cluster. */
  trigger(key: string, name: string): void {
    this.#enqueue(key, { type: "trigger", name }, "normal");
  }

  status(): ControllerStatus {
    return {
      name: this.controller.name,
      phase: this.#phase,
      queued: this.#queue.depth,
      delayed: this.#queue.delayed + this.#orphans.waiting,
      parked: this.#memory.parked,
      running: [...this.#running],
      informers: this.#sources.statuses(),
    };
  }

  /** The keys whose code still runs although the controller gave it up. */
  get stuck(): Iterable<string> {
    return this.#stuck;
  }

  /** The actions of queued and running keys. Linear in the number of keys: for metrics. */
  *ongoing(): Iterable<Action> {
    const { finalize, finalizer } = this.controller;
    for (const items of [this.#queue.pending, this.#queue.running]) {
      for (const { key, cause } of items) {
        const object = this.#sources.object(key);
        yield object ? actionOf(cause, object, finalize && finalizer) : "deleted";
      }
    }
  }

  /** Since when the workers have been busy with their keys, on the monotonic clock. */
  *workingSince(): Iterable<number> {
    for (const { startedMs } of this.#queue.running) yield startedMs;
  }

  /**
   * Takes no more keys, lets running reconciles end, aborts them after `grace`, and gives up those that do not end even
   * then. Resolves when only abandoned code is left.
   */
  async stop(grace: Duration = DEFAULT_GRACE): Promise<void> {
    const graceMs = parseDuration(grace, "grace");
    if (this.#phase === "stopped") return;
    this.#phase = "stopping";
    const reason = new SetpointError("CONTROLLER_STOPPED", `controller ${this.controller.name} is stopping`);
    this.#taking.abort(reason);
    this.#queue.shutDown();
    using _grace = this.#environment.clock.timer(graceMs, () => this.#aborting.abort(reason));
    await this.#started?.catch(() => {});
    while (this.#workers.size > 0) await Promise.all(this.#workers);
    this.#executor[Symbol.dispose]();
    this.#sources[Symbol.dispose]();
    this.#environment.fence?.lost?.removeEventListener("abort", this.#onLeaseLost);
    this.#phase = "stopped";
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Another process may now work on the same objects: start nothing, and abort everything that runs. */
  readonly #onLeaseLost = (): void => {
    const reason: unknown = this.#environment.fence?.lost?.reason;
    this.#taking.abort(reason);
    this.#aborting.abort(reason);
  };

  #enqueue(key: string, cause: Cause, priority: Priority): void {
    const problem = keyProblem(key, this.controller.kind);
    if (problem) {
      // The caller may not handle errors: an error in an event listener would end the process.
      this.#reporter.log.error(`${describeCause(cause)} asks for ${problem}`);
      return;
    }
    if (cause.type !== "deleted" && !this.#sources.covers(key)) return;
    const dampedMs = isUrgent(cause) ? 0 : this.#memory.dampedMs(key, this.#environment.clock);
    if (dampedMs > 0) this.#queue.add(key, [cause], { priority: "low", after: dampedMs });
    else this.#queue.add(key, [cause, ...(this.#refs?.note(key) ?? [])], { priority });
  }

  #onChange(key: string, old: KubeObject, object: KubeObject): void {
    this.#memory.noteBefore(key, old);
    if (old.metadata.generation === object.metadata.generation) return;
    // A user wants something new: forget earlier failures and loops.
    this.#queue.forget(key);
    this.#hotLoops.forget(key);
    this.#memory.undamp(key);
    this.#memory.unpark(key);
  }

  #addWorker(work: Promise<void>): void {
    const worker = work.finally(() => this.#workers.delete(worker));
    this.#workers.add(worker);
  }

  async #work(): Promise<void> {
    const { signal } = this.#taking;
    for (;;) {
      if (this.#turn.isOver) await this.#turn.next();
      const item = signal.aborted ? undefined : (this.#queue.take() ?? (await this.#queue.get()));
      if (!item) return;
      try {
        await this.#process(item);
      } catch (error) {
        this.#onUnfiled(item, error);
        this.#giveBack(item);
      }
    }
  }

  /** Our own code does not throw while it records a run: an observer or a logger did. The key must not be lost. */
  #onUnfiled({ key, cause }: Item, error: unknown): void {
    this.#reporter.log.error(`could not record the run of ${key}: ${messageOf(error)}`, { object: key, error });
    if (!this.#taking.signal.aborted) this.#queue.retry(key, cause);
  }

  #giveBack(item: Item, outcome?: Outcome): void {
    this.#running.delete(item.key);
    this.#refs?.returned(item.key, item.cause, outcome);
    this.#queue.done(item);
  }

  async #process(item: Item): Promise<void> {
    const { key } = item;
    const { clock } = this.#environment;
    let object = this.#sources.object(key);
    if (!object || isSuccessor(object, item.cause)) {
      if (!(await this.#tellGone(item))) {
        this.#queue.done(item);
        return;
      }
      await this.#forget(key);
      // A new object of the same name has its own event and cause, unless a filter hides it.
      object = item.cause.every(({ type }) => type === "deleted") ? undefined : this.#sources.object(key);
    }
    if (!object) {
      this.#queue.done(item);
      return;
    }
    const admission = this.#refs?.admit(key, object, item.cause);
    if (admission?.type === "hold") {
      this.#pass(item, object, "held", admission.reason);
      return;
    }
    const dampedMs = item.cause.some(isUrgent) ? 0 : this.#memory.dampedMs(key, clock);
    if (dampedMs > 0) {
      this.#queue.add(key, item.cause, { priority: "low", after: dampedMs });
      this.#giveBack(item, done());
      return;
    }
    if (this.controller.ignores?.(object) || (isPaused(object) && !this.#memory.takeStep(key, object))) {
      this.#pass(item, object, "paused");
      return;
    }
    await this.#run(item, object, admission);
  }

  /** Finishes a key without a run. */
  #pass(item: Item, object: KubeObject, outcome: "held" | "paused", reason?: string): void {
    const record = reason === undefined ? { outcome } : { outcome, reason };
    this.#reporter.ended(item, object, this.#sources.primary.id, this.#environment.clock.monotonic(), record);
    this.#giveBack(item, done());
  }

  async #run(
    item: Item,
    object: KubeObject,
    admission: Extract<Admission, { type: "run" }> | undefined,
  ): Promise<void> {
    const { key } = item;
    const { clock } = this.#environment;
    this.#running.add(key);
    const startedMs = clock.monotonic();
    this.#reporter.started(item, object);
    const attempt = this.#queue.retries(key);
    const before = this.#memory.takeBefore(key);
    const result = await this.#executor.execute({
      id: this.#reporter.nextId(),
      key,
      object,
      causes: item.cause,
      attempt,
      isLastAttempt: attempt >= this.controller.maxAttempts,
      state: this.#memory.state(key, this.controller.state),
      origins: this.#memory.takeOrigins(key),
      changedPaths: () => (before ? changedPaths(before, object) : []),
      ...(admission && { ...admission, requireRefs: () => this.#refs?.requireRefs(key) }),
    });
    this.#settle(item, object, result, attempt, startedMs);
  }

  /** Files what a run came to, and gives its key back: at once, or when code that hangs lets go of it. */
  #settle(item: Item, object: KubeObject, result: EndedRun, attempt: number, startedMs: number): void {
    const { key } = item;
    const { hung } = result;
    try {
      this.#file(item, object, result, attempt, startedMs);
    } catch (error) {
      this.#onUnfiled(item, error);
    }
    if (!hung) {
      this.#giveBack(item, result.outcome);
      return;
    }
    this.#stuck.add(key);
    void hung.finally(() => {
      this.#stuck.delete(key);
      this.#giveBack(item, result.outcome);
    });
  }

  #file(item: Item, object: KubeObject, result: EndedRun, attempt: number, startedMs: number): void {
    const { key } = item;
    const { run, outcome, hung } = result;
    const isAborted = result.isAborted && outcome.type === "retry";
    const parked = !isAborted && outcome.type === "retry" && attempt >= this.controller.maxAttempts;
    const reason = reasonOf(outcome);
    this.#reporter.ended(item, object, this.#sources.primary.id, startedMs, {
      id: run.id,
      attempt,
      reads: [...run.reads].slice(0, MAX_READS),
      writes: run.writes,
      effects: run.effects,
      outcome: isAborted ? "aborted" : outcome.type,
      ...(reason === undefined ? {} : { reason }),
      ...(parked ? { parked } : {}),
    });
    if (isAborted) {
      if (hung) this.#reporter.log.error(reason ?? `the run of ${key} hangs`, { object: key, run: run.id });
      return;
    }
    if (outcome.type === "retry" || outcome.type === "terminal") {
      const failed = { controller: this.controller.name, key, attempt, parked };
      this.#reporter.failed(outcome.error, object, run.id, failed, outcome.type === "terminal");
    }
    this.#schedule(item, outcome, attempt, parked);
    this.#damp(item, object, result);
  }

  #schedule(item: Item, outcome: Outcome, attempt: number, isParked: boolean): void {
    const { key } = item;
    if (outcome.type !== "retry") {
      this.#queue.forget(key);
      this.#memory.unpark(key);
    }
    switch (outcome.type) {
      case "done":
      case "terminal":
        this.#memory.endState(key);
        break;
      case "requeueAfter":
        this.#queue.add(key, [{ type: "requeue" }], { after: outcome.afterMs, priority: "low" });
        break;
      case "waitFor":
        this.#queue.add(key, [{ type: "recheck", reason: outcome.reason }], {
          after: outcome.recheckMs,
          priority: "low",
        });
        break;
      case "retry": {
        // The causes of the failed run still need an answer.
        const cause: Cause = { type: "retry", attempt: attempt + 1, error: messageOf(outcome.error) };
        const unanswered = item.cause.filter(({ type }) => type !== "deleted");
        const causes = mergeControllerCauses(unanswered, [cause]);
        const askedMs = outcome.afterMs ?? retryAfterOf(outcome.error);
        if (isParked) {
          this.#memory.park(key);
          this.#queue.add(key, causes, { after: Math.max(this.controller.backoff.max, askedMs), priority: "low" });
        } else {
          const { afterMs } = outcome;
          this.#queue.retry(key, causes, afterMs === undefined ? { least: askedMs } : { after: afterMs });
        }
        break;
      }
    }
  }

  #damp({ key, cause: causes }: Item, object: KubeObject, { run }: EndedRun): void {
    const nowMs = this.#environment.clock.monotonic();
    const { writes, contents } = run;
    const { generation } = object.metadata;
    const kind = this.#sources.primary.id;
    const loop = this.#hotLoops.observe({ kind, key, generation, causes, writes, contents }, nowMs);
    if (!loop) return;
    this.#memory.damp(key, nowMs + loop.delayMs);
    if (loop.isNew) this.#reporter.loops(key, object, loop);
  }

  /** Calls `gone`. Returns false if it failed: it is called again before anything else happens with the key. */
  async #tellGone({ key, cause }: Item): Promise<boolean> {
    const { gone, timeoutMs, name } = this.controller;
    if (!gone || !cause.some(({ type }) => type === "deleted")) return true;
    const attempt = this.#queue.retries(key);
    const { metrics = noMetrics } = this.#environment;
    const log = this.#reporter.log.with({ object: key });
    using deadline = timeoutSignal(this.#environment.clock, timeoutMs, this.#aborting.signal);
    const { signal } = deadline;
    try {
      await untilAborted(Promise.resolve(gone(key, { signal, log, attempt, metrics })), signal);
      return true;
    } catch (thrown) {
      if (this.#aborting.signal.aborted) return false;
      const error = this.#environment.mask.error(thrown);
      log.error(`gone of ${key} failed: ${messageOf(error)}`, { attempt, error });
      this.#reporter.handle(error, { controller: name, key, attempt, parked: false });
      this.#queue.retry(key, cause);
      return false;
    }
  }

  /** The object is gone: forget everything about it, and delete its children elsewhere. */
  async #forget(key: string): Promise<void> {
    this.#refs?.forget(key);
    this.#dependencies.forget(key);
    this.#queue.forget(key);
    this.#queue.cancel(key);
    this.#hotLoops.forget(key);
    this.#memory.forget(key);
    this.#executor.forget(key);
    await this.#orphans.collect(key);
  }
}
