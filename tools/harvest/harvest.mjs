// Asks a real kube-apiserver for everything that can be known of it as data, and writes the control plane's facts.
//
//   node tools/harvest/harvest.mjs [FILE...]
//
// Without names every file of facts is written.
// Starts a server of its own (tools/kubernetes decides which version) and needs Go. For the next Kubernetes version:
// raise the version there, run this, and read the difference.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startKubernetes } from "../kubernetes/start.mjs";
import { apiOf } from "./api.mjs";
import { harvestBootstrap } from "./bootstrap.mjs";
import { harvestColumns } from "./columns.mjs";
import { harvestDiscovery } from "./discovery.mjs";
import { harvestSchemas } from "./schemas.mjs";
import { harvestStrategies } from "./strategies.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const facts = join(here, "../../packages/control-plane/src/facts");

/** One entry per line: compact, and differences between versions are readable. */
function write(name, value) {
  const line = ([key, entry]) => `${JSON.stringify(key)}:${JSON.stringify(entry)}`;
  const text = Array.isArray(value)
    ? `[\n${value.map((entry) => JSON.stringify(entry)).join(",\n")}\n]\n`
    : `{\n${Object.entries(value).map(line).join(",\n")}\n}\n`;
  writeFileSync(join(facts, name), text);
  console.log(`${name}: ${(text.length / 1024).toFixed(0)} kB`);
}

/** The output of a Go program in this folder, run with the modules of the server. */
function goFacts(name, ...args) {
  const output = execFileSync("go", ["run", `../harvest/${name}/main.go`, ...args], {
    cwd: join(here, "../kubernetes"),
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(output);
}

function harvestTypes(discovery) {
  const versions = discovery.groups.flatMap(({ group, versions }) =>
    versions.map(({ version }) => (group === "" ? version : `${group}/${version}`)),
  );
  return goFacts("types", ...versions);
}

async function harvestVersion(api) {
  const { major, minor, gitVersion, emulationMajor, emulationMinor, minCompatibilityMajor, minCompatibilityMinor } =
    await api.get("/version");
  return { major, minor, emulationMajor, emulationMinor, minCompatibilityMajor, minCompatibilityMinor, gitVersion };
}

const cluster = await startKubernetes();
try {
  const api = apiOf(cluster.kubeconfig);
  const discovery = await harvestDiscovery(api);
  const files = new Set(process.argv.slice(2));
  const isWanted = (...names) => files.size === 0 || names.some((name) => files.has(name));
  const schemas = isWanted("schemas.json", "strategies.json") ? await harvestSchemas(api) : undefined;
  if (isWanted("version.json")) write("version.json", await harvestVersion(api));
  if (isWanted("discovery.json")) write("discovery.json", discovery.groups);
  if (isWanted("schemas.json")) write("schemas.json", schemas);
  if (isWanted("columns.json", "column-texts.json")) {
    const { texts, columns } = await harvestColumns(api, discovery);
    write("columns.json", columns);
    write("column-texts.json", texts);
  }
  if (isWanted("bootstrap.json")) write("bootstrap.json", await harvestBootstrap(api, discovery));
  if (isWanted("strategies.json")) write("strategies.json", await harvestStrategies(api, discovery, schemas));
  if (isWanted("kinds.json", "messages.json")) {
    const types = harvestTypes(discovery);
    write("kinds.json", types.kinds);
    write("messages.json", types.messages);
  }
  if (isWanted("structs.json")) write("structs.json", goFacts("structs"));
  api.close();
} finally {
  await cluster.stop();
}
