// Our operator of the benchmark: setpoint.mjs NAMESPACE CONCURRENCY. Each line of its input begins a phase:
//
//   write CHILD REVISION FIRST COUNT   the children are to be so from now on; COUNT objects from number FIRST on run, and no
//                                      others. Answered after as many writes: how long they took, and the CPU time of it.
//   follow COUNT                       nothing is to be written; whatever has an event runs. Answered after COUNT events:
//                                      how long after each was sent a reconcile had its object in hand.
import { createInterface } from "node:readline";
import { connect, controller } from "../../packages/setpoint/dist/index.js";
import { Manager } from "../../packages/setpoint/dist/manager/index.js";
import { WEBSITE } from "../website-kind.mjs";
import { CONFIG_MAP } from "./websites.mjs";

const [namespace, concurrency] = process.argv.slice(2);
let phase = { isWriting: false, child: "" };
/** The last value of each object, by name: an event is followed by the first run that sees it. */
const seen = new Map();
let markSynced;
const synced = new Promise((resolve) => {
  markSynced = resolve;
});

const websites = controller(WEBSITE, {
  name: "bench",
  owns: [CONFIG_MAP],
  namespaces: [namespace],
  concurrency: Number(concurrency),
  triggers: [
    {
      name: "phase",
      start({ enqueue, keys }) {
        markSynced(() => {
          for (const key of [...keys()]) if (isDue(key)) enqueue(key);
        });
      },
    },
  ],
  async reconcile({ metadata: site, spec }, ctx) {
    const enteredMs = nowMs();
    const { child, revision } = phase;
    if (!isDue(site.name)) return;
    if (seen.get(site.name) !== spec.sentAt) follow(site.name, spec.sentAt, enteredMs);
    const name = `${site.name}-${child}`;
    const before = await ctx.find(CONFIG_MAP, name);
    const { metadata } = await ctx.apply(CONFIG_MAP, { metadata: { name }, data: { image: spec.image, revision } });
    if (metadata.resourceVersion !== before?.metadata.resourceVersion) wrote();
  },
});

const client = await connect();
const manager = new Manager({ client });
manager.add(websites);
await manager.start();
const runDue = await synced;

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, ...words] = line.split(" ");
  begin(verb, words);
}
await manager.stop();
await client[Symbol.asyncDispose]();

function begin(verb, words) {
  if (verb === "follow") {
    const { child, revision } = phase;
    phase = { isWriting: false, child, revision, left: Number(words[0]), latenciesMs: [] };
    return;
  }
  const [child, revision, ...numbers] = words;
  const [first, count] = numbers.map(Number);
  const start = { startedMs: nowMs(), cpu: process.cpuUsage() };
  phase = { isWriting: true, child, revision, first, count, left: count, ...start };
  runDue();
}

/** Whether an object, by name or key, is in the current turn. */
function isDue(name) {
  if (!phase.isWriting) return phase.child !== "";
  const number = Number(name.slice(-4));
  return number >= phase.first && number < phase.first + phase.count;
}

function follow(name, sentAt, enteredMs) {
  seen.set(name, sentAt);
  if (phase.isWriting) return;
  phase.latenciesMs.push(enteredMs - Number(sentAt));
  if (--phase.left === 0) answer({ latenciesMs: phase.latenciesMs });
}

function wrote() {
  if (!phase.isWriting || --phase.left > 0) return;
  const { user, system } = process.cpuUsage(phase.cpu);
  answer({ seconds: (nowMs() - phase.startedMs) / 1000, cpuSeconds: (user + system) / 1e6 });
}

function answer(result) {
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

function nowMs() {
  return performance.timeOrigin + performance.now();
}
