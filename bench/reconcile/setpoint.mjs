// Our operator of the benchmark: setpoint.mjs NAMESPACE CONCURRENCY. Each line of its input, `CHILD REVISION FIRST COUNT`, says
// what the children are to be from now on, runs COUNT objects from number FIRST on and no others (or, where FIRST is -1,
// whatever has an event), and is answered after COUNT writes: how long they took, the CPU time of it, and how long after the
// event of each its reconcile began.
import { createInterface } from "node:readline";
import { connect, controller, Manager } from "../../packages/setpoint/dist/index.js";
import { WEBSITE } from "../website-kind.mjs";
import { CONFIG_MAP } from "./websites.mjs";

const [namespace, concurrency] = process.argv.slice(2);
let phase = {
  child: "",
  revision: "",
  first: 0,
  count: 0,
  left: 0,
  startedMs: 0,
  cpu: process.cpuUsage(),
  latenciesMs: [],
};
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
      start(enqueue, keys) {
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
    const name = `${site.name}-${child}`;
    const before = await ctx.find(CONFIG_MAP, name);
    const data = { image: spec.image, sentAt: spec.sentAt, revision };
    const { metadata } = await ctx.apply(CONFIG_MAP, { metadata: { name }, data });
    if (metadata.resourceVersion !== before?.metadata.resourceVersion) wrote(enteredMs, spec.sentAt);
  },
});

const client = await connect();
const manager = new Manager({ client });
manager.add(websites);
await manager.start();
const runDue = await synced;

for await (const line of createInterface({ input: process.stdin })) {
  const [child, revision, ...numbers] = line.split(" ");
  const [first, count] = numbers.map(Number);
  phase = { child, revision, first, count, left: count, startedMs: nowMs(), cpu: process.cpuUsage(), latenciesMs: [] };
  if (first >= 0) runDue();
}
await manager.stop();
await client[Symbol.asyncDispose]();

/** Whether an object, by its name or key, is one of those that run now. */
function isDue(name) {
  const number = Number(name.slice(-4));
  return phase.child !== "" && (phase.first < 0 || (number >= phase.first && number < phase.first + phase.count));
}

function wrote(enteredMs, sentAt) {
  phase.latenciesMs.push(enteredMs - Number(sentAt));
  if (--phase.left > 0) return;
  const { user, system } = process.cpuUsage(phase.cpu);
  const seconds = (nowMs() - phase.startedMs) / 1000;
  const answer = { seconds, latenciesMs: phase.latenciesMs, cpuSeconds: (user + system) / 1e6 };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

function nowMs() {
  return performance.timeOrigin + performance.now();
}
