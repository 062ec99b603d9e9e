import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Builds the Go module in `folder` (a file URL) into the cache, once per state of its sources. Returns the binary's
 * path.
 */
export function buildGoProgram(folder) {
  const directory = fileURLToPath(folder);
  const hash = createHash("sha256");
  for (const file of readdirSync(directory).sort()) hash.update(readFileSync(join(directory, file)));
  const cache = process.env.SETPOINT_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "setpoint");
  const binary = join(cache, "bench", hash.digest("hex").slice(0, 16), "program");
  if (!existsSync(binary)) {
    mkdirSync(join(binary, ".."), { recursive: true });
    execFileSync("go", ["build", "-o", binary, "."], { cwd: directory, stdio: ["ignore", 2, 2] });
  }
  return binary;
}
