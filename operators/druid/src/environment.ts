import { UsageError } from "setpoint/command";

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Reads druid-operator's environment variables, so that the values of its Helm chart still work. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>) {
  const { RECONCILE_WAIT, DENY_LIST, WATCH_NAMESPACE, MAX_CONCURRENT_RECONCILES } = env;
  const namespaces = listOf(WATCH_NAMESPACE);
  const concurrency = Number(MAX_CONCURRENT_RECONCILES);
  return {
    pollInterval: RECONCILE_WAIT ? goDuration("RECONCILE_WAIT", RECONCILE_WAIT) : undefined,
    denied: listOf(DENY_LIST),
    namespaces: namespaces.length > 0 ? namespaces : undefined,
    concurrency: Number.isInteger(concurrency) && concurrency > 0 ? concurrency : undefined,
  };
}

export function listOf(text: string | undefined): readonly string[] {
  return (text ?? "").split(",").flatMap((each) => each.trim() || []);
}

/** Parses a Go duration such as `1m30s` into milliseconds. */
export function goDuration(name: string, text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g)];
  if (text === "" || parts.map(([all]) => all).join("") !== text) {
    throw new UsageError(`${name}: "${text}" is not a duration; write 10s, 1m30s or 500ms`);
  }
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS[unit!]!, 0);
}
