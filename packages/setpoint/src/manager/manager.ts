import type { Client } from "../client/client.js";
import type { Clock } from "../clock/clock.js";
import { type Random, systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import type { Cluster } from "../controller/cluster.js";
import type { Controller } from "../controller/controller.js";
import { ControllerRun } from "../controller/controller-run.js";
import type { ControllerEnvironment } from "../controller/environment.js";
import { openFence } from "../controller/fence.js";
import { type Logger, silentLogger } from "../controller/logger.js";
import { Timeline } from "../controller/timeline.js";
import type { Watcher } from "../controller/watcher.js";
import { WatcherRun } from "../controller/watcher-run.js";
import { Informers } from "../informer/informers.js";
import { loopbackOnly, reviewedAccess } from "./access-guard.js";
import { collectState, controllerMetrics } from "./controller-metrics.js";
import { EndpointServer } from "./endpoint-server.js";
import { EventWriter } from "./event-writer.js";
import { controllerTrouble, type HealthCheck, healthAnswer } from "./health.js";
import { LeaderElector, type LeaderElectorOptions } from "./leader-elector.js";
import { MetricRegistry } from "./metric-registry.js";
import { timelineEndpoint } from "./timeline-endpoint.js";

/** What a manager runs: controllers and watchers of any kinds. */
// biome-ignore lint/suspicious/noExplicitAny: kinds differ from one to the next
export type Workload = Controller<any> | Watcher<any>;

/** Something else that lives as long as the manager leads: ends when the signal is aborted. */
export interface Runnable {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface ManagerOptions {
  /** For the lease, events and logs. Defaults to `setpoint`. */
  readonly name?: string;
  readonly client: Client;
  /** Other clusters that controllers read from or write to, by name. */
  readonly clusters?: Readonly<Record<string, Client>>;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
  /** Several processes share the work by electing one. Off by default: a single process needs no lease. */
  readonly leaderElection?: Partial<
    Pick<LeaderElectorOptions, "namespace" | "name" | "identity" | "leaseMs" | "renewMs" | "retryMs">
  >;
  /** `/livez`, `/readyz` and `/healthz`. Not served where left out. */
  readonly health?: ListenAddress;
  /** `/metrics` and `/timeline`. Not served where left out. */
  readonly metrics?: ListenAddress;
  /** Who may see metrics and timeline: `loopback`, or whoever the cluster's RBAC allows. Defaults to `loopback`. */
  readonly metricsAccess?: "loopback" | "rbac";
  /** How long runs may take to end on a stop. Defaults to 30 s. */
  readonly graceMs?: number;
  readonly checks?: readonly HealthCheck[];
}

interface Live {
  readonly workload: Workload;
  readonly run: ControllerRun | WatcherRun;
}

/**
 * One process of control loops: shared caches, one lease, health, metrics, and an orderly end.
 *
 * ```ts
 * await using manager = new Manager({ client: await connect() });
 * manager.add(websites);
 * await manager.start();
 * ```
 *
 * Guarantees: with leader election no reconcile starts before the lease is held, and none writes after it is lost; a
 * standby keeps its caches warm. `stop` takes no more work, lets runs end, then releases the lease.
 */
export class Manager implements AsyncDisposable {
  readonly metrics = new MetricRegistry();
  readonly timeline = new Timeline();
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #cluster: Cluster;
  readonly #clusters: Readonly<Record<string, Cluster>>;
  readonly #events: EventWriter;
  readonly #elector: LeaderElector | undefined;
  readonly #live = new Map<string, Live>();
  readonly #runnables = new Map<
    string,
    { readonly runnable: Runnable; stop: AbortController; ended?: Promise<void> }
  >();
  readonly #servers: EndpointServer[] = [];
  readonly #stopping = new AbortController();
  #isLeading = false;
  #healthUrl: string | undefined;
  #metricsUrl: string | undefined;
  #stopped: Promise<void> | undefined;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    const name = options.name ?? "setpoint";
    this.#log = (options.log ?? silentLogger).with({ manager: name });
    const { client } = options;
    this.#cluster = this.#clusterOf(client);
    this.#clusters = Object.fromEntries(
      Object.entries(options.clusters ?? {}).map(([key, each]) => [key, this.#clusterOf(each)]),
    );
    this.#events = new EventWriter({
      client,
      clock: this.#clock,
      random: this.#random,
      component: name,
      log: this.#log,
    });
    const { leaderElection } = options;
    this.#elector =
      leaderElection &&
      new LeaderElector({
        namespace: client.namespace,
        name,
        identity: `${process.env.HOSTNAME ?? "local"}_${Buffer.from(this.#random.bytes(6)).toString("hex")}`,
        ...leaderElection,
        client,
        clock: this.#clock,
        random: this.#random,
        log: this.#log,
      });
    collectState(this.metrics, () => this.#controllerRuns(), this.#cluster.informers);
  }

  /** Where health is served, once it is. */
  get healthUrl(): string | undefined {
    return this.#healthUrl;
  }

  /** Where metrics and timeline are served, once they are. */
  get metricsUrl(): string | undefined {
    return this.#metricsUrl;
  }

  get informers(): Informers {
    return this.#cluster.informers;
  }

  /** Aborted when the process should end: it was stopped, or the lease is lost. */
  get ended(): AbortSignal {
    return this.#elector ? AbortSignal.any([this.#stopping.signal, this.#elector.lost]) : this.#stopping.signal;
  }

  /** Why this process no longer leads, once it does not. */
  get lostLease(): Error | undefined {
    return this.#elector?.lost.aborted ? (this.#elector.lost.reason as Error) : undefined;
  }

  get isLeading(): boolean {
    return this.#isLeading && (this.#elector?.isLeading ?? true);
  }

  /** Adds a controller or watcher; it starts at once where the manager already works. Its name must be free. */
  add(workload: Workload): void {
    const id = `${workload.type} ${workload.name}`;
    if (this.#live.has(id)) throw new TypeError(`the manager has a ${id} already`);
    const run =
      workload.type === "controller"
        ? new ControllerRun(workload, this.#environment())
        : new WatcherRun(workload, this.#environment());
    this.#live.set(id, { workload, run });
    if (this.#isLeading) this.#startRun(run);
  }

  /** Stops and takes away a controller or watcher. One that is not there is as good as removed. */
  async remove(workload: Workload): Promise<void> {
    const id = `${workload.type} ${workload.name}`;
    const live = this.#live.get(id);
    this.#live.delete(id);
    await live?.run.stop(this.#options.graceMs);
  }

  addRunnable(runnable: Runnable): void {
    const entry = { runnable, stop: new AbortController() };
    this.#runnables.set(runnable.name, entry);
    if (this.#isLeading) this.#startRunnable(entry);
  }

  async removeRunnable(name: string): Promise<void> {
    const entry = this.#runnables.get(name);
    this.#runnables.delete(name);
    entry?.stop.abort();
    await entry?.ended;
  }

  /**
   * Serves the endpoints, waits for the lease where there is one, then starts everything. Resolves when the work began;
   * informers may still be filling (`/readyz` tells).
   */
  async start(): Promise<void> {
    await this.#serve();
    if (this.#elector) {
      for (const run of this.#controllerRuns()) run.warmUp();
      this.#log.info("waiting for the lease");
      await this.#elector.acquire(this.#stopping.signal);
    }
    this.#isLeading = true;
    for (const { run } of this.#live.values()) this.#startRun(run);
    for (const entry of this.#runnables.values()) this.#startRunnable(entry);
  }

  /** Why the process is not ready; empty where it is. */
  trouble(): readonly string[] {
    const trouble = controllerTrouble([...this.#controllerRuns()].map((run) => run.status()));
    return this.#stopping.signal.aborted ? [...trouble, "stopping"] : trouble;
  }

  /** Stops taking work, lets runs end within the grace, writes the last events, then releases the lease. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    for (const { stop } of this.#runnables.values()) stop.abort();
    await Promise.all([...this.#live.values()].map(({ run }) => run.stop(this.#options.graceMs)));
    await Promise.all([...this.#runnables.values()].map(({ ended }) => ended));
    await this.#events[Symbol.asyncDispose]();
    await this.#elector?.release();
    const clusters = [this.#cluster, ...Object.values(this.#clusters)];
    await Promise.all(clusters.map(({ informers }) => informers[Symbol.asyncDispose]()));
    await Promise.all(this.#servers.map((server) => server[Symbol.asyncDispose]()));
    this.#log.info("stopped");
  }

  async #serve(): Promise<void> {
    const { health, metrics, client, metricsAccess, checks = [] } = this.#options;
    if (health) {
      const server = this.#server();
      server.route("/livez", () => healthAnswer([{ name: "ping", check: () => undefined }]));
      server.route("/healthz", () => healthAnswer([{ name: "ping", check: () => undefined }]));
      server.route("/readyz", () =>
        healthAnswer([{ name: "controllers", check: () => this.trouble().join("; ") || undefined }, ...checks]),
      );
      this.#healthUrl = await server.listen(health.host, health.port);
      this.#log.info("serving health", { url: this.#healthUrl });
    }
    if (metrics) {
      const guard = metricsAccess === "rbac" ? reviewedAccess(client) : loopbackOnly;
      const server = this.#server();
      const type = "text/plain; version=0.0.4; charset=utf-8";
      server.route("/metrics", () => ({ status: 200, type, body: this.metrics.exposition() }), guard);
      server.route("/timeline", timelineEndpoint(this.timeline), guard);
      this.#metricsUrl = await server.listen(metrics.host, metrics.port);
      this.#log.info("serving metrics and timeline", { url: this.#metricsUrl });
    }
  }

  #server(): EndpointServer {
    const server = new EndpointServer();
    this.#servers.push(server);
    return server;
  }

  #clusterOf(client: Client): Cluster {
    return { client, informers: new Informers(client, { clock: this.#clock, random: this.#random }) };
  }

  #environment(): ControllerEnvironment {
    return {
      cluster: this.#cluster,
      clusters: this.#clusters,
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      recorder: this.#events,
      fence: this.#elector?.fence ?? openFence,
      timeline: this.timeline,
      observer: controllerMetrics(this.metrics),
    };
  }

  #startRun(run: ControllerRun | WatcherRun): void {
    void run.start().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) this.#log.error("could not start", { error });
    });
  }

  #startRunnable(entry: { readonly runnable: Runnable; stop: AbortController; ended?: Promise<void> }): void {
    entry.ended = entry.runnable.run(entry.stop.signal).catch((error: unknown) => {
      if (!entry.stop.signal.aborted) this.#log.error("a runnable failed", { runnable: entry.runnable.name, error });
    });
  }

  *#controllerRuns(): Iterable<ControllerRun> {
    for (const { run } of this.#live.values()) if (run instanceof ControllerRun) yield run;
  }
}
