import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ControlPlane, controlPlane } from "@setpoint/control-plane";
import { kubernetesBinaries } from "../../tools/kubernetes/start.mjs";
import type { Outcome } from "./both-servers.js";

const here = dirname(fileURLToPath(import.meta.url));

/** An embedded control plane with all workloads, in real time, and a shell whose kubectl and helm talk to it. */
export class LivingPlane implements AsyncDisposable {
  readonly plane: ControlPlane;
  readonly #folder: string;
  readonly #path: string;

  private constructor(plane: ControlPlane, folder: string, path: string) {
    this.plane = plane;
    this.#folder = folder;
    this.#path = path;
  }

  static async start(): Promise<LivingPlane> {
    const helm = execFileSync(join(here, "../../tools/helm/build"), { encoding: "utf8" }).trim();
    const path = [helm, kubernetesBinaries(), process.env.PATH].join(delimiter);
    const folder = mkdtempSync(join(tmpdir(), "setpoint-living-"));
    const plane = await controlPlane({ listen: {}, workloads: true });
    writeFileSync(join(folder, "kubeconfig"), plane.kubeconfig!, { mode: 0o600 });
    return new LivingPlane(plane, folder, path);
  }

  /** Runs a bash line, with the files of this folder (`helm/shop`) available. */
  run(line: string): Promise<Outcome> {
    const env = { PATH: this.#path, HOME: this.#folder, KUBECONFIG: join(this.#folder, "kubeconfig") };
    return new Promise((resolve) => {
      execFile("bash", ["-c", line], { cwd: here, env, timeout: 100_000 }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
        resolve({ code, stdout, stderr });
      });
    });
  }

  /** The output of a line. Throws if it fails. */
  async output(line: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(line);
    if (code !== 0) throw new Error(`${line}: exit code ${code}\n${stdout}${stderr}`);
    return stdout.trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.plane.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
