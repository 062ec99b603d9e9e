// Reads from an informer beside controller-runtime's typed cache: gets of recently read objects, and lists by label
// selector, by field and by index that match one object in a hundred. Also reports, without a verdict: gets and lists
// that find nothing parsed, and lists of everything. The peer's lists are measured with its default copies and without.
// The verdict compares with the peer's defaults: not slower for recently read objects and for lists that match at most
// 1 % of the objects.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { connect } from "../../packages/setpoint/dist/index.js";
import { startSetpoint } from "../control-plane/targets.mjs";
import { buildGoProgram } from "../go-program.mjs";
import { compare, judged } from "../report.mjs";
import { interleaved } from "../rounds.mjs";
import { jsonBytes } from "../website-kind.mjs";
import { createWebsites } from "./websites.mjs";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const COUNTS = (process.env.CACHE_READS_OBJECTS ?? "200,2000,20000").split(",").map(Number);
const PEER = "controller-runtime 0.25.2 cache, typed";
const UNCOPIED = `${PEER}, UnsafeDisableDeepCopy`;
const OURS = ["--expose-gc", fileURLToPath(new URL("setpoint.mjs", import.meta.url))];

export async function measure() {
  const theirs = buildGoProgram(new URL("controller-runtime/", import.meta.url));
  const rows = [];
  for (const count of COUNTS) rows.push(...(await rowsOf(count, theirs)));
  return rows;
}

async function rowsOf(count, theirs) {
  const server = await startSetpoint();
  try {
    const client = await connect({ kubeconfig: server.kubeconfig });
    await createWebsites(client, count);
    const bytes = await jsonBytes(client);
    await client[Symbol.asyncDispose]();
    const run = (program, args) => () => {
      const env = { ...process.env, KUBECONFIG: server.kubeconfig, NODE_ENV: "production" };
      const command = [...args, String(count)];
      const output = execFileSync(program, command, { env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
      console.error(`${[program, ...command].join(" ")} ${output.trim()}`);
      return JSON.parse(output);
    };
    const [ours, peer] = await interleaved(ROUNDS, [run(process.execPath, OURS), run(theirs, [])]);
    const row = (what, key, theirKey = key, name = PEER) =>
      compare(
        `${count} objects: ${what}`,
        "ns",
        ours.map((each) => each[key]),
        name,
        peer.map((each) => each[theirKey]),
      );
    const memory = (what, key) =>
      compare(
        `${count} objects: ${what}`,
        "bytes",
        ours.map((each) => each[key]),
        "JSON without managedFields",
        [bytes],
      );
    return [
      judged(row("get, read lately", "get"), 1),
      ...["label", "field", "index"].map((by) => judged(row(`list by ${by}, 1 %`, by), 1)),
      ...["label", "field", "index"].map((by) => row(`list by ${by}, 1 %`, by, `${by}, no copies`, UNCOPIED)),
      row("list by label, 1 %, any", "coldLabel", "label"),
      row("get, any", "cold"),
      row("whole list", "whole"),
      row("whole list", "whole", "whole, no copies", UNCOPIED),
      memory("memory after the cold sync", "kept"),
      memory("memory after all these reads", "keptInUse"),
    ];
  } finally {
    await server.stop();
  }
}
