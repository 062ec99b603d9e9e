import { type Duration, parseDuration } from "../clock/duration.js";
import type { ListenAddress } from "./endpoints/endpoints.js";

/** Parses the text or value of a setting. Throws an error whose message says what it expects. */
type Reader<Value> = (value: unknown) => Value;

/** One setting: a field in a file, a flag, and an environment variable. */
export interface Setting<Value = unknown> {
  readonly flag: string;
  readonly variable: string;
  /** The placeholder of the value in `--help`; undefined for switches. */
  readonly placeholder?: string;
  readonly description: string;
  readonly read: Reader<Value>;
}

const text: Reader<string> = (value) => {
  if (typeof value !== "string" || value === "") throw new TypeError("expected a string");
  return value;
};

const texts: Reader<readonly string[]> = (value) => {
  const given = Array.isArray(value) ? (value as readonly unknown[]) : text(value).split(",");
  return given.map((each) => text(typeof each === "string" ? each.trim() : each));
};

const toggle: Reader<boolean> = (value) => {
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  throw new TypeError("expected true or false");
};

const duration: Reader<number> = (value) => {
  try {
    return parseDuration(value as Duration, "it");
  } catch {
    throw new TypeError("expected a duration: 250ms, 10s, 5m");
  }
};

const port: Reader<number> = (value) => {
  const number = typeof value === "number" ? value : /^\d+$/.test(String(value)) ? Number(value) : Number.NaN;
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    throw new TypeError("expected a number from 0 to 65535");
  return number;
};

/** `"0"` turns it off: undefined. */
const address: Reader<ListenAddress | undefined> = (value) => {
  if (value === "0" || value === 0) return undefined;
  try {
    return parseAddress(text(value));
  } catch {
    throw new TypeError("expected host:port");
  }
};

const service: Reader<{ readonly namespace: string; readonly name: string }> = (value) => {
  const [namespace, name, more] = text(value).split("/");
  if (!namespace || !name || more !== undefined) throw new TypeError("expected NAMESPACE/NAME");
  return { namespace, name };
};

function oneOf<const Choice extends string>(...choices: readonly Choice[]): Reader<Choice> {
  return (value) => {
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw new TypeError(`expected one of ${choices.join(", ")}`);
    return found;
  };
}

function setting<Value>(
  flag: string,
  variable: string,
  read: Reader<Value>,
  description: string,
  placeholder?: string,
): Setting<Value> {
  return { flag, variable, read, description, ...(placeholder ? { placeholder } : {}) };
}

/** All settings by field. Flags have the names of controller-runtime where it has one. */
export const SETTINGS = {
  name: setting("name", "SETPOINT_NAME", text, "the name in Lease, events and logs", "NAME"),
  kubeconfig: setting("kubeconfig", "SETPOINT_KUBECONFIG", text, "the cluster to work on", "FILE"),
  context: setting("context", "SETPOINT_CONTEXT", text, "the kubeconfig's context to use", "NAME"),
  logLevel: setting(
    "log-level",
    "SETPOINT_LOG_LEVEL",
    oneOf("debug", "info", "warn", "error"),
    "debug, info, warn or error",
    "LEVEL",
  ),
  health: setting(
    "health-probe-bind-address",
    "SETPOINT_HEALTH",
    address,
    "serves /healthz, /livez and /readyz here; 0 turns it off",
    "HOST:PORT",
  ),
  metrics: setting(
    "metrics-bind-address",
    "SETPOINT_METRICS",
    address,
    "serves /metrics and /timeline here; 0 turns it off",
    "HOST:PORT",
  ),
  metricsAccess: setting(
    "metrics-access",
    "SETPOINT_METRICS_ACCESS",
    oneOf("loopback", "rbac"),
    "who may read metrics: callers on loopback, or callers that the cluster's RBAC allows (rbac)",
    "WHO",
  ),
  metricsSecure: setting(
    "metrics-secure",
    "SETPOINT_METRICS_SECURE",
    toggle,
    "serves metrics over HTTPS; the default with --metrics-access rbac",
  ),
  metricsCertificates: setting(
    "metrics-cert-path",
    "SETPOINT_METRICS_CERT_PATH",
    text,
    "the folder with tls.crt and tls.key of the metrics; without it, a self-signed certificate",
    "DIR",
  ),
  metricsAudiences: setting(
    "metrics-audiences",
    "SETPOINT_METRICS_AUDIENCES",
    texts,
    "the accepted audiences of callers' tokens; without it, those of the API server",
    "NAMES",
  ),
  profiling: setting(
    "profiling",
    "SETPOINT_PROFILING",
    toggle,
    "serves /debug/profile and /debug/heap with the metrics",
  ),
  grace: setting(
    "graceful-shutdown-timeout",
    "SETPOINT_GRACE",
    duration,
    "how long a stop waits for reconciles to end",
    "DURATION",
  ),
  plan: setting("plan", "SETPOINT_PLAN", toggle, "prints what it would do, does nothing, and exits"),
  preflight: setting(
    "preflight",
    "SETPOINT_PREFLIGHT",
    toggle,
    "logs at start which kinds are not served or not allowed",
  ),
  "leaderElection.enabled": setting(
    "leader-elect",
    "SETPOINT_LEADER_ELECTION",
    toggle,
    "elects one of several processes by a Lease; only the leader works",
  ),
  "leaderElection.name": setting(
    "leader-election-id",
    "SETPOINT_LEADER_ELECTION_NAME",
    text,
    "the name of the Lease",
    "NAME",
  ),
  "leaderElection.namespace": setting(
    "leader-election-namespace",
    "SETPOINT_LEADER_ELECTION_NAMESPACE",
    text,
    "the namespace of the Lease",
    "NAME",
  ),
  "leaderElection.lease": setting(
    "leader-election-lease-duration",
    "SETPOINT_LEADER_ELECTION_LEASE",
    duration,
    "how long other processes wait for a Lease that is not renewed",
    "DURATION",
  ),
  "leaderElection.renew": setting(
    "leader-election-renew-deadline",
    "SETPOINT_LEADER_ELECTION_RENEW",
    duration,
    "how long a leader leads without a successful renewal",
    "DURATION",
  ),
  "leaderElection.retry": setting(
    "leader-election-retry-period",
    "SETPOINT_LEADER_ELECTION_RETRY",
    duration,
    "the pause between attempts to take or renew the Lease",
    "DURATION",
  ),
  "webhooks.port": setting("webhook-port", "SETPOINT_WEBHOOK_PORT", port, "the port of webhooks and routes", "PORT"),
  "webhooks.url": setting(
    "webhook-url",
    "SETPOINT_WEBHOOK_URL",
    text,
    "the URL at which a remote API server reaches the webhooks",
    "URL",
  ),
  "webhooks.service": setting(
    "webhook-service",
    "SETPOINT_WEBHOOK_SERVICE",
    service,
    "the Service of the webhooks",
    "NAMESPACE/NAME",
  ),
  "webhooks.install": setting(
    "webhook-install",
    "SETPOINT_WEBHOOK_INSTALL",
    toggle,
    "installs the kinds and webhooks of apps",
  ),
} as const;

export type Field = keyof typeof SETTINGS;

/** The given settings by field. */
export type Settings = { readonly [F in Field]?: ReturnType<(typeof SETTINGS)[F]["read"]> };

/** `host:port`, `[::1]:port`, or `:port` for all addresses, IPv6 included; undefined if empty. */
export function parseAddress(text: string | undefined): ListenAddress | undefined {
  if (!text) return undefined;
  const match = /^(?:\[(.+)\]|([^:]*)):(\d+)$/.exec(text);
  if (!match || Number(match[3]) > 65_535) throw new TypeError(`"${text}" is not an address: write host:port`);
  return { host: match[1] ?? match[2] ?? "", port: Number(match[3]) };
}
