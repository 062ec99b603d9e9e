// A controller that keeps one child for each object, beside controller-runtime doing the same, one after another against one
// real kube-apiserver: how many reconciles a second create and update a child, and how long it takes from an event until its
// reconcile has the object in hand, the server's part included. Every operator is a process with a namespace of its own, and
// works for a while before it is measured: operators run for longer than compilers take. They stand side by side and take
// turns of a few objects, or of one event: what a server takes for one and the same request doubles and halves from second to
// second (it collects garbage), so that longer turns would compare its moods.
//
// The peer that does the same is the one that applies, as ours does: one server-side apply where something differs, under a
// field manager that owns what it states, so that a field no longer stated goes and what others set stays. Beside it stands
// the older way of most operators, CreateOrUpdate. That is another thing: it replaces the object as it was read, and API
// servers take about half the time for it that an apply takes them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connect } from "../../packages/setpoint/dist/index.js";
import { startKubernetes } from "../../tools/kubernetes/start.mjs";
import { buildGoProgram } from "../go-program.mjs";
import { compare, compareRates } from "../report.mjs";
import { createAll, WEBSITE } from "../website-kind.mjs";
import { checkChildren, createWebsites, installWebsites, nameOf } from "./websites.mjs";

const COUNT = Number(process.env.RECONCILE_OBJECTS ?? 100);
/** Single events of each side in a round. A p99 is told by one in a hundred of them all: a few thousand would not do. */
const EVENTS = Number(process.env.RECONCILE_EVENTS ?? 300);
const ROUNDS = Number(process.env.RECONCILE_ROUNDS ?? 40);
/**
 * Of the server, for all sides alike. By default it collects its garbage ten times as often, for which no operator can
 * do anything, and which makes up most of the slowest hundredth of events.
 */
const SERVER_GOGC = process.env.RECONCILE_SERVER_GOGC ?? "1000";
/** Objects of a turn: enough of them that all workers have some. */
const turnOf = (concurrency) => Math.max(10, 5 * concurrency);
/** Between two events whose latency is measured: longer than a reconcile takes, so that none waits for another. */
const PACE_MS = 12;
/** How often all objects are reconciled before anything is measured: some 3,000 runs, after which most of the code is compiled. */
const WARM_UPS = 30;
/**
 * How often an event of every object is followed before those that are measured. The way from an event to its reconcile
 * is none that the other runs take, which are asked for: without this, the first events that an operator ever saw would
 * be compared.
 */
const EVENT_WARM_UPS = 9;
/** Until an operator has read what it is asked. */
const ASKED_MS = 100;
const CONCURRENCIES = [1, 10];
const OURS = "setpoint";
const APPLY = "controller-runtime 0.25.2, Apply";
/** In place of the first of the objects that are to run: none, but each follows its events. */
const NONE = -1;

export async function measure() {
  const go = buildGoProgram(new URL("controller-runtime/", import.meta.url));
  const sides = new Map([
    [OURS, [process.execPath, fileURLToPath(new URL("setpoint.mjs", import.meta.url))]],
    [APPLY, [go, "apply"]],
    ["controller-runtime 0.25.2, CreateOrUpdate", [go, "update"]],
  ]);
  const cluster = await startKubernetes({ env: { GOGC: SERVER_GOGC } });
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  try {
    await installWebsites(client);
    const results = new Map();
    for (const concurrency of CONCURRENCIES) {
      const operators = [];
      for (const [name, command] of sides) {
        const namespace = `side-${operators.length}-${concurrency}`;
        operators.push({ name, operator: await Operator.start(client, cluster, command, namespace, concurrency) });
      }
      for (let round = 0; round < ROUNDS; round++) {
        const first = round % operators.length;
        const turns = [...operators.slice(first), ...operators.slice(0, first)];
        const child = `child-${round}`;
        await writeAll(turns, child, "created", turnOf(concurrency));
        await writeAll(turns, child, "updated", turnOf(concurrency));
        const rates = new Map(operators.map(({ name, operator }) => [name, operator.takeRates()]));
        const latencies = await latenciesOf(turns.filter(followsEvents), child);
        for (const { name } of operators) {
          const at = `${name}, ${concurrency}`;
          const latenciesMs = latencies.get(name) ?? [];
          console.error(`round ${round}, ${at}: ${JSON.stringify({ ...rates.get(name), ...summaryOf(latenciesMs) })}`);
          results.set(at, [...(results.get(at) ?? []), { ...rates.get(name), latenciesMs }]);
        }
      }
      for (const { operator } of operators) await operator.end();
    }
    return rowsOf(results, [...sides.keys()].slice(1));
  } finally {
    await client[Symbol.asyncDispose]();
    await cluster.stop();
  }
}

/** Lets all objects have the child as it should be: a few of the first side, as many of the second, and so on. */
async function writeAll(turns, child, revision, size) {
  for (let first = 0; first < COUNT; first += size) {
    for (const { operator } of turns) await operator.write(child, revision, first, Math.min(size, COUNT - first));
  }
  for (const { operator } of turns) await operator.check(child, (data) => data.revision === revision);
}

/** Both peers are one program up to their writes: how soon it follows an event is asked of one. */
const followsEvents = ({ name }) => name === OURS || name === APPLY;

/** How long after each event its reconcile began, by side: an event of the first, one of the second, and so on. */
async function latenciesOf(turns, child) {
  const answers = turns.map(({ operator }) => operator.expect(child));
  await pause(ASKED_MS);
  for (let event = 0; event < EVENTS; event++) {
    for (const { operator } of turns) {
      await pause(PACE_MS);
      await operator.change(event % COUNT);
    }
  }
  const latencies = new Map();
  for (const [at, { name, operator }] of turns.entries())
    latencies.set(name, await operator.latencies(child, answers[at]));
  return latencies;
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

/** One side at one concurrency, with websites of its own. */
class Operator {
  #client;
  #namespace;
  #serverPids;
  #process;
  #sites;
  #sums = noSums();

  /** Starts it, and lets it work for a while. */
  static async start(client, { kubeconfig, pids }, command, namespace, concurrency) {
    await createWebsites(client, namespace, COUNT);
    const operator = new Operator();
    operator.#client = client;
    operator.#namespace = namespace;
    operator.#serverPids = pids;
    operator.#process = startProcess(kubeconfig, command, [namespace, concurrency]);
    operator.#sites = new Sites(client, namespace);
    for (let at = 0; at < WARM_UPS; at++) await operator.#process.ask(`warm-${at >> 1}`, at, 0, COUNT);
    for (let at = 0; at < EVENT_WARM_UPS; at++) await operator.#warmUpEvents();
    return operator;
  }

  /** Creates or updates the children of some objects. */
  async write(child, revision, first, count) {
    const before = cpuSecondsOf(this.#serverPids);
    const { seconds, cpuSeconds } = await this.#process.ask(child, revision, first, count);
    const sums = this.#sums[revision];
    sums.seconds += seconds;
    sums.cpuSeconds += cpuSeconds;
    sums.serverSeconds += cpuSecondsOf(this.#serverPids) - before;
  }

  /** How it went since this was asked last. */
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

  /** Asks to follow the events that come. */
  expect(child) {
    return this.#process.ask(child, "updated", NONE, EVENTS);
  }

  change(number) {
    return this.#sites.change(number);
  }

  async latencies(child, answer) {
    const { latenciesMs } = await answer;
    await this.check(child, ({ sentAt }, number) => sentAt === this.#sites.sentAt(number));
    return latenciesMs;
  }

  end() {
    return this.#process.end();
  }

  async #warmUpEvents() {
    const answer = this.#process.ask(`warm-${(WARM_UPS - 1) >> 1}`, WARM_UPS - 1, NONE, COUNT);
    await pause(ASKED_MS);
    await createAll(COUNT, 4, (number) => this.#sites.change(number));
    await answer;
  }

  /** That all children are as they should be. */
  check(child, isAsDesired) {
    return checkChildren(this.#client, this.#namespace, child, COUNT, isAsDesired);
  }
}

/** What processes have used so far; Linux counts in hundredths of a second. */
function cpuSecondsOf(pids) {
  const ticks = pids.map((pid) => {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ").slice(11, 13);
    return Number(user) + Number(system);
  });
  return ticks.reduce((sum, each) => sum + each, 0) / 100;
}

/** The websites of a namespace, which are changed one by one. */
class Sites {
  #client;
  #namespace;
  #sentAt = new Map();

  constructor(client, namespace) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** Sends the time at which this is asked for. */
  async change(number) {
    const sentAt = String(performance.timeOrigin + performance.now());
    this.#sentAt.set(number, sentAt);
    const patch = { type: "merge", body: { spec: { sentAt } } };
    await this.#client.patch(WEBSITE, nameOf(number), patch, { namespace: this.#namespace });
  }

  /** What was sent last. */
  sentAt(number) {
    return this.#sentAt.get(number) ?? "";
  }
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

function rowsOf(results, peers) {
  return CONCURRENCIES.flatMap((concurrency) =>
    peers.flatMap((peer) => {
      const rounds = (name, field) => results.get(`${name}, ${concurrency}`).map((result) => result[field]);
      const row = (compared, metric, unit, field) =>
        compared(`${metric}, concurrency ${concurrency}`, unit, rounds(OURS, field), peer, rounds(peer, field));
      // Of the events of all rounds: the third-slowest of a single round would be a matter of luck.
      const latency = (share) => (name) => [percentile(rounds(name, "latenciesMs").flat(), share)];
      const latencies = (metric, of) =>
        compare(`event to reconcile, ${metric}, concurrency ${concurrency}`, "ms", of(OURS), peer, of(peer));
      return [
        ...(peer === APPLY ? [latencies("p50", latency(0.5)), latencies("p99", latency(0.99))] : []),
        row(compareRates, "reconciles that create a child", "1/s", "createsPerSecond"),
        row(compareRates, "reconciles that update a child", "1/s", "updatesPerSecond"),
        row(compare, "CPU time of a reconcile that updates", "ms", "cpuMs"),
        row(compare, "CPU time of the server for it", "ms", "serverCpuMs"),
      ];
    }),
  );
}
