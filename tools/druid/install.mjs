// Installs Apache Druid 33 and a Kafka broker from Maven Central into the cache, once; prints the folders of their
// jars.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const cache = process.env.SETPOINT_CACHE ?? join(homedir(), ".cache/setpoint");

/** The folder of the jars; installs them if they are missing. Throws without Maven or network. */
export const druidJars = () => jars("druid", "pom.xml");
export const kafkaJars = () => jars("kafka", "kafka/pom.xml");

function jars(name, path) {
  const pom = fileURLToPath(new URL(path, import.meta.url));
  const version = createHash("sha256").update(readFileSync(pom)).digest("hex").slice(0, 12);
  const folder = join(cache, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  const goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", `-DoutputDirectory=${partial}`];
  execFileSync("mvn", ["-q", "-B", "-f", pom, ...goal], { stdio: ["ignore", "ignore", "inherit"] });
  try {
    renameSync(partial, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(partial, { recursive: true });
  }
  return folder;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log([druidJars(), kafkaJars()].join("\n"));
