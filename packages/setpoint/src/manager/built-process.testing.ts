import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const packageFolder = fileURLToPath(new URL("../..", import.meta.url));

/** A script in its own process, on the build: one that can be suspended, continued and killed. */
export class BuiltProcess implements AsyncDisposable {
  readonly process: ChildProcess;
  /** The exit code, once all output is read. */
  readonly ended: Promise<number | null>;
  readonly #folder = mkdtempSync(join(tmpdir(), "setpoint-process-"));
  output = "";

  constructor(script: string, kubeconfig: string, env: NodeJS.ProcessEnv = {}) {
    const file = join(this.#folder, "kubeconfig");
    writeFileSync(file, kubeconfig, { mode: 0o600 });
    this.process = spawn(process.execPath, ["--input-type=module", "-e", script], {
      cwd: packageFolder,
      env: { ...process.env, ...env, KUBECONFIG: file },
    });
    for (const stream of [this.process.stdout, this.process.stderr])
      stream?.on("data", (chunk) => {
        this.output += String(chunk);
      });
    this.ended = new Promise((resolve) => this.process.once("close", resolve));
  }

  /** Throws its output if it has ended. */
  assertRunning(): void {
    if (this.process.exitCode !== null) throw new Error(this.output);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill("SIGKILL");
    await this.ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
