// Installs Apache Druid 33 from Maven Central into the cache, once; prints the folder of its jars.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const cache = process.env.SETPOINT_CACHE ?? join(homedir(), ".cache/setpoint");

/** The folder of the jars; installs them where they are missing. Rejects where Maven or the network is. */
export function druidJars() {
  const folder = join(cache, "druid-33.0.0");
  if (existsSync(folder)) return folder;
  const partial = `${folder}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  const pom = fileURLToPath(new URL("pom.xml", import.meta.url));
  const args = [
    "-q",
    "-B",
    "-f",
    pom,
    "dependency:copy-dependencies",
    "-DincludeScope=runtime",
    `-DoutputDirectory=${partial}`,
  ];
  execFileSync("mvn", args, { stdio: ["ignore", "ignore", "inherit"] });
  try {
    renameSync(partial, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(partial, { recursive: true });
  }
  return folder;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(druidJars());
