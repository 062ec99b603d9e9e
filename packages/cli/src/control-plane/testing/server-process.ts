import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../../../setpoint/bin/setpoint.js", import.meta.url));
const BUILD = fileURLToPath(new URL("../../../../setpoint/dist/bin.js", import.meta.url));

/** A control plane in a process of its own, as users run it: from the build. */
export interface ServerProcess extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly kubeconfig: string;
  /** What it has printed so far. */
  readonly output: () => string;
  readonly errors: () => string;
  /** Sends the signal; resolves to the exit code, or to the signal that ended it. */
  stop(signal: NodeJS.Signals): Promise<number | string>;
}

export interface ServerProcessOptions {
  /** Holds the data directory and the kubeconfig. */
  readonly folder: string;
  /** Put before Node: a tracer, a shell with limits. */
  readonly prefix?: readonly string[];
  readonly args?: readonly string[];
}

/** Resolves when it is ready; rejects with what it printed where it ended before. */
export async function startServer({ folder, prefix = [], args = [] }: ServerProcessOptions): Promise<ServerProcess> {
  const kubeconfig = join(folder, "kubeconfig");
  const server = spawnServer(prefix, [
    ...["--data-dir", join(folder, "data"), "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig],
    ...args,
  ]);
  await new Promise<void>((resolve, reject) => {
    server.process.stdout!.on("data", () => {
      if (server.output().includes("\n")) resolve();
    });
    server.process.once("close", (code) => reject(new Error(`ended with ${code}: ${server.errors()}`)));
  });
  return { ...server, kubeconfig };
}

/** Runs `setpoint control-plane` to its end. */
export async function runServer(args: readonly string[]): Promise<{ code: number | string; errors: string }> {
  const server = spawnServer([], args);
  return { code: await server.ended, errors: server.errors() };
}

interface Spawned extends Omit<ServerProcess, "kubeconfig"> {
  /** The exit code, or the signal that ended it, when all that it printed was read. */
  readonly ended: Promise<number | string>;
}

function spawnServer(prefix: readonly string[], args: readonly string[]): Spawned {
  if (!existsSync(BUILD)) throw new Error(`${BUILD} is not there: run npm run build`);
  const [command, ...rest] = [...prefix, process.execPath, BIN, "control-plane", ...args] as [string, ...string[]];
  const child = spawn(command, rest, { stdio: ["ignore", "pipe", "pipe"] });
  let [output, errors] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = new Promise<number | string>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal!));
  });
  const stop = (signal: NodeJS.Signals): Promise<number | string> => {
    child.kill(signal);
    return ended;
  };
  return {
    process: child,
    ended,
    output: () => output,
    errors: () => errors,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop("SIGKILL");
    },
  };
}
