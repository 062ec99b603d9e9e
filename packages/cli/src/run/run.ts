import { connect, isSetpointError, type ListenAddress, parseAddress, run } from "setpoint";
import { type CommandContext, UsageError } from "../command.js";
import { readyMadeOperators } from "../operators/ready-made.js";
import { printed } from "../printed.js";
import { missingPermissions } from "./preflight.js";

/** Runs one ready-made operator until the signal; resolves to the exit code. */
export async function runOperator({
  values,
  positionals,
  signal,
  env,
  stdout,
  stderr,
}: CommandContext): Promise<number> {
  const [name, ...rest] = positionals;
  const operator = readyMadeOperators.find((each) => each.name === name);
  if (!operator || rest.length > 0)
    throw new UsageError(`which operator? There are ${readyMadeOperators.map((each) => each.name).join(", ")}`);
  const { workloads, clusters } = await operator.start(values);
  const [kubeconfig, context] = [values.kubeconfig as string | undefined, values.context as string | undefined];
  await using client = await connect({ env, ...(kubeconfig ? { kubeconfig } : {}), ...(context ? { context } : {}) });
  const health = address("--health-probe-bind-address", values["health-probe-bind-address"]);
  const metrics = address("--metrics-bind-address", values["metrics-bind-address"]);
  const leaderElection = values["leader-elect"] ? { name: operator.name, namespace: client.namespace } : undefined;
  await reportPermissions(operator.name, stderr, () =>
    missingPermissions(workloads, { client, clusters: clusters ?? {}, ...(leaderElection ? { leaderElection } : {}) }),
  );
  const running = await printed(values.output, { operator: operator.name, server: client.server, health, metrics });
  if (running !== undefined) stdout(running);
  await run(workloads, {
    name: operator.name,
    client,
    env,
    signal,
    ...(clusters ? { clusters } : {}),
    ...(health ? { health } : {}),
    ...(metrics ? { metrics } : {}),
    ...(leaderElection ? { leaderElection } : {}),
  });
  return 0;
}

/** The operator starts all the same: what is granted, or comes up, later is picked up. */
async function reportPermissions(
  operator: string,
  stderr: CommandContext["stderr"],
  check: () => Promise<readonly string[]>,
): Promise<void> {
  try {
    const missing = await check();
    for (const permission of missing) stderr(`setpoint run: this account may not ${permission}`);
    if (missing.length > 0) stderr(`Grant what \`setpoint rbac ${operator}\` prints.`);
  } catch (error) {
    if (!isSetpointError(error)) throw error;
    stderr(`setpoint run: permissions could not be checked: ${error.message} [${error.code}]`);
  }
}

function address(option: string, value: unknown): ListenAddress | undefined {
  if (value === "0" || value === undefined) return undefined;
  try {
    return parseAddress(String(value));
  } catch (cause) {
    throw new UsageError(`${option}: ${(cause as Error).message}`, { cause });
  }
}
