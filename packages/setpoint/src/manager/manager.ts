import type { App } from "../app/app.js";
import type { HealthCheck } from "../app/health-check.js";
import { warnOfUnchecked } from "../app/refinements.js";
import { type Runnable, RunnableGroup } from "../app/runnable-group.js";
import type { Client } from "../client/client.js";
import type { Clock } from "../clock/clock.js";
import { type Duration, parseDuration } from "../clock/duration.js";
import { type Random, systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import type { Cluster } from "../controller/cluster.js";
import type { ControllerEnvironment, ControllerObserver } from "../controller/environment.js";
import type { Loop } from "../controller/loop.js";
import type { MetricSource } from "../controller/metric-source.js";
import { LiveController } from "../controller/run/live-controller.js";
import { LiveWatcher } from "../controller/run/live-watcher.js";
import { SecretMask } from "../controller/secrets/secret-mask.js";
import type { SecretOptions } from "../controller/secrets/secret-policy.js";
import { Timeline } from "../controller/timeline/timeline.js";
import { type Tracer, Traces } from "../controller/timeline/traces.js";
import { SetpointError } from "../errors/error.js";
import { Informers } from "../informer/informers.js";
import type { Fence } from "../loop/fence.js";
import { type Logger, silentLogger } from "../loop/logger.js";
import { messageOf } from "../loop/outcome.js";
import { AppHost, type AppHosting } from "./app-host.js";
import type { EndpointOptions, Endpoints } from "./endpoints/endpoints.js";
import { controllerStrain, controllerTrouble, informerLines } from "./endpoints/health.js";
import { EventWriter } from "./events/event-writer.js";
import { type ElectionOptions, electorOf } from "./lease/election.js";
import type { Elector } from "./lease/leader-elector.js";
import { informerLog } from "./log/informer-log.js";
import { type LoopStatus, loopStatuses } from "./loop-status.js";
import { checkLoop, idOf } from "./loops.js";
import {
  collectState,
  EVENTS_DROPPED,
  initControllerMetrics,
  MASTER_STATUS,
  webhookMetrics,
} from "./metrics/controller-metrics.js";
import { MetricRegistry } from "./metrics/metric-registry.js";
import { collectStages, informerMetrics } from "./metrics/stage-metrics.js";
import { workMetrics } from "./metrics/work-metrics.js";
import type { PreflightFinding } from "./preflight.js";
import type { RbacOptions } from "./rbac.js";
import type { NarrowedRules, SeenAccess } from "./seen-access.js";

export interface ManagerOptions extends EndpointOptions {
  /** For the lease, events and logs. Defaults to `setpoint`. */
  readonly name?: string;
  readonly client: Client;
  /** Other clusters that controllers read from or write to, by name. */
  readonly clusters?: Readonly<Record<string, Client>>;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
  /** Elects one of several processes. Off by default: a single process needs no lease. */
  readonly leaderElection?: ElectionOptions;
  /** Where the API server reaches the webhooks of apps, and whether the process installs them. */
  readonly webhooks?: AppHosting;
  /** How long a stop waits for runs to end. Defaults to 30 s. */
  readonly grace?: Duration;
  /** The metric registry, to share it with other code. Defaults to a new one. */
  readonly metricRegistry?: MetricRegistry;
  /** Observes the client's requests, for `/rbac`: which of the declared permissions were used so far. */
  readonly seenAccess?: SeenAccess;
  /** Further conditions for the process to be ready. */
  readonly checks?: readonly HealthCheck[];
  /** Whether the failure of a runnable stops the manager. Defaults to yes. */
  readonly onError?: (error: unknown, runnable: string) => boolean | Promise<boolean>;
  /** Makes spans for each run and its writes: `trace.getTracer("setpoint")` of @opentelemetry/api. Defaults to none. */
  readonly tracer?: Tracer;
  /** Overrides which values of Secrets are masked in logs, events, conditions and the timeline. */
  readonly secrets?: SecretOptions;
  /** Whether to check at the start which kinds are not served or not allowed, and to log them. Defaults to yes. */
  readonly preflight?: boolean;
}

/**
 * One process of control loops: shared caches, one lease, apps with their webhooks and routes, health, metrics, and an
 * orderly end.
 *
 * ```ts
 * await using manager = new Manager({ client: await connect() });
 * await manager.add(websites);
 * await manager.start();
 * ```
 *
 * Guarantees: with leader election no reconcile starts before the lease is held, and none writes after it is lost; a
 * standby keeps its caches warm and answers webhooks. `stop` takes no more work, lets runs end, then releases the lease.
 */
export class Manager implements AsyncDisposable {
  readonly metrics: MetricRegistry;
  readonly timeline = new Timeline();
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #cluster: Cluster;
  readonly #clusters: Readonly<Record<string, Cluster>>;
  readonly #events: EventWriter;
  /** One for all: one controller may quote what another has read. */
  readonly #mask: SecretMask;
  readonly #traces: Traces | undefined;
  readonly #observer: ControllerObserver;
  readonly #elector: Elector | undefined;
  /** Aborted with the lease, or when the process is abandoned. */
  readonly #lost = new AbortController();
  readonly #fence = this.#fenceFor(true);
  readonly #apps: AppHost;
  readonly #loops = new Map<string, { readonly loop: Loop; readonly run: LiveController | LiveWatcher }>();
  /** Loops that could not start, with the reasons. */
  readonly #unstarted = new Map<string, string>();
  readonly #sources = new Map<object, readonly Disposable[]>();
  readonly #runnables: RunnableGroup;
  readonly #graceMs: number;
  readonly #stopping = new AbortController();
  readonly #failed = new AbortController();
  /** Where anything is to be served. */
  #endpoints: Endpoints | undefined;
  #hasStarted = false;
  /** Settles when the initial apps are served; later ones are served on their own. */
  #hosted: Promise<void> | undefined;
  #isLeading = false;
  #running: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#graceMs = parseDuration(options.grace ?? "30s", "grace");
    // The preflight and other background work listen to it; this is not a leak.
    process.getBuiltinModule("node:events").setMaxListeners(0, this.#stopping.signal, this.#lost.signal);
    this.metrics = options.metricRegistry ?? new MetricRegistry();
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    const name = options.name ?? "setpoint";
    this.#mask = new SecretMask(options.secrets);
    this.#log = this.#mask.logger(options.log ?? silentLogger).with({ manager: name });
    this.#traces = options.tracer && new Traces(options.tracer, this.#mask);
    const { client } = options;
    this.#cluster = this.#clusterOf(client);
    this.#clusters = Object.fromEntries(
      Object.entries(options.clusters ?? {}).map(([key, each]) => [key, this.#clusterOf(each)]),
    );
    const common = { client, clock: this.#clock, random: this.#random, log: this.#log };
    this.#elector = options.leaderElection && electorOf(options.leaderElection, { ...common, name });
    this.#elector?.lost.addEventListener("abort", () => this.#lost.abort(this.#elector?.lost.reason), { once: true });
    const events = { ...common, client: this.#cluster.client };
    this.#events = new EventWriter({ ...events, component: name, fence: this.#fence });
    const onThrown = (error: unknown): void => void this.#mask.error(error);
    const hosting = { ...common, ...webhookMetrics(this.metrics), onThrown, ...options.webhooks };
    // A standby installs and serves its apps like a leader; a process that has lost the lease does not.
    this.#apps = new AppHost({ ...hosting, fence: this.#fenceFor(false) });
    this.#runnables = new RunnableGroup({
      name,
      clock: this.#clock,
      exitWait: this.#graceMs,
      onError: (error, runnable) => {
        this.#log.error("a runnable failed", { runnable, error });
        return options.onError?.(error, runnable) ?? true;
      },
    });
    this.#observer = workMetrics(this.metrics);
    const clusters = Object.entries({ "": this.#cluster, ...this.#clusters });
    const informers = new Map(clusters.map(([key, cluster]) => [key, cluster.informers]));
    collectState(this.metrics, () => this.#controllerRuns(), informers, this.#clock);
    const runs = (): readonly (LiveController | LiveWatcher)[] => [...this.#loops.values()].map(({ run }) => run);
    collectStages(this.metrics, runs, [...informers.values()]);
    this.metrics.collect(EVENTS_DROPPED, () => [{ labels: {}, value: this.#events.dropped }]);
    const lease = { name: this.#elector?.lease.name ?? name };
    this.metrics.collect(MASTER_STATUS, () => [{ labels: lease, value: Number(this.isLeading) }]);
  }

  /** The log of its loops: masks the values of Secrets that they have read. */
  get log(): Logger {
    return this.#log;
  }

  /** The URL of the health endpoints, once served. */
  get healthUrl(): string | undefined {
    return this.#endpoints?.healthUrl;
  }

  /** The URL of metrics and timeline, once served. */
  get metricsUrl(): string | undefined {
    return this.#endpoints?.metricsUrl;
  }

  /** The port of webhooks and custom routes, once served. */
  get webhookPort(): number | undefined {
    return this.#apps.port;
  }

  /** The CA of webhooks and routes, as PEM in base64, once served. */
  get webhookCaBundle(): string | undefined {
    return this.#apps.caBundle;
  }

  get informers(): Informers {
    return this.#cluster.informers;
  }

  /** Aborted when the process should end: it was stopped, a runnable failed, or the lease is lost. */
  get ended(): AbortSignal {
    const { signal } = this.#stopping;
    return AbortSignal.any([signal, this.#failed.signal, ...(this.#elector ? [this.#elector.lost] : [])]);
  }

  /** Why the process must end: the error of a failed runnable, or `LEASE_LOST`. Undefined after an ordinary stop. */
  get failure(): unknown {
    const signals = [this.#failed.signal, ...(this.#elector ? [this.#elector.lost] : [])];
    return signals.find(({ aborted }) => aborted)?.reason;
  }

  get isLeading(): boolean {
    return this.#isLeading && (this.#elector?.isLeading ?? true);
  }

  /**
   * Adds a controller, a watcher, or an app; starts it at once if the manager runs. Throws for anything else, for a
   * taken name, and `CONTROLLER_STOPPED` once the manager stops; for an app it rejects instead. Resolves when an app's
   * webhooks are installed.
   */
  add(loop: Loop | App): Promise<void> {
    checkLoop(loop);
    if (loop.type === "app") return this.#addApp(loop);
    warnOfUnchecked(idOf(loop), loop.kind);
    return Promise.resolve(this.#addLoop(loop));
  }

  #addLoop(loop: Loop): void {
    const id = idOf(loop);
    this.#assertTakesLoops(id);
    if (this.#loops.has(id)) throw new TypeError(`the manager has a ${id} already`);
    const run =
      loop.type === "controller"
        ? new LiveController(loop, this.#environment())
        : new LiveWatcher(loop, this.#environment());
    this.#loops.set(id, { loop, run });
    this.#collect(loop, loop.metrics);
    if (loop.type === "controller") initControllerMetrics(this.metrics, loop.name);
    if (this.isLeading) this.#startRun(id, run);
    else if (this.#hasStarted && !this.#isLeading) run.warmUp();
  }

  /** Stops and removes a loop or an app. Does nothing if it is unknown. */
  async remove(loop: Loop | App): Promise<void> {
    this.#stopCollecting(loop);
    if (loop.type === "app") {
      await Promise.all([
        ...loop.loops.map((each) => this.remove(each)),
        ...loop.runnables.map(({ name }) => this.removeRunnable(`${loop.name}/${name}`)),
      ]);
      // After the loops, because their last writes may have to pass its webhooks.
      await this.#apps.remove(loop);
      return;
    }
    const live = this.#loops.get(idOf(loop));
    this.#loops.delete(idOf(loop));
    this.#unstarted.delete(idOf(loop));
    await live?.run.stop(this.#graceMs);
  }

  /** Adds work that runs while the manager leads. If it throws, the manager stops, unless `onError` returns false. */
  addRunnable(runnable: Runnable): void {
    this.#runnables.add(runnable);
  }

  async removeRunnable(name: string): Promise<void> {
    await this.#runnables.remove(name);
  }

  /**
   * Serves the endpoints and webhooks, waits for the lease if there is an election, then starts everything. Resolves
   * when the work has started; informers may still be syncing (see `/readyz`). Rejects if it is stopped before.
   */
  async start(): Promise<void> {
    this.#hasStarted = true;
    this.#hosted = this.#serve().then(() => this.#apps.start());
    await this.#hosted;
    this.#stopping.signal.throwIfAborted();
    if (this.#options.preflight ?? true) void this.#logPreflight();
    if (this.#elector) {
      for (const { run } of this.#loops.values()) run.warmUp();
      this.#log.info("waiting for the lease");
      await this.#elector.acquire(this.#stopping.signal);
      this.#stopping.signal.throwIfAborted();
    }
    this.#isLeading = true;
    for (const [id, { run }] of this.#loops) this.#startRun(id, run);
    this.#running = this.#runnables.run(this.#whileLeading()).catch((error: unknown) => this.#failed.abort(error));
    for (const app of this.#apps.apps) this.#sweep(app);
    this.#log.info("started", { loops: [...this.#loops.keys()] });
  }

  /** What prevents the loops from working: kinds that are not served, verbs that are not allowed. */
  async preflight(): Promise<readonly PreflightFinding[]> {
    const { client, clusters = {} } = this.#options;
    const { preflight } = await import("./preflight.js");
    return preflight(this.#all, { ...this.#needs, client, clusters, signal: this.#stopping.signal });
  }

  /** Why the process is not ready; empty if it is. */
  trouble(): readonly string[] {
    const trouble = [...this.#unstarted.values(), ...controllerTrouble(this.#statuses())];
    const shown = trouble.map((each) => this.#mask.text(each));
    return this.#stopping.signal.aborted ? [...shown, "stopping"] : shown;
  }

  /** `controller websites team/a`: abandoned code that still runs although its signal is aborted. */
  get stuck(): readonly string[] {
    return [...this.#loops].flatMap(([id, { run }]) => [...run.stuck].map((key) => `${id} ${key}`));
  }

  /**
   * Takes no more work, lets runs end within the grace period, then stops the webhooks, writes the last events and
   * releases the lease.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /**
   * Ends at once, like a process that dies: closes its sockets and starts and writes nothing more. Webhooks stay
   * installed, and the lease is not released. For tests of crashes; see {@link stop} for an orderly end.
   */
  abandon(): void {
    this.#lost.abort(new SetpointError("CONTROLLER_STOPPED", "the manager was abandoned"));
    this.#apps.abandon();
    void this.#endpoints?.[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    // Otherwise an app that is just starting would be served after the end.
    await this.#hosted?.catch(() => {});
    await Promise.all([...this.#loops.values()].map(({ run }) => run.stop(this.#graceMs)));
    await this.#running;
    // After the loops, because their last writes may have to pass our own webhooks.
    await this.#apps[Symbol.asyncDispose]();
    await this.#events[Symbol.asyncDispose]();
    await this.#elector?.release();
    const clusters = [this.#cluster, ...Object.values(this.#clusters)];
    await Promise.all(clusters.map(({ informers }) => informers[Symbol.asyncDispose]()));
    await this.#endpoints?.[Symbol.asyncDispose]();
    this.#log.info("stopped");
  }

  async #serve(): Promise<void> {
    if (!this.#options.health && !this.#options.metrics) return;
    // Loaded on first use, so that importing this package stays cheap for processes without endpoints.
    const [loaded, { rbacRules }] = await Promise.all([import("./endpoints/endpoints.js"), import("./rbac.js")]);
    this.#endpoints = new loaded.Endpoints();
    const { metrics, timeline } = this;
    const readiness = (): readonly HealthCheck[] => [
      { name: "controllers", check: () => this.trouble().join("; ") || undefined },
      ...this.#apps.apps.flatMap(({ checks }) => checks),
      ...(this.#options.checks ?? []),
    ];
    const { client, seenAccess } = this.#options;
    const access = (): NarrowedRules | undefined => seenAccess?.narrow(this.#all, rbacRules(this.#all, this.#needs));
    const notes = (): readonly string[] => controllerStrain(this.#statuses());
    const informers = (): readonly string[] => informerLines(this.#statuses());
    const mask = (text: string): string => this.#mask.text(text);
    const loops = (): readonly LoopStatus[] => loopStatuses(this.#loops, this.#unstarted, this.isLeading, mask);
    const common = { client, clock: this.#clock, random: this.#random, log: this.#log, metrics, timeline };
    const sources = { ...common, loops, readiness, notes, informers, mask, access };
    await this.#endpoints.serve(this.#options, sources);
    this.#log.info("serving", { health: this.healthUrl, metrics: this.metricsUrl });
  }

  async #addApp(app: App): Promise<void> {
    const taken = app.loops.map(idOf).find((id) => this.#loops.has(id));
    if (taken) throw new TypeError(`app ${app.name}: the manager has a ${taken} already`);
    await this.#hosted?.catch(() => {});
    this.#assertTakesLoops(`app ${app.name}`);
    await this.#apps.add(app);
    this.#stopping.signal.throwIfAborted();
    this.#collect(app, app.metrics);
    for (const loop of app.loops) this.#addLoop(loop);
    for (const runnable of app.runnables) {
      this.addRunnable({ name: `${app.name}/${runnable.name}`, run: (signal) => runnable.run(signal) });
    }
    if (this.isLeading) this.#sweep(app);
  }

  #assertTakesLoops(id: string): void {
    if (!this.#stopping.signal.aborted) return;
    throw new SetpointError("CONTROLLER_STOPPED", `${id} was added to a manager that is stopping`);
  }

  get #all(): readonly (Loop | App)[] {
    return [...new Set<Loop | App>([...this.#apps.apps, ...[...this.#loops.values()].map(({ loop }) => loop)])];
  }

  /** The permissions of the process besides those that its loops declare. */
  get #needs(): RbacOptions {
    const { metrics, metricsAccess, webhooks = {} } = this.#options;
    return {
      reviewsAccess: metrics !== undefined && metricsAccess === "rbac",
      installs: webhooks.install ?? true,
      ...(webhooks.service ? { service: webhooks.service } : {}),
      ...(this.#elector ? { leaderElection: this.#elector.lease } : {}),
    };
  }

  /** Aborted with the manager, and with its lease. */
  #whileLeading(): AbortSignal {
    return AbortSignal.any([this.#stopping.signal, this.#lost.signal]);
  }

  /** `isLeaders`: also closed for a process that does not lead yet. */
  #fenceFor(isLeaders: boolean): Fence {
    const { signal } = this.#lost;
    const check = (): void => {
      signal.throwIfAborted();
      if (isLeaders || this.#isLeading) this.#elector?.fence.check();
    };
    return { lost: signal, check };
  }

  /** Removes the finalizers from objects of kinds that an app no longer handles. */
  #sweep(app: App): void {
    const signal = this.#whileLeading();
    void this.#apps.sweep(app, { signal, fence: this.#fence }).catch((error: unknown) => {
      if (!signal.aborted) this.#log.error("could not remove finalizers", { app: app.name, error });
    });
  }

  async #logPreflight(): Promise<void> {
    try {
      const { logFindings } = await import("./preflight.js");
      logFindings(await this.preflight(), this.#log);
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#log.warn("preflight failed", { error });
    }
  }

  #collect(loop: object, sources: readonly MetricSource[]): void {
    this.#sources.set(
      loop,
      sources.map((source) => this.metrics.collect(source, () => source.collect())),
    );
  }

  #stopCollecting(loop: object): void {
    for (const source of this.#sources.get(loop) ?? []) source[Symbol.dispose]();
    this.#sources.delete(loop);
  }

  #clusterOf(client: Client): Cluster {
    const onStep = informerMetrics(this.metrics);
    // Errors of predicates, mappings and indexes show nowhere else.
    const told = informerLog(this.#log);
    const informers = new Informers(client, { clock: this.#clock, random: this.#random, onStep, ...told });
    return { client: client.with({ fence: this.#fence }), informers };
  }

  #environment(): ControllerEnvironment {
    return {
      cluster: this.#cluster,
      clusters: this.#clusters,
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      recorder: this.#events,
      fence: this.#fence,
      timeline: this.timeline,
      observer: this.#observer,
      metrics: this.metrics,
      mask: this.#mask,
      controllerOf: (manager) =>
        [...this.#controllerRuns()].find(({ controller }) => controller.fieldManager === manager)?.controller.name,
      ...(this.#traces ? { traces: this.#traces } : {}),
    };
  }

  #startRun(id: string, run: LiveController | LiveWatcher): void {
    void run.start().catch((error: unknown) => {
      if (this.#stopping.signal.aborted) return;
      const message = `${id} could not start: ${messageOf(error)}`;
      this.#unstarted.set(id, message);
      this.#log.error(message, { error });
    });
  }

  #statuses(): readonly ReturnType<(LiveController | LiveWatcher)["status"]>[] {
    return [...this.#loops.values()].map(({ run }) => run.status());
  }

  *#controllerRuns(): Iterable<LiveController> {
    for (const { run } of this.#loops.values()) if (run instanceof LiveController) yield run;
  }
}
