import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type ControlPlane, controlPlane, StorageFailure } from "@setpoint/control-plane";
import { type CommandContext, UsageError } from "../command.js";
import { type ListenAddress, parseListenAddress } from "./listen-address.js";

const EXIT_ADDRESS = 3;
const EXIT_DATA = 4;
const DEFAULT_DATA_DIR = ".setpoint/control-plane";

/** Runs a control plane until the signal; resolves to the exit code. */
export async function runControlPlane(context: CommandContext): Promise<number> {
  const { values, stdout, stderr, signal } = context;
  const dataDir = values["data-dir"] as string | undefined;
  if (values.ephemeral && dataDir !== undefined) throw new UsageError("--ephemeral and --data-dir exclude each other");
  const address = parseListenAddress(String(values.listen));
  const historyChanges = parseCount("--history-changes", String(values["history-changes"]));
  let plane: ControlPlane;
  try {
    plane = await controlPlane({
      ...(!values.ephemeral && { dataDir: dataDir ?? DEFAULT_DATA_DIR }),
      listen: address,
      limits: { historyChanges },
      log: (message, error) => stderr(`${message}: ${error instanceof Error ? error.stack : String(error)}`),
    });
  } catch (error) {
    const failure = failureOf(error, address);
    if (!failure) throw error;
    stderr(`setpoint control-plane: ${failure.message}`);
    return failure.exitCode;
  }
  await using _ = plane;
  const kubeconfig = String(values.kubeconfig);
  writeKubeconfig(kubeconfig, plane.kubeconfig!);
  stdout(`setpoint control plane ready at ${plane.url}, KUBECONFIG=${kubeconfig}`);
  await interrupted(signal);
  return 0;
}

function parseCount(option: string, text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new UsageError(`${option} ${text}: expected a number above zero`);
  return count;
}

/** Readable by this user alone from its first byte, and never half there. */
function writeKubeconfig(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** What can be wrong with the machine, in words that name it and the way out. */
function failureOf(error: unknown, { host, port }: ListenAddress): { message: string; exitCode: number } | undefined {
  if (error instanceof StorageFailure) return { message: `${error.message} [${error.code}]`, exitCode: EXIT_DATA };
  switch ((error as NodeJS.ErrnoException).code) {
    case "EADDRINUSE":
      return {
        message: `${host}:${port} is in use; choose another with --listen, such as --listen ${host}:0 for any free port`,
        exitCode: EXIT_ADDRESS,
      };
    case "EACCES":
      return {
        message: `this user may not listen on ${host}:${port}; choose a port above 1023`,
        exitCode: EXIT_ADDRESS,
      };
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return { message: `${host} is not an address of this machine`, exitCode: EXIT_ADDRESS };
    default:
      return undefined;
  }
}
