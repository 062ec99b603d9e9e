// Cold sync of 20,000 custom objects beside controller-runtime (typed) and kube-rs (streamed list, dynamic objects),
// one after another against one real kube-apiserver. Every client is a new process; its whole CPU time counts.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { connect } from "../../packages/setpoint/dist/index.js";
import { startKubernetes } from "../../tools/kubernetes/start.mjs";
import { buildGoProgram } from "../go-program.mjs";
import { compare } from "../report.mjs";
import { buildRustProgram } from "../rust-program.mjs";
import { jsonBytes } from "../website-kind.mjs";
import { createWebsites } from "./websites.mjs";

const COUNT = Number(process.env.COLD_SYNC_OBJECTS ?? 20_000);
const ROUNDS = Number(process.env.COLD_SYNC_ROUNDS ?? 5);
const OURS = "setpoint";
const PROGRAM = fileURLToPath(new URL("setpoint.mjs", import.meta.url));
const CONTROLLER_RUNTIME = "controller-runtime 0.25.2, typed";
const KUBE_RS = "kube-rs 4.2, streaming, DynamicObject";

export async function measure() {
  const commands = new Map([
    [OURS, [process.execPath, PROGRAM]],
    [CONTROLLER_RUNTIME, [buildGoProgram(new URL("controller-runtime/", import.meta.url))]],
    [KUBE_RS, [buildRustProgram(new URL("kube-rs/", import.meta.url), "cold-sync")]],
  ]);
  const cluster = await startKubernetes();
  try {
    const client = await connect({ kubeconfig: cluster.kubeconfig });
    await createWebsites(client, COUNT);
    const bytes = await jsonBytes(client);
    await client[Symbol.asyncDispose]();
    console.error(`${COUNT} objects, ${bytes} bytes of JSON without managedFields`);
    const results = new Map([...commands.keys()].map((name) => [name, []]));
    const kept = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, command] of commands) results.get(name).push(runOnce(name, command, [], cluster.kubeconfig));
      const collecting = [process.execPath, "--expose-gc", PROGRAM];
      kept.push(runOnce(OURS, collecting, ["memory"], cluster.kubeconfig).memoryBytes);
    }
    const memory = compare("cold sync: memory after", "bytes", kept, "JSON without managedFields", [bytes]);
    return [...rowsOf(results), memory];
  } finally {
    await cluster.stop();
  }
}

function runOnce(name, [program, ...args], more, kubeconfig) {
  const env = { ...process.env, KUBECONFIG: kubeconfig, NODE_ENV: "production" };
  const command = [...args, String(COUNT), ...more];
  const output = execFileSync(program, command, { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const result = JSON.parse(output);
  if (result.objects !== COUNT) throw new Error(`${name} has ${result.objects} of ${COUNT} objects`);
  console.error(`${name}: ${[program, ...command].join(" ")} ${output.trim()}`);
  return result;
}

function rowsOf(results) {
  const values = (name, field) => results.get(name).map((result) => result[field]);
  const rows = [];
  for (const peer of [CONTROLLER_RUNTIME, KUBE_RS]) {
    for (const [metric, unit, field] of [
      ["client CPU", "s", "cpuSeconds"],
      ["time to sync", "s", "seconds"],
      ["peak RSS", "bytes", "peakRssBytes"],
    ]) {
      rows.push(compare(`cold sync: ${metric}`, unit, values(OURS, field), peer, values(peer, field)));
    }
  }
  return rows;
}
