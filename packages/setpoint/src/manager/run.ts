import type { Client } from "../client/client.js";
import { type ConnectOptions, connect } from "../client/connect.js";
import { systemClock } from "../clock/system-clock.js";
import type { Logger } from "../controller/logger.js";
import { jsonLogger, type LogLevel } from "./json-logger.js";
import { type ListenAddress, Manager, type ManagerOptions, type Workload } from "./manager.js";

export interface RunOptions extends Omit<ManagerOptions, "client"> {
  /** Defaults to one for the cluster that {@link connect} finds. */
  readonly client?: Client;
  readonly connect?: ConnectOptions;
  /** Ends the run, besides SIGINT and SIGTERM. */
  readonly signal?: AbortSignal;
  /** Defaults to the process's. See {@link run} for the variables. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs controllers and watchers until the process is told to end: connects, elects a leader where asked to, serves
 * health and metrics, and stops in order on SIGINT and SIGTERM.
 *
 * Environment: `SETPOINT_LOG_LEVEL`, `SETPOINT_HEALTH` and `SETPOINT_METRICS` (`host:port`), `SETPOINT_METRICS_ACCESS`
 * (`loopback` or `rbac`), `SETPOINT_LEADER_ELECTION` (`true`). What the options say wins.
 *
 * Rejects with `CLUSTER_NOT_CHOSEN` where no cluster was named, and with `LEASE_LOST` where another process took over.
 *
 * ```ts
 * await run([websites], { health: { host: "0.0.0.0", port: 8081 } });
 * ```
 */
export async function run(workloads: Workload | readonly Workload[], options: RunOptions = {}): Promise<void> {
  const env = options.env ?? process.env;
  const log = options.log ?? defaultLogger(env);
  const client = options.client ?? (await connect({ onWarning: (warning) => log.warn(warning), ...options.connect }));
  const manager = new Manager({ ...fromEnvironment(env), ...options, log, client });
  for (const workload of Array.isArray(workloads) ? workloads : [workloads as Workload]) manager.add(workload);
  const ending = new AbortController();
  const end = (): void => ending.abort();
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
  const signal = AbortSignal.any([ending.signal, manager.ended, ...(options.signal ? [options.signal] : [])]);
  try {
    await untilAborted(manager, signal);
  } finally {
    process.off("SIGINT", end);
    process.off("SIGTERM", end);
    await manager.stop();
    if (!options.client) await client[Symbol.asyncDispose]();
  }
  if (manager.lostLease) throw manager.lostLease;
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

function defaultLogger(env: NonNullable<RunOptions["env"]>): Logger {
  return jsonLogger({ clock: systemClock, level: (env.SETPOINT_LOG_LEVEL as LogLevel | undefined) ?? "info" });
}

function fromEnvironment(env: NonNullable<RunOptions["env"]>): Partial<ManagerOptions> {
  const [health, metrics] = [parseAddress(env.SETPOINT_HEALTH), parseAddress(env.SETPOINT_METRICS)];
  return {
    ...(health ? { health } : {}),
    ...(metrics ? { metrics } : {}),
    ...(env.SETPOINT_METRICS_ACCESS === "rbac" ? { metricsAccess: "rbac" as const } : {}),
    ...(env.SETPOINT_LEADER_ELECTION === "true" ? { leaderElection: {} } : {}),
  };
}

/** `host:port`, `[::1]:port` or `:port` for all addresses; undefined where nothing is given. */
export function parseAddress(text: string | undefined): ListenAddress | undefined {
  if (!text) return undefined;
  const match = /^(?:\[(.+)\]|([^:]*)):(\d+)$/.exec(text);
  if (!match || Number(match[3]) > 65_535) throw new TypeError(`"${text}" is not an address: write host:port`);
  return { host: match[1] ?? (match[2] || "0.0.0.0"), port: Number(match[3]) };
}
