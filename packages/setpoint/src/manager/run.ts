import type { App } from "../app/app.js";
import type { AppProvider } from "../app/provider.js";
import type { Client } from "../client/client.js";
import { type ConnectOptions, connect } from "../client/connect.js";
import { systemClock } from "../clock/system-clock.js";
import type { Loop } from "../controller/loop.js";
import { SetpointError } from "../errors/error.js";
import { ownField } from "../kinds/own-field.js";
import type { Logger } from "../loop/logger.js";
import type { Configuration, ConfigurationSources } from "./configuration.js";
import { jsonLogger, type LogLevel } from "./log/json-logger.js";
import { checkLoop } from "./loops.js";
import { Manager, type ManagerOptions } from "./manager.js";
import { requestMetrics } from "./metrics/controller-metrics.js";
import { MetricRegistry } from "./metrics/metric-registry.js";

/** How long abandoned code may continue after `run`. */
const EXIT_AFTER_MS = 1_000;

/** Loops, apps, and providers that make apps from their configuration. */
// biome-ignore lint/suspicious/noExplicitAny: configurations differ from one to the next
type Runs = Loop | App | AppProvider<any>;

export interface RunOptions extends Omit<ManagerOptions, "client"> {
  /** Defaults to a client of the cluster that {@link connect} finds. */
  readonly client?: Client;
  readonly connect?: ConnectOptions;
  /** Stops the run, in addition to SIGINT and SIGTERM. */
  readonly signal?: AbortSignal;
  /** Defaults to the process's environment; see {@link readConfiguration}. */
  readonly env?: ConfigurationSources["env"];
  /** Flags to read: `process.argv.slice(2)`. Defaults to none. */
  readonly args?: ConfigurationSources["args"];
  /** A configuration file; `SETPOINT_CONFIG` and the flag `--config` can name one too. */
  readonly config?: string;
  /** Prints what it would do, does nothing, and ends; also with the flag `--plan`. Defaults to no. */
  readonly plan?: boolean;
  /** Where a plan is printed. Defaults to standard output. */
  readonly print?: (line: string) => void;
}

/**
 * Runs controllers, watchers and apps until the process is told to end: reads its configuration, connects, elects a
 * leader where asked to, serves health, metrics, webhooks and routes, and stops in order on SIGINT and SIGTERM.
 *
 * Rejects with `CLUSTER_NOT_CHOSEN` where no cluster was named, `CONFIGURATION_INVALID` for what cannot be read,
 * `CONTROLLER_INVALID` where there is nothing to run, `LEASE_LOST` where another process took over, and with the error of
 * a runnable that failed.
 *
 * ```ts
 * await run(websites);
 * await run([shop, billing], { args: process.argv.slice(2), health: { host: "", port: 8081 } });
 * ```
 */
export async function run(loops: Runs | readonly Runs[], options: RunOptions = {}): Promise<void> {
  try {
    await runUntilTold(loops, options);
  } catch (error) {
    (await import("./expected-exit.js")).tellInOneLine(error);
    throw error;
  }
}

async function runUntilTold(loops: Runs | readonly Runs[], options: RunOptions): Promise<void> {
  const env = options.env ?? process.env;
  const { args = [], config } = options;
  const [{ readConfiguration }, { SeenAccess }] = await Promise.all([
    import("./configuration.js"),
    import("./seen-access.js"),
  ]);
  const configuration = await readConfiguration({ args, env, ...(config ? { file: config } : {}) });
  const log = options.log ?? (await defaultLog(configuration.logLevel ?? "info"));
  // The manager's masked log, once it exists: servers quote what they were sent.
  let shownLog = log;
  const given = await provided(loops, configuration.apps);
  const metricRegistry = new MetricRegistry();
  const countRequest = requestMetrics(metricRegistry);
  const seenAccess = new SeenAccess();
  const client =
    options.client ??
    (await connect({
      env,
      onWarning: (warning, request) => shownLog.warn(`the API server warns: ${warning}`, { ...request }),
      observer: (request) => {
        countRequest(request);
        seenAccess.observe(request);
      },
      ...configuration.connect,
      ...options.connect,
    }));
  if (options.plan ?? configuration.plan) {
    const { print = (line) => void process.stdout.write(`${line}\n`) } = options;
    const [{ plan }, { describePlan }] = await Promise.all([
      import("./plan.js"),
      import("../controller/run/planned-run.js"),
    ]);
    for await (const planned of plan(given, { ...options, client, log }))
      for (const line of describePlan(planned)) print(line);
    if (!options.client) await client[Symbol.asyncDispose]();
    return;
  }
  const { connectsAsPod } = await import("../client/cluster/in-cluster.js");
  const isPod = !options.client && connectsAsPod({ ...configuration.connect, ...options.connect }, env);
  const settings: ManagerOptions = {
    metricRegistry,
    metricsAccess: isPod ? "rbac" : "loopback",
    ...(options.client ? {} : { seenAccess }),
    ...configuration.manager,
    ...options,
    ...electionOf(configuration, options),
    ...webhooksOf(configuration, options),
    log,
    client,
  };
  const manager = new Manager({ ...settings, ...inThread(settings, options, configuration.connect) });
  shownLog = manager.log;
  using ending = new ProcessEnd(manager.log);
  const signals = [ending.signal, manager.ended, ...(options.signal ? [options.signal] : [])];
  try {
    for (const each of given) await manager.add(each);
    await untilAborted(manager, AbortSignal.any(signals));
  } finally {
    await manager.stop();
    if (!options.client) await client[Symbol.asyncDispose]();
    if (ending.signal.aborted && manager.stuck.length > 0) endSoon(manager.stuck, manager.log);
  }
  if (manager.failure !== undefined) throw manager.failure;
}

/** Text on a terminal, JSON elsewhere. */
async function defaultLog(level: LogLevel): Promise<Logger> {
  if (!process.stderr.isTTY) return jsonLogger({ clock: systemClock, level });
  return (await import("./log/text-logger.js")).textLogger({ clock: systemClock, level });
}

/** The election options of code and configuration; undefined if neither turns it on. */
function electionOf(configured: Configuration, options: RunOptions): Pick<ManagerOptions, "leaderElection"> {
  if (!options.leaderElection && !configured.manager.leaderElection) return {};
  return { leaderElection: { ...configured.leaderElection, ...options.leaderElection } };
}

function webhooksOf({ manager }: Configuration, options: RunOptions): Pick<ManagerOptions, "webhooks"> {
  if (!options.webhooks && !manager.webhooks) return {};
  return { webhooks: { ...manager.webhooks, ...options.webhooks } };
}

/** Runs the election in a separate thread, if that can connect like this one. */
function inThread(
  { leaderElection }: ManagerOptions,
  options: RunOptions,
  configured: ConnectOptions,
): Pick<ManagerOptions, "leaderElection"> {
  const { kubeconfig, context, ...more } = { ...configured, ...options.connect };
  const isOwn = options.client === undefined && options.env === undefined && Object.keys(more).length === 0;
  if (!leaderElection || leaderElection.thread || !isOwn) return {};
  const thread = { ...(kubeconfig ? { kubeconfig } : {}), ...(context ? { context } : {}) };
  return { leaderElection: { thread, ...leaderElection } };
}

async function provided(
  loops: Runs | readonly Runs[],
  configurations: Readonly<Record<string, unknown>>,
): Promise<readonly (Loop | App)[]> {
  const all = (Array.isArray(loops) ? loops : [loops]) as readonly Runs[];
  if (all.length === 0)
    throw new SetpointError("CONTROLLER_INVALID", "run: the list is empty, so there is nothing to run");
  const providers = all.filter(isProvider).map(({ name }) => name);
  const stranger = Object.keys(configurations).find((name) => !providers.includes(name));
  if (stranger !== undefined) {
    const known = providers.length > 0 ? `there are ${providers.join(", ")}` : "there are none";
    throw new SetpointError("CONFIGURATION_INVALID", `apps.${stranger}: no provider has that name; ${known}`);
  }
  const made = async (one: Runs): Promise<Loop | App> => {
    if (isProvider(one)) {
      const { provideApp } = await import("../app/provider.js");
      return provideApp(one, ownField(configurations, one.name));
    }
    checkLoop(one);
    return one;
  };
  return Promise.all(all.map(made));
}

// biome-ignore lint/suspicious/noExplicitAny: configurations differ from one to the next
function isProvider(one: Runs): one is AppProvider<any> {
  return typeof one === "object" && one !== null && "create" in one;
}

/** Signals that end the process, and errors that would otherwise end it without a message. */
class ProcessEnd implements Disposable {
  readonly #ending = new AbortController();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
    process.once("SIGINT", this.#end);
    process.once("SIGTERM", this.#end);
    process.on("unhandledRejection", this.#unhandled);
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  [Symbol.dispose](): void {
    process.off("SIGINT", this.#end);
    process.off("SIGTERM", this.#end);
    process.off("unhandledRejection", this.#unhandled);
  }

  readonly #end = (): void => this.#ending.abort();

  /** A promise that a reconciler does not await must not stop the other loops. */
  readonly #unhandled = (error: unknown): void => {
    this.#log.error("unhandled promise rejection: await the promise, or catch its error", { error });
  };
}

/** Code that ignores its signal would keep the process alive. Does not delay a process that ends on its own. */
function endSoon(stuck: readonly string[], log: Logger): void {
  log.error("exiting although abandoned work is still running", { stuck });
  systemClock.timer(EXIT_AFTER_MS, () => process.exit()).unref();
}

async function untilAborted(manager: Manager, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const starting = manager.start().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  await Promise.race([aborted, starting.then(() => aborted)]);
}
