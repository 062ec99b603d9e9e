import { connect, run } from "setpoint";
import { type CommandContext, type ReadyMadeOperator, UsageError } from "setpoint/command";
import { type ListenAddress, type PreflightFinding, parseAddress, preflight } from "setpoint/manager";
import { printed } from "../printed.js";
import { managerOptions } from "./command.js";

/** Runs one ready-made operator until the signal; resolves to the exit code. */
export async function runOperator(
  operator: ReadyMadeOperator,
  { values, signal, env, stdout, stderr }: CommandContext,
): Promise<number> {
  const { loops, clusters } = await operator.start(values, env);
  const [kubeconfig, context] = [values.kubeconfig as string | undefined, values.context as string | undefined];
  const cluster = { ...(kubeconfig ? { kubeconfig } : {}), ...(context ? { context } : {}) };
  // For the questions beforehand: the operator connects by itself, so that its requests are counted and their warnings told.
  await using client = await connect({ env, ...cluster });
  const health = address("--health-probe-bind-address", values["health-probe-bind-address"]);
  const metrics = address("--metrics-bind-address", values["metrics-bind-address"]);
  const leaderElection = values["leader-elect"] ? { name: operator.name, namespace: client.namespace } : undefined;
  const needs = { client, clusters: clusters ?? {}, ...(leaderElection ? { leaderElection } : {}) };
  report(operator.name, stderr, await preflight(loops, needs));
  const plan = values.plan === true;
  const running = await printed(values.output, { operator: operator.name, server: client.server, health, metrics });
  if (running !== undefined && !plan) stdout(running);
  if (plan && operator.plan) stdout((await operator.plan(client, values, env)).join("\n"));
  let isAtRest = true;
  await run(loops, {
    name: operator.name,
    connect: cluster,
    env,
    signal,
    preflight: false,
    plan,
    print: (line) => {
      isAtRest = false;
      stdout(line);
    },
    args: Object.keys(managerOptions).flatMap((flag) =>
      values[flag] === undefined ? [] : [`--${flag}=${values[flag]}`],
    ),
    ...(typeof values.config === "string" ? { config: values.config } : {}),
    ...(clusters ? { clusters } : {}),
    ...(health ? { health } : {}),
    ...(metrics ? { metrics } : {}),
    ...(leaderElection ? { leaderElection } : {}),
  });
  if (plan && isAtRest) stderr("setpoint run: nothing to do");
  return 0;
}

/** The operator starts anyway: it picks up what is granted or installed later. */
function report(operator: string, stderr: CommandContext["stderr"], findings: readonly PreflightFinding[]): void {
  for (const { message } of findings) stderr(`setpoint run: ${message}`);
  if (findings.some(({ type }) => type === "permission")) stderr(`Grant what \`setpoint rbac ${operator}\` prints.`);
}

function address(option: string, value: unknown): ListenAddress | undefined {
  if (value === "0" || value === undefined) return undefined;
  try {
    return parseAddress(String(value));
  } catch (cause) {
    throw new UsageError(`${option}: ${(cause as Error).message}`, { cause });
  }
}
