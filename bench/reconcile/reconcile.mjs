// A controller that keeps one child per object, beside controller-runtime doing the same, against one real
// kube-apiserver: the rate of reconciles that create and update a child, and the time from an event until its reconcile
// has the object, including the server's part. Every operator is a process, and is warmed up before it is measured,
// because real operators run for longer than compilation takes.
//
// The server's time for one and the same request doubles and halves from second to second. So the operators run side by
// side, each in its own namespace, and take turns of a few objects, or of one event: longer turns would compare phases
// of the server. One event for all would be no better: both would compete for the processors.
//
// The equivalent peer is the one that applies, like ours: one server-side apply if something differs, under a field
// manager that owns what it states, so that fields that are no longer stated are removed and fields of others stay.
// Beside it is the older way of most operators, CreateOrUpdate. That is not equivalent: it replaces the object as it
// was read, which takes API servers about half the time of an apply.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connect } from "../../packages/setpoint/dist/index.js";
import { startKubernetes } from "../../tools/kubernetes/start.mjs";
import { buildGoProgram } from "../go-program.mjs";
import { compare, compareRates } from "../report.mjs";
import { WEBSITE } from "../website-kind.mjs";
import { checkChildren, createWebsites, installWebsites, nameOf } from "./websites.mjs";

const COUNT = Number(process.env.RECONCILE_OBJECTS ?? 100);
const ROUNDS = Number(process.env.RECONCILE_ROUNDS ?? 30);
/** Events per side. One in a hundred determines the p99: a few thousand would not suffice. */
const EVENTS = Number(process.env.RECONCILE_EVENTS ?? 36_000);
/**
 * GOGC of the server, the same for all sides. By default it collects garbage ten times as often, which no operator can
 * influence, and which causes most of the slowest hundredth of events.
 */
const SERVER_GOGC = process.env.RECONCILE_SERVER_GOGC ?? "1000";
/** The server's data folder, for the same reason: in memory, if the system has such a folder. */
const SERVER_FOLDERS = ["/dev/shm", tmpdir()];
/** Objects per turn: enough to keep all workers busy. */
const turnOf = (concurrency) => Math.max(10, 5 * concurrency);
/** Between two events: longer than a reconcile without a write, so that none waits for another. */
const PACE_MS = 2;
/**
 * How often all objects are reconciled before the measurement: some 3,000 runs, after which most of the code is
 * compiled.
 */
const WARM_UPS = 30;
/**
 * Events before the measured ones. The other runs are requested and do not take the path from an event to its
 * reconcile: without this warm-up, the first events that an operator ever saw would be compared.
 */
const EVENT_WARM_UPS = 1_000;
/** Time for an operator to read its command. */
const ASKED_MS = 100;
const CONCURRENCIES = [1, 10];
const OURS = "setpoint";
const APPLY = "controller-runtime 0.25.2, Apply";
const UPDATE = "controller-runtime 0.25.2, CreateOrUpdate";
/** Both peers are the same program up to their writes, so only one is measured for following events. */
const FOLLOWERS = [OURS, APPLY];

export async function measure() {
  const go = buildGoProgram(new URL("controller-runtime/", import.meta.url));
  const commands = new Map([
    [OURS, [process.execPath, fileURLToPath(new URL("setpoint.mjs", import.meta.url))]],
    [APPLY, [go, "apply"]],
    [UPDATE, [go, "update"]],
  ]);
  const dir = mkdtempSync(join(SERVER_FOLDERS.find(existsSync), "setpoint-reconcile-"));
  const cluster = await startKubernetes({ dir, env: { GOGC: SERVER_GOGC } });
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  try {
    await installWebsites(client);
    const start = (name, namespace, concurrency) =>
      Operator.start(name, commands.get(name), { client, cluster, namespace, concurrency });
    const rows = [];
    for (const concurrency of CONCURRENCIES) {
      const latencies = await latenciesOf(client, concurrency, start);
      const rates = await ratesOf(client, concurrency, [...commands.keys()], start);
      rows.push(...latencyRows(concurrency, latencies), ...rateRows(concurrency, rates));
    }
    return rows;
  } finally {
    await client[Symbol.asyncDispose]();
    await cluster.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The delay from each event until its reconcile had the object, by side. */
async function latenciesOf(client, concurrency, start) {
  const sides = [];
  for (const name of FOLLOWERS) {
    const namespace = `events-${concurrency}-${sides.length}`;
    await createWebsites(client, namespace, COUNT);
    sides.push({ namespace, operator: await start(name, namespace, concurrency) });
  }
  await follow(client, sides, EVENT_WARM_UPS);
  const latencies = await follow(client, sides, EVENTS);
  for (const { operator } of sides) await operator.end();
  for (const [name, latenciesMs] of latencies)
    console.error(`events, ${name}, ${concurrency}: ${JSON.stringify(summaryOf(latenciesMs))}`);
  return latencies;
}

/** One event of the first side, one of the second, and so on; the order alternates. */
async function follow(client, sides, events) {
  const answers = sides.map(({ operator }) => operator.follow(events));
  await pause(ASKED_MS);
  for (let event = 0; event < events; event++) {
    for (const { namespace } of event % 2 ? sides.toReversed() : sides) {
      await pause(PACE_MS);
      await sendEvent(client, namespace, event % COUNT);
    }
  }
  const latencies = new Map();
  for (const [at, { operator }] of sides.entries()) latencies.set(operator.name, (await answers[at]).latenciesMs);
  return latencies;
}

/** Changes a website and records the time in it. */
async function sendEvent(client, namespace, number) {
  const sentAt = String(performance.timeOrigin + performance.now());
  const patch = { type: "merge", body: { spec: { sentAt } } };
  await client.patch(WEBSITE, nameOf(number), patch, { namespace });
}

/** The results of each round of writes, by side. */
async function ratesOf(client, concurrency, names, start) {
  const operators = [];
  for (const name of names) {
    const namespace = `writes-${concurrency}-${operators.length}`;
    await createWebsites(client, namespace, COUNT);
    operators.push(await start(name, namespace, concurrency));
  }
  const rates = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    const first = round % operators.length;
    const turns = [...operators.slice(first), ...operators.slice(0, first)];
    await writeAll(turns, `child-${round}`, "created", turnOf(concurrency));
    await writeAll(turns, `child-${round}`, "updated", turnOf(concurrency));
    for (const operator of operators) {
      const taken = operator.takeRates();
      console.error(`round ${round}, ${operator.name}, ${concurrency}: ${JSON.stringify(taken)}`);
      rates.get(operator.name).push(taken);
    }
  }
  for (const operator of operators) await operator.end();
  return rates;
}

/** Reconciles all children: a few of the first side, as many of the second, and so on. */
async function writeAll(operators, child, revision, size) {
  for (let first = 0; first < COUNT; first += size) {
    for (const operator of operators) await operator.write(child, revision, first, Math.min(size, COUNT - first));
  }
  for (const operator of operators) await operator.check(child, revision);
}

function percentile(values, share) {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.ceil(sorted.length * share) - 1];
}

const summaryOf = (latenciesMs) => ({ p50Ms: percentile(latenciesMs, 0.5), p99Ms: percentile(latenciesMs, 0.99) });

const noSums = () => ({
  created: { seconds: 0, cpuSeconds: 0, serverSeconds: 0 },
  updated: { seconds: 0, cpuSeconds: 0, serverSeconds: 0 },
});

/** One side at one concurrency. */
class Operator {
  #client;
  #namespace;
  #serverPids;
  #process;
  #sums = noSums();

  /** Starts it in a namespace with websites, and warms it up. */
  static async start(name, command, { client, cluster, namespace, concurrency }) {
    const operator = new Operator(name);
    operator.#client = client;
    operator.#namespace = namespace;
    operator.#serverPids = cluster.pids;
    operator.#process = startProcess(cluster.kubeconfig, command, [namespace, concurrency]);
    for (let at = 0; at < WARM_UPS; at++) await operator.#process.ask("write", `warm-${at >> 1}`, at, 0, COUNT);
    return operator;
  }

  constructor(name) {
    this.name = name;
  }

  /** Creates or updates the children of some objects. */
  async write(child, revision, first, count) {
    const before = cpuSecondsOf(this.#serverPids);
    const { seconds, cpuSeconds } = await this.#process.ask("write", child, revision, first, count);
    const sums = this.#sums[revision];
    sums.seconds += seconds;
    sums.cpuSeconds += cpuSeconds;
    sums.serverSeconds += cpuSecondsOf(this.#serverPids) - before;
  }

  /** The results since the last call. */
  takeRates() {
    const { created, updated } = this.#sums;
    this.#sums = noSums();
    return {
      createsPerSecond: COUNT / created.seconds,
      updatesPerSecond: COUNT / updated.seconds,
      cpuMs: (updated.cpuSeconds / COUNT) * 1000,
      serverCpuMs: (updated.serverSeconds / COUNT) * 1000,
    };
  }

  /** Resolves after so many events. */
  follow(events) {
    return this.#process.ask("follow", events);
  }

  /** Checks that all children are as desired. */
  check(child, revision) {
    return checkChildren(this.#client, this.#namespace, child, COUNT, (data) => data.revision === revision);
  }

  end() {
    return this.#process.end();
  }
}

/** The processor time of processes so far; Linux counts in hundredths of a second. */
function cpuSecondsOf(pids) {
  const ticks = pids.map((pid) => {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ").slice(11, 13);
    return Number(user) + Number(system);
  });
  return ticks.reduce((sum, each) => sum + each, 0) / 100;
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function startProcess(kubeconfig, [program, ...first], args) {
  const env = { ...process.env, KUBECONFIG: kubeconfig, NODE_ENV: "production" };
  const child = spawn(program, [...first, ...args.map(String)], { env, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, "exit");
  return {
    async ask(...words) {
      child.stdin.write(`${words.join(" ")}\n`);
      const { value } = await Promise.race([lines.next(), exited.then(() => ({ value: undefined }))]);
      if (value === undefined) throw new Error(`${program} ended early`);
      return JSON.parse(value);
    },
    async end() {
      child.stdin.end();
      const [code] = await exited;
      if (code !== 0) throw new Error(`${program} ended with ${code}`);
    },
  };
}

function latencyRows(concurrency, latencies) {
  return Object.entries({ p50: 0.5, p99: 0.99 }).map(([metric, share]) => {
    const [ours, theirs] = FOLLOWERS.map((name) => [percentile(latencies.get(name), share)]);
    return compare(`event to reconcile, ${metric}, concurrency ${concurrency}`, "ms", ours, APPLY, theirs);
  });
}

function rateRows(concurrency, rates) {
  return [APPLY, UPDATE].flatMap((peer) => {
    const rounds = (name, field) => rates.get(name).map((rate) => rate[field]);
    const row = (compared, metric, unit, field) =>
      compared(`${metric}, concurrency ${concurrency}`, unit, rounds(OURS, field), peer, rounds(peer, field));
    return [
      row(compareRates, "reconciles that create a child", "1/s", "createsPerSecond"),
      row(compareRates, "reconciles that update a child", "1/s", "updatesPerSecond"),
      row(compare, "CPU time of a reconcile that updates", "ms", "cpuMs"),
      row(compare, "CPU time of the server for it", "ms", "serverCpuMs"),
    ];
  });
}
