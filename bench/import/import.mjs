// The cost of `import "setpoint"` for a process beside hono and the official client: time, resident memory and heap.
// Each import runs in its own process, and all of them run in turn in each round.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { installPackages } from "../npm-packages.mjs";
import { compare } from "../report.mjs";

const ROUNDS = 15;
const OURS = "setpoint";
const PEERS = ["hono@4.13.17", "@kubernetes/client-node@1.4.0"];
const METRICS = [
  ["time", "ms", "ms"],
  ["resident memory", "MB", "rssMB"],
  ["heap after GC", "MB", "heapMB"],
];

export async function measure() {
  const folder = installPackages(PEERS);
  const urls = new Map([
    [OURS, new URL("../../packages/setpoint/dist/index.js", import.meta.url).href],
    ...PEERS.map((peer) => [peer, resolvedFrom(folder, peer)]),
  ]);
  const results = new Map([...urls.keys()].map((name) => [name, []]));
  // The first round fills the system's file cache and is not counted.
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, url] of urls) {
      const result = importOnce(url);
      if (round >= 0) results.get(name).push(result);
    }
  }
  return PEERS.flatMap((peer) =>
    METRICS.map(([metric, unit, field]) => {
      const values = (name) => results.get(name).map((result) => result[field]);
      return compare(`import: ${metric}`, unit, values(OURS), peer, values(peer));
    }),
  );
}

/** The file that `import "name"` would load from a folder. */
function resolvedFrom(folder, specifier) {
  const name = specifier.slice(0, specifier.lastIndexOf("@"));
  const script = `console.log(import.meta.resolve(${JSON.stringify(name)}))`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: folder,
    encoding: "utf8",
  });
  return output.trim();
}

function importOnce(url) {
  const child = fileURLToPath(new URL("child.mjs", import.meta.url));
  return JSON.parse(execFileSync(process.execPath, ["--expose-gc", child, url], { encoding: "utf8" }));
}
