import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const BIN = fileURLToPath(new URL("../../../../setpoint/bin/setpoint.js", import.meta.url));
const BUILD = fileURLToPath(new URL("../../../../setpoint/dist/bin.js", import.meta.url));

/** `setpoint up` in a process of its own, as users run it: from the build. */
export class UpProcess implements AsyncDisposable {
  readonly #process: ChildProcess;
  /** It has ended, and all that it printed was read. */
  readonly #closed: Promise<unknown>;
  #output = "";
  #errors = "";

  /** Begins; see {@link ready}. Everything is kept in `folder`. */
  constructor(folder: string, args: readonly string[] = ["--port", "0"]) {
    if (!existsSync(BUILD)) throw new Error(`${BUILD} is not there: run npm run build`);
    const all = [BIN, "up", "--data-dir", folder, ...args];
    this.#process = spawn(process.execPath, all, { stdio: ["ignore", "pipe", "pipe"] });
    this.#closed = new Promise((resolve) => this.#process.once("close", resolve));
    this.#process.stdout!.on("data", (chunk: Buffer) => {
      this.#output += chunk.toString();
    });
    this.#process.stderr!.on("data", (chunk: Buffer) => {
      this.#errors += chunk.toString();
    });
  }

  get output(): string {
    return this.#output;
  }

  get errors(): string {
    return this.#errors;
  }

  /** Resolves when its screen is there; rejects with what it printed where it ended before. */
  async ready(): Promise<this> {
    while (!this.#output.includes("Ctrl-C stops it.")) {
      const ended = this.#closed.then(() => true);
      const printed = once(this.#process.stdout!, "data").then(() => false);
      if (await Promise.race([ended, printed])) throw new Error(`up ended: ${this.#errors}`);
    }
    return this;
  }

  /** Sends the signal; resolves to the exit code, or to the signal that ended it. */
  async stop(signal: NodeJS.Signals): Promise<number | string> {
    this.#process.kill(signal);
    return this.exit();
  }

  async exit(): Promise<number | string> {
    await this.#closed;
    return this.#process.exitCode ?? this.#process.signalCode!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
  }
}

export function kubeconfigIn(folder: string): string {
  return join(folder, "kubeconfig");
}
