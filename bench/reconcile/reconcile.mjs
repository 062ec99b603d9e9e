// A controller that keeps one child for each object, beside controller-runtime doing the same, one after another against one
// real kube-apiserver: how many reconciles a second create and update a child, and how long an event takes to its reconcile,
// the server's part included. Every operator starts as a new process, in a namespace of its own; rounds are interleaved.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connect } from "../../packages/setpoint/dist/index.js";
import { startKubernetes } from "../../tools/kubernetes/start.mjs";
import { buildGoProgram } from "../go-program.mjs";
import { compare, compareRates } from "../report.mjs";
import { checkChildren, createWebsites, installKind, nameOf, WEBSITE } from "./websites.mjs";

const COUNT = Number(process.env.RECONCILE_OBJECTS ?? 500);
const PACED = Number(process.env.RECONCILE_EVENTS ?? 300);
const ROUNDS = Number(process.env.RECONCILE_ROUNDS ?? 5);
/** Between two events whose latency is measured: longer than a reconcile takes, so that none waits for another. */
const PACE_MS = 15;
const CONCURRENCIES = [1, 10];
const OURS = "setpoint";

export async function measure() {
  const go = buildGoProgram(new URL("controller-runtime/", import.meta.url));
  const sides = new Map([
    [OURS, [process.execPath, fileURLToPath(new URL("setpoint.mjs", import.meta.url))]],
    ["controller-runtime 0.25.2, Apply", [go, "apply"]],
    ["controller-runtime 0.25.2, CreateOrUpdate", [go, "update"]],
  ]);
  const cluster = await startKubernetes();
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  try {
    await installKind(client);
    const results = new Map();
    for (let round = 0; round < ROUNDS; round++) {
      for (const concurrency of CONCURRENCIES) {
        const names = [...sides.keys()];
        // Each side is first in turn.
        for (const name of [...names.slice(round % names.length), ...names.slice(0, round % names.length)]) {
          const at = `${name}, ${concurrency}`;
          const namespace = `round-${round}-${names.indexOf(name)}-${concurrency}`;
          const result = await runOnce(client, cluster.kubeconfig, sides.get(name), namespace, concurrency);
          console.error(`round ${round}, ${at}: ${JSON.stringify(result)}`);
          results.set(at, [...(results.get(at) ?? []), result]);
        }
      }
    }
    return rowsOf(results, [...sides.keys()].slice(1));
  } finally {
    await client[Symbol.asyncDispose]();
    await cluster.stop();
  }
}

/** One operator at one concurrency: creates all children, is started anew, updates them, then follows single events. */
async function runOnce(client, kubeconfig, command, namespace, concurrency) {
  await createWebsites(client, namespace, COUNT);
  const creating = startOperator(kubeconfig, command, [namespace, concurrency, 1, COUNT, 0]);
  const created = await creating.nextLine();
  await creating.ended;
  await checkChildren(client, namespace, COUNT, ({ revision }) => revision === "1");

  const updating = startOperator(kubeconfig, command, [namespace, concurrency, 2, COUNT, PACED]);
  const updated = await updating.nextLine();
  await checkChildren(client, namespace, COUNT, ({ revision }) => revision === "2");
  const sent = await sendEvents(client, namespace);
  const { latenciesMs, cpuSeconds } = await updating.nextLine();
  await updating.ended;
  if (latenciesMs.length !== PACED) throw new Error(`${command}: ${latenciesMs.length} events of ${PACED}`);
  await checkChildren(client, namespace, COUNT, ({ sentAt }, number) => sentAt === (sent.get(number) ?? ""));

  const sorted = latenciesMs.sort((left, right) => left - right);
  const percentile = (share) => sorted[Math.ceil(sorted.length * share) - 1];
  return {
    createsPerSecond: COUNT / created.seconds,
    updatesPerSecond: COUNT / updated.seconds,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
    cpuSeconds,
  };
}

/** Changes objects one by one, each with the time at which that was asked for. Gives these by number. */
async function sendEvents(client, namespace) {
  const sent = new Map();
  for (let event = 0; event < PACED; event++) {
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
    const number = event % COUNT;
    const sentAt = String(performance.timeOrigin + performance.now());
    sent.set(number, sentAt);
    await client.patch(WEBSITE, nameOf(number), { type: "merge", body: { spec: { sentAt } } }, { namespace });
  }
  return sent;
}

function startOperator(kubeconfig, [program, ...first], args) {
  const env = { ...process.env, KUBECONFIG: kubeconfig, NODE_ENV: "production" };
  const child = spawn(program, [...first, ...args.map(String)], { env, stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, "exit").then(([code]) => {
    if (code !== 0) throw new Error(`${program} ended with ${code}`);
  });
  const nextLine = async () => {
    const { value } = await Promise.race([lines.next(), ended.then(() => ({ value: undefined }))]);
    if (value === undefined) throw new Error(`${program} ended early`);
    return JSON.parse(value);
  };
  return { nextLine, ended };
}

function rowsOf(results, peers) {
  return CONCURRENCIES.flatMap((concurrency) =>
    peers.flatMap((peer) => {
      const rounds = (name, field) => results.get(`${name}, ${concurrency}`).map((result) => result[field]);
      const row = (compared, metric, unit, field) =>
        compared(`${metric}, concurrency ${concurrency}`, unit, rounds(OURS, field), peer, rounds(peer, field));
      return [
        row(compare, "event to reconcile, p50", "ms", "p50Ms"),
        row(compare, "event to reconcile, p99", "ms", "p99Ms"),
        row(compareRates, "reconciles that create a child", "1/s", "createsPerSecond"),
        row(compareRates, "reconciles that update a child", "1/s", "updatesPerSecond"),
        row(compare, "CPU time of an update run", "s", "cpuSeconds"),
      ];
    }),
  );
}
