// Our operator of the benchmark: setpoint.mjs NAMESPACE CONCURRENCY. Each line of its input, `CHILD REVISION WRITES`, says
// what the children are to be from now on, runs all objects where CHILD or REVISION is new, and is answered after that many
// writes: how long they took, and how long after the event of each its reconcile began.
import { createInterface } from "node:readline";
import { connect, controller, Manager } from "../../packages/setpoint/dist/index.js";
import { WEBSITE } from "../website-kind.mjs";
import { CONFIG_MAP } from "./websites.mjs";

const [namespace, concurrency] = process.argv.slice(2);
let desired = { child: "", revision: "" };
let phase = { left: 0, startedMs: 0, latenciesMs: [] };
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
          for (const key of [...keys()]) enqueue(key);
        });
      },
    },
  ],
  async reconcile({ metadata: site, spec }, ctx) {
    const enteredMs = nowMs();
    const { child, revision } = desired;
    if (child === "") return;
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
const runAll = await synced;

for await (const line of createInterface({ input: process.stdin })) {
  const [child, revision, writes] = line.split(" ");
  const isNew = child !== desired.child || revision !== desired.revision;
  desired = { child, revision };
  phase = { left: Number(writes), startedMs: nowMs(), latenciesMs: [] };
  if (isNew) runAll();
}
await manager.stop();
await client[Symbol.asyncDispose]();

function wrote(enteredMs, sentAt) {
  phase.latenciesMs.push(enteredMs - Number(sentAt));
  if (--phase.left > 0) return;
  const { user, system } = process.cpuUsage();
  const seconds = (nowMs() - phase.startedMs) / 1000;
  const answer = { seconds, latenciesMs: phase.latenciesMs, cpuSeconds: (user + system) / 1e6 };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

function nowMs() {
  return performance.timeOrigin + performance.now();
}
