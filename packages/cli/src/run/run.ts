import { connect, type ListenAddress, parseAddress, run } from "setpoint";
import { type CommandContext, UsageError } from "../command.js";
import { readyMadeOperators } from "../operators/ready-made.js";

/** Runs one ready-made operator until the signal; resolves to the exit code. */
export async function runOperator({ values, positionals, signal, env }: CommandContext): Promise<number> {
  const [name, ...rest] = positionals;
  const operator = readyMadeOperators.find((each) => each.name === name);
  if (!operator || rest.length > 0)
    throw new UsageError(`which operator? There are ${readyMadeOperators.map((each) => each.name).join(", ")}`);
  const { workloads, clusters } = await operator.start(values);
  const [kubeconfig, context] = [values.kubeconfig as string | undefined, values.context as string | undefined];
  await using client = await connect({ env, ...(kubeconfig ? { kubeconfig } : {}), ...(context ? { context } : {}) });
  const health = address("--health-probe-bind-address", values["health-probe-bind-address"]);
  const metrics = address("--metrics-bind-address", values["metrics-bind-address"]);
  await run(workloads, {
    name: operator.name,
    client,
    env,
    signal,
    ...(clusters ? { clusters } : {}),
    ...(health ? { health } : {}),
    ...(metrics ? { metrics } : {}),
    ...(values["leader-elect"] ? { leaderElection: {} } : {}),
  });
  return 0;
}

function address(option: string, value: unknown): ListenAddress | undefined {
  if (value === "0" || value === undefined) return undefined;
  try {
    return parseAddress(String(value));
  } catch (cause) {
    throw new UsageError(`${option}: ${(cause as Error).message}`, { cause });
  }
}
