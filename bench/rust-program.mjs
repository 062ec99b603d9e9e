import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Builds the crate in `folder` (a file URL) into the cache, once per state of its sources. Returns the binary's path.
 */
export function buildRustProgram(folder, name) {
  const directory = fileURLToPath(folder);
  const hash = createHash("sha256");
  for (const file of filesIn(directory)) hash.update(readFileSync(file));
  const cache = process.env.SETPOINT_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "setpoint");
  const binary = join(cache, "bench", hash.digest("hex").slice(0, 16), "program");
  if (!existsSync(binary)) {
    mkdirSync(join(binary, ".."), { recursive: true });
    const target = join(cache, "bench", "cargo");
    const env = { ...process.env, CARGO_TARGET_DIR: target };
    execFileSync("cargo", ["build", "--release", "--locked"], { cwd: directory, env, stdio: ["ignore", 2, 2] });
    renameSync(join(target, "release", name), binary);
  }
  return binary;
}

function filesIn(directory) {
  return readdirSync(directory)
    .sort()
    .flatMap((name) => {
      const path = join(directory, name);
      return statSync(path).isDirectory() ? filesIn(path) : [path];
    });
}
