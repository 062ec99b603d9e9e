import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { startOurs } from "../src/targets.js";

/**
 * Runs a client program against its own embedded control plane and returns the lines that it printed: one for each
 * asserted step. Throws with the program's error output if it failed.
 */
export async function stepsOf(command: string, args: readonly string[]): Promise<readonly string[]> {
  await using server = await startOurs();
  const env = { ...process.env, KUBECONFIG: server.kubeconfig };
  return await new Promise((resolve, reject) => {
    execFile(command, args, { env, timeout: 110_000 }, (error, stdout, stderr) => {
      const lines = stdout.split("\n").filter((line) => line !== "");
      if (error === null) resolve(lines);
      else reject(new Error(`failed after "${lines.at(-1)}":\n${stderr}`, { cause: error }));
    });
  });
}

/** A virtual environment with packages (`name==version`) from PyPI, made once, in the cache. Returns its Python. */
export function pythonWith(packages: readonly string[]): string {
  const cache = process.env.SETPOINT_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "setpoint");
  const folder = join(cache, "python", packages.join("+").replaceAll("==", "-"));
  const python = join(folder, "bin", "python");
  if (existsSync(join(folder, "complete"))) return python;
  mkdirSync(folder, { recursive: true });
  execFileSync("python3", ["-m", "venv", folder], { stdio: ["ignore", 2, 2] });
  execFileSync(python, ["-m", "pip", "install", "--quiet", ...packages], { stdio: ["ignore", 2, 2] });
  writeFileSync(join(folder, "complete"), "");
  return python;
}
