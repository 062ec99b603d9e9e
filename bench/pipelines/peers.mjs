// dbt-duckdb and SQLMesh in a virtual environment in the cache, on the same DuckDB version as ours.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const requirements = fileURLToPath(new URL("requirements.txt", import.meta.url));

/** The folder of the peers' programs; installs them if they are missing. */
export function peerPrograms() {
  const hash = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const cache = process.env.SETPOINT_CACHE ?? join(homedir(), ".cache", "setpoint");
  const folder = join(cache, `pipelines-peers-${hash}`);
  const done = join(folder, "installed");
  if (!existsSync(done)) {
    mkdirSync(cache, { recursive: true });
    execFileSync("python3", ["-m", "venv", "--clear", folder], { stdio: "inherit" });
    execFileSync(join(folder, "bin", "pip"), ["install", "--quiet", "-r", requirements], { stdio: "inherit" });
    writeFileSync(done, "");
  }
  return join(folder, "bin");
}
