import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Installs packages (`name@version`) from the registry into the cache, once. Returns the folder to resolve them from.
 */
export function installPackages(specifiers) {
  const cache = process.env.SETPOINT_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "setpoint");
  const folder = join(cache, "bench", "npm", specifiers.join("+").replaceAll(/[@/]+/g, "-"));
  if (existsSync(join(folder, "complete"))) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", ...specifiers];
  execFileSync("npm", args, { cwd: folder, stdio: ["ignore", 2, 2] });
  writeFileSync(join(folder, "complete"), "");
  return folder;
}
