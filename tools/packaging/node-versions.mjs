// Binaries of the supported Node versions: from npm's packages node-<platform>-<arch>, once, into the cache.
//
//   node tools/packaging/node-versions.mjs      prints "20.19 /path/to/node", one line for each
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The oldest version that package.json admits, and the newest of each major. Matches docs/versions.md. */
export const supportedVersions = ["20.19", "22", "24"];

const cache = process.env.SETPOINT_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "setpoint");

/** The path of a node binary of this version; downloads it at first use. */
export function nodeBinary(version) {
  const folder = join(cache, `node-${version}`);
  const binary = join(folder, "bin", "node");
  if (existsSync(binary)) return binary;
  const work = `${folder}.${process.pid}`;
  mkdirSync(work, { recursive: true });
  const spec = `node-${process.platform}-${process.arch}@${version}`;
  const packed = JSON.parse(
    execFileSync("npm", ["pack", spec, "--json", "--pack-destination", work], { encoding: "utf8" }),
  );
  execFileSync("tar", ["-xzf", join(work, packed[0].filename), "-C", work, "--strip-components=1", "package/bin/node"]);
  rmSync(join(work, packed[0].filename));
  chmodSync(join(work, "bin", "node"), 0o755);
  rmSync(folder, { recursive: true, force: true });
  renameSync(work, folder);
  return binary;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const version of supportedVersions) console.log(`${version} ${nodeBinary(version)}`);
}
