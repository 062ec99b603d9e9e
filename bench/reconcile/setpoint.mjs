// Our operator of the benchmark: setpoint.mjs NAMESPACE CONCURRENCY REVISION COUNT PACED. Prints how long the first COUNT
// writes took, then how late the reconciles of PACED later events began; ends after that.
import { connect, controller, Manager } from "../../packages/setpoint/dist/index.js";
import { CONFIG_MAP, WEBSITE } from "./websites.mjs";

const [namespace, ...numbers] = process.argv.slice(2);
const [concurrency, revision, count, paced] = numbers.map(Number);
const latenciesMs = [];
let writes = 0;
let startedMs = 0;

const websites = controller(WEBSITE, {
  name: "bench",
  owns: [CONFIG_MAP],
  namespaces: [namespace],
  concurrency,
  async reconcile({ metadata: { name }, spec }, ctx) {
    const enteredMs = nowMs();
    startedMs ||= enteredMs;
    const before = await ctx.find(CONFIG_MAP, name);
    const data = { image: spec.image, sentAt: spec.sentAt, revision: String(revision) };
    const { metadata } = await ctx.apply(CONFIG_MAP, { metadata: { name }, data });
    if (metadata.resourceVersion !== before?.metadata.resourceVersion) wrote(enteredMs, spec.sentAt);
  },
});

const client = await connect();
const manager = new Manager({ client });
manager.add(websites);
await manager.start();

function wrote(enteredMs, sentAt) {
  if (writes >= count) latenciesMs.push(enteredMs - Number(sentAt));
  writes += 1;
  if (writes === count) print({ seconds: (nowMs() - startedMs) / 1000 });
  if (writes === count + paced) void end();
}

async function end() {
  const { user, system } = process.cpuUsage();
  print({ latenciesMs, cpuSeconds: (user + system) / 1e6 });
  await manager.stop();
  await client[Symbol.asyncDispose]();
}

function nowMs() {
  return performance.timeOrigin + performance.now();
}

function print(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
