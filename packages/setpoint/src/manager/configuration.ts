import type { ConnectOptions } from "../client/connect.js";
import { SetpointError } from "../errors/error.js";
import type { JsonObject } from "../kinds/object.js";
import type { ElectionOptions } from "./lease/election.js";
import type { LogLevel } from "./log/json-logger.js";
import type { ManagerOptions } from "./manager.js";
import { type Field, SETTINGS, type Settings } from "./settings.js";

export interface ConfigurationSources {
  /** Flags: `process.argv.slice(2)`. Defaults to none. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A YAML or JSON file. Defaults to the one that `--config` or `SETPOINT_CONFIG` names. */
  readonly file?: string;
}

/** The settings of flags, environment and file. */
export interface Configuration {
  readonly manager: Partial<ManagerOptions>;
  /** The settings of the election, even if only code turns it on. */
  readonly leaderElection: ElectionOptions;
  readonly connect: Pick<ConnectOptions, "kubeconfig" | "context">;
  readonly logLevel: LogLevel | undefined;
  /** Whether to print what would be done, instead of doing it. */
  readonly plan: boolean;
  /** The file's `apps`: the configuration of app providers, by name. */
  readonly apps: Readonly<Record<string, unknown>>;
}

const FIELDS = Object.keys(SETTINGS) as readonly Field[];

/**
 * Reads the configuration of a manager. Flags win over the environment, which wins over the file; options in code win
 * over all three. Rejects with `CONFIGURATION_INVALID`, which names the flag, variable or field.
 *
 * ```ts
 * const { manager } = await readConfiguration({ args: process.argv.slice(2), env: process.env });
 * ```
 */
export async function readConfiguration(sources: ConfigurationSources = {}): Promise<Configuration> {
  const { env = {} } = sources;
  const flags = fromFlags(sources.args ?? []);
  const path = sources.file ?? flags.config ?? env.SETPOINT_CONFIG;
  const file = path ? await fromFile(path) : { settings: {}, apps: {} };
  return { ...configured({ ...file.settings, ...fromEnvironment(env), ...flags.settings }), apps: file.apps };
}

function configured(given: Settings): Omit<Configuration, "apps"> {
  const picked = <Name extends string>(name: Name, field: Field): Partial<Record<Name, never>> =>
    field in given ? ({ [name]: given[field] } as Partial<Record<Name, never>>) : {};
  const election = {
    ...picked("name", "leaderElection.name"),
    ...picked("namespace", "leaderElection.namespace"),
    ...picked("lease", "leaderElection.lease"),
    ...picked("renew", "leaderElection.renew"),
    ...picked("retry", "leaderElection.retry"),
  };
  const webhooks = {
    ...picked("port", "webhooks.port"),
    ...picked("url", "webhooks.url"),
    ...picked("service", "webhooks.service"),
    ...picked("install", "webhooks.install"),
  };
  return {
    manager: {
      ...picked("name", "name"),
      ...picked("health", "health"),
      ...picked("metrics", "metrics"),
      ...picked("metricsAccess", "metricsAccess"),
      ...picked("metricsSecure", "metricsSecure"),
      ...picked("metricsCertificates", "metricsCertificates"),
      ...picked("metricsAudiences", "metricsAudiences"),
      ...picked("profiling", "profiling"),
      ...picked("grace", "grace"),
      ...picked("preflight", "preflight"),
      ...(given["leaderElection.enabled"] ? { leaderElection: election } : {}),
      ...(Object.keys(webhooks).length > 0 ? { webhooks } : {}),
    },
    leaderElection: election,
    connect: { ...picked("kubeconfig", "kubeconfig"), ...picked("context", "context") },
    logLevel: given.logLevel,
    plan: given.plan ?? false,
  };
}

function fromFlags(args: readonly string[]): { readonly settings: Settings; readonly config: string | undefined } {
  const given: Record<string, unknown> = {};
  let config: string | undefined;
  for (let at = 0; at < args.length; at++) {
    const [, name, inline] = /^--([a-z-]+)(?:=(.*))?$/s.exec(args[at]!) ?? [];
    if (name === undefined) throw invalid(args[at]!, "flags begin with --");
    const field = FIELDS.find((each) => SETTINGS[each].flag === name);
    if (!field && name !== "config") throw invalid(`--${name}`, `there is no such flag; there are ${flagNames()}`);
    const isToggle = field !== undefined && SETTINGS[field].placeholder === undefined;
    const value = inline ?? (isToggle ? "true" : args[++at]);
    if (value === undefined) throw invalid(`--${name}`, "a value is missing");
    if (field) given[field] = read(field, value, `--${name}`);
    else config = value;
  }
  return { settings: given as Settings, config };
}

function flagNames(): string {
  return ["config", ...FIELDS.map((field) => SETTINGS[field].flag)].map((flag) => `--${flag}`).join(", ");
}

function fromEnvironment(env: NonNullable<ConfigurationSources["env"]>): Settings {
  const given = FIELDS.flatMap((field) => {
    const { variable } = SETTINGS[field];
    const value = env[variable];
    return value ? [[field, read(field, value, variable)]] : [];
  });
  return Object.fromEntries(given) as Settings;
}

async function fromFile(
  path: string,
): Promise<{ readonly settings: Settings; readonly apps: Readonly<Record<string, unknown>> }> {
  const { readFile } = process.getBuiltinModule("node:fs/promises");
  let parsed: unknown;
  try {
    const content = await readFile(path, "utf8");
    // JSON is YAML too, so the parser is loaded only for other text.
    parsed = content.trimStart().startsWith("{") ? JSON.parse(content) : (await import("yaml")).parse(content);
  } catch (cause) {
    throw invalid(path, (cause as Error).message, cause);
  }
  const { apps = {}, ...rest } = objectAt(parsed ?? {}, path, "");
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(rest)) {
    const nested = FIELDS.some((field) => field.startsWith(`${name}.`)) ? objectAt(value, path, name) : undefined;
    const leaves = nested
      ? Object.entries(nested).map(([key, leaf]) => [`${name}.${key}`, leaf] as const)
      : [[name, value] as const];
    for (const [key, leaf] of leaves) {
      const field = FIELDS.find((each) => each === key);
      if (!field) throw invalid(`${path}: ${key}`, `there is no such field; there are ${FIELDS.join(", ")}, apps`);
      given[field] = read(field, leaf, `${path}: ${field}`);
    }
  }
  return { settings: given as Settings, apps: objectAt(apps, path, "apps") };
}

function objectAt(value: unknown, path: string, field: string): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw invalid(field ? `${path}: ${field}` : path, "expected fields with values");
}

function read(field: Field, value: unknown, where: string): unknown {
  try {
    return SETTINGS[field].read(value);
  } catch (cause) {
    const shown = typeof value === "string" ? `"${value}": ` : "";
    throw invalid(where, `${shown}${(cause as Error).message}`, cause);
  }
}

function invalid(where: string, why: string, cause?: unknown): SetpointError {
  return new SetpointError("CONFIGURATION_INVALID", `${where}: ${why}`, { cause });
}
