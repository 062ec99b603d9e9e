import { type ControlPlane, ControlPlaneSnapshot, controlPlane, writePrivateFile } from "@setpoint/control-plane";
import { type CommandContext, UsageError } from "setpoint/command";
import { interrupted } from "../interrupted.js";
import { printed } from "../printed.js";
import { parseListenAddress } from "./listen-address.js";
import { logLine } from "./log-line.js";
import { startFailure } from "./start-failure.js";
import { parseWorkloads } from "./workload-option.js";

const DEFAULT_DATA_DIR = ".setpoint/control-plane";

/** Runs a control plane until the signal; resolves to the exit code. */
export async function runControlPlane(context: CommandContext): Promise<number> {
  const { values, stdout, stderr, signal } = context;
  const dataDir = values["data-dir"] as string | undefined;
  if (values.ephemeral && dataDir !== undefined) throw new UsageError("--ephemeral and --data-dir exclude each other");
  const restore = values.restore as string | undefined;
  const address = parseListenAddress(String(values.listen));
  const workloads = parseWorkloads(String(values.workloads));
  const historyChanges = parseCount("--history-changes", String(values["history-changes"]));
  let plane: ControlPlane;
  try {
    plane = await controlPlane({
      ...(!values.ephemeral && { dataDir: dataDir ?? DEFAULT_DATA_DIR }),
      ...(restore !== undefined && { from: await ControlPlaneSnapshot.load(restore) }),
      listen: address,
      limits: { historyChanges },
      workloads,
      log: (message, error) => stderr(logLine(message, error)),
    });
  } catch (error) {
    const failure = startFailure(error, address, "--listen");
    if (!failure) throw error;
    stderr(`setpoint control-plane: ${failure.message}`);
    return failure.exitCode;
  }
  await using _ = plane;
  const kubeconfig = String(values.kubeconfig);
  await writePrivateFile(kubeconfig, plane.kubeconfig!);
  const line = `setpoint control plane ready at ${plane.url}, KUBECONFIG=${kubeconfig}`;
  stdout((await printed(values.output, { url: plane.url, kubeconfig })) ?? line);
  await interrupted(signal);
  if (values.save !== undefined) await plane.snapshot().save(String(values.save));
  return 0;
}

function parseCount(option: string, text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new UsageError(`${option} ${text}: expected a number above zero`);
  return count;
}
