// Syncs an informer of the benchmark's kind once and prints the cost; with `memory`, the retained memory (--expose-gc).
import { connect } from "../../packages/setpoint/dist/index.js";
import { Informers } from "../../packages/setpoint/dist/informer/index.js";
import { WEBSITE } from "../website-kind.mjs";
import { keyOf } from "./websites.mjs";

const count = Number(process.argv[2]);
/** Forced collections would show in CPU time and peak RSS, so retained memory is measured in a separate process. */
const measuresMemory = process.argv[3] === "memory";
const client = await connect();
if (measuresMemory) gc();
const before = process.memoryUsage();

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
if (measuresMemory) gc();
const after = process.memoryUsage();
const result = measuresMemory
  ? { memoryBytes: after.heapUsed + after.external - before.heapUsed - before.external }
  : { seconds, cpuSeconds: (cpu.user + cpu.system) / 1e6, peakRssBytes: maxRSS * 1024 };
console.log(JSON.stringify({ ...result, objects }));
await informers[Symbol.asyncDispose]();
await client[Symbol.asyncDispose]();
