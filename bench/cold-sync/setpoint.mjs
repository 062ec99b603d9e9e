// Syncs an informer of the benchmark's kind, once, and prints what it cost. Run with --expose-gc.
import { connect, Informers } from "../../packages/setpoint/dist/index.js";
import { keyOf, WEBSITE } from "./websites.mjs";

const count = Number(process.argv[2]);
const client = await connect();

// The measuring itself is not counted.
const beforeGc = process.cpuUsage();
gc();
const before = process.memoryUsage();
const gcCpu = process.cpuUsage(beforeGc);

const startedMs = performance.now();
const informers = new Informers(client);
const websites = informers.for(WEBSITE);
await websites.synced();
const seconds = (performance.now() - startedMs) / 1000;
const cpu = process.cpuUsage();
const { maxRSS } = process.resourceUsage();

const numbers = Array.from({ length: 1000 }, () => Math.floor(Math.random() * count));
for (const number of numbers) {
  const { namespace, name } = keyOf(number);
  const website = websites.get(`${namespace}/${name}`);
  if (website?.spec.number !== number) throw new Error(`${namespace}/${name} has number ${website?.spec.number}`);
}
const { objects } = websites.status();
gc();
const after = process.memoryUsage();
console.log(
  JSON.stringify({
    seconds,
    cpuSeconds: (cpu.user + cpu.system - gcCpu.user - gcCpu.system) / 1e6,
    peakRssBytes: maxRSS * 1024,
    memoryBytes: after.heapUsed + after.external - before.heapUsed - before.external,
    objects,
  }),
);
await informers[Symbol.asyncDispose]();
await client[Symbol.asyncDispose]();
