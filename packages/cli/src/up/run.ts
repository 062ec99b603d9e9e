import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ControlPlane, controlPlane } from "@setpoint/control-plane";
import { jsonLogger, Manager, systemClock } from "setpoint";
import { type CommandContext, UsageError } from "../command.js";
import { startFailure } from "../control-plane/start-failure.js";
import { parseWorkloads } from "../control-plane/workload-option.js";
import { interrupted } from "../interrupted.js";
import { type ReadyMadeOperator, readyMadeOperators } from "../operators/ready-made.js";
import { printed } from "../printed.js";
import { writePrivateFile } from "../private-file.js";
import { MANAGER_FILE } from "./manager-file.js";
import { upScreen } from "./screen.js";

/** Runs control plane and operators until the signal; resolves to the exit code. */
export async function runUp(context: CommandContext): Promise<number> {
  const { values, stdout, stderr, signal, env } = context;
  const operators = chosen(values.operators as string | undefined);
  const dataDir = resolve(String(values["data-dir"]));
  const address = { host: "127.0.0.1", port: parsePort(String(values.port)) };
  const workloads = parseWorkloads(String(values.workloads));
  let plane: ControlPlane;
  try {
    plane = await controlPlane({
      dataDir: join(dataDir, "control-plane"),
      listen: address,
      workloads,
      log: (message, error) => stderr(`${message}: ${error instanceof Error ? error.stack : String(error)}`),
    });
  } catch (error) {
    const failure = startFailure(error, address, "--port");
    if (!failure) throw error;
    stderr(`setpoint up: ${failure.message}`);
    return failure.exitCode;
  }
  await using _plane = plane;
  const kubeconfig = join(dataDir, "kubeconfig");
  writePrivateFile(kubeconfig, plane.kubeconfig!);
  const level =
    env.SETPOINT_LOG_LEVEL === "debug" || env.SETPOINT_LOG_LEVEL === "info" ? env.SETPOINT_LOG_LEVEL : "warn";
  await using manager = new Manager({
    name: "setpoint-up",
    client: plane.client,
    log: jsonLogger({ clock: systemClock, level, write: stderr }),
    metrics: { host: "127.0.0.1", port: 0 },
    graceMs: 1_000,
  });
  for (const operator of operators) {
    await operator.prepare?.(plane.client);
    for (const workload of (await operator.start({})).workloads) manager.add(workload);
  }
  await manager.start();
  const metricsUrl = manager.metricsUrl!;
  const managerFile = join(dataDir, MANAGER_FILE);
  writePrivateFile(managerFile, JSON.stringify({ url: metricsUrl, pid: process.pid }));
  const running = {
    url: plane.url!,
    kubeconfig: shortest(kubeconfig),
    dataDir: shortest(dataDir),
    metricsUrl,
    operators,
  };
  const names = operators.map(({ name }) => name);
  stdout((await printed(values.output, { ...running, operators: names })) ?? upScreen(running));
  await interrupted(signal);
  rmSync(managerFile, { force: true });
  return 0;
}

function chosen(names: string | undefined): readonly ReadyMadeOperator[] {
  if (names === undefined) return readyMadeOperators;
  return names.split(",").map((name) => {
    const operator = readyMadeOperators.find((each) => each.name === name.trim());
    if (operator) return operator;
    throw new UsageError(`--operators ${name}: there are ${readyMadeOperators.map((each) => each.name).join(", ")}`);
  });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535 || text === "")
    throw new UsageError(`--port ${text}: expected a number from 0 to 65535`);
  return port;
}

/** Relative where that is shorter, so that it is good to paste. */
function shortest(path: string): string {
  const relative = path.startsWith(`${process.cwd()}/`) ? path.slice(process.cwd().length + 1) : path;
  return relative;
}
