import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ControlPlane, controlPlane, writePrivateFile } from "@setpoint/control-plane";
import type { Client } from "setpoint";
import { systemClock } from "setpoint/clock";
import { type CommandContext, type ReadyMadeOperator, UsageError } from "setpoint/command";
import { jsonLogger, Manager, textLogger } from "setpoint/manager";
import { logLine } from "../control-plane/log-line.js";
import { startFailure } from "../control-plane/start-failure.js";
import { parseWorkloads } from "../control-plane/workload-option.js";
import { interrupted } from "../interrupted.js";
import { readyMadeOperators } from "../operators.js";
import { printed } from "../printed.js";
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
      log: (message, error) => stderr(logLine(message, error)),
    });
  } catch (error) {
    const failure = startFailure(error, address, "--port");
    if (!failure) throw error;
    stderr(`setpoint up: ${failure.message}`);
    return failure.exitCode;
  }
  await using _plane = plane;
  const kubeconfig = join(dataDir, "kubeconfig");
  await writePrivateFile(kubeconfig, plane.kubeconfig!);
  const level =
    env.SETPOINT_LOG_LEVEL === "debug" || env.SETPOINT_LOG_LEVEL === "info" ? env.SETPOINT_LOG_LEVEL : "warn";
  await using manager = new Manager({
    name: "setpoint-up",
    client: plane.client,
    log: (context.terminal ? textLogger : jsonLogger)({ clock: systemClock, level, write: stderr }),
    metrics: { host: "127.0.0.1", port: 0 },
    grace: 1_000,
  });
  await manager.start();
  const metricsUrl = manager.metricsUrl!;
  const managerFile = join(dataDir, MANAGER_FILE);
  await writePrivateFile(managerFile, JSON.stringify({ url: metricsUrl, pid: process.pid }));
  const running = {
    url: plane.url!,
    kubeconfig: shortest(kubeconfig),
    dataDir: shortest(dataDir),
    metricsUrl,
    operators,
  };
  const names = operators.map(({ name }) => name);
  stdout((await printed(values.output, { ...running, operators: names })) ?? upScreen(running));
  await startOperators(operators, plane.client, manager, context);
  await interrupted(signal);
  rmSync(managerFile, { force: true });
  return 0;
}

/** Operators start after the screen is shown: the API server is ready before their code and CRDs are loaded. */
async function startOperators(
  operators: readonly ReadyMadeOperator[],
  client: Client,
  manager: Manager,
  { env, signal }: CommandContext,
): Promise<void> {
  for (const operator of operators) {
    if (signal.aborted) return;
    await operator.prepare?.(client);
    for (const loop of (await operator.start({}, env)).loops) manager.add(loop);
  }
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
