// Measures reads from an informer of the benchmark's kind; prints nanoseconds per read, and the retained memory
// (--expose-gc).
import { connect } from "../../packages/setpoint/dist/index.js";
import { Informers } from "../../packages/setpoint/dist/informer/index.js";
import { WEBSITE } from "../website-kind.mjs";
import { nameOf, SHARDS } from "./websites.mjs";

/** The number of objects, and of the hundred values, that are read repeatedly. */
const RECENT = 100;
const VALUES = 10;

const count = Number(process.argv[2]);
const client = await connect();
gc();
const before = process.memoryUsage();
const informers = new Informers(client);
const websites = informers.for(WEBSITE);
await websites.synced();
gc();
const after = process.memoryUsage();
const kept = after.heapUsed + after.external - before.heapUsed - before.external;
websites.addIndex("host", ({ spec }) => spec.hosts.slice(0, 1));

function get(number) {
  const website = websites.get(`default/${nameOf(number)}`);
  if (website?.spec.number !== number) throw new Error(`${number}: ${website?.spec.number}`);
}

/** All of them, as the peer returns them. */
function list(expected, objects) {
  const items = [...objects];
  if (items.length !== expected) throw new Error(`${items.length} objects, not ${expected}`);
}

/** Nanoseconds per call, after a warm-up. */
function measure(call) {
  for (const end = performance.now() + 200; performance.now() < end; ) for (let at = 0; at < VALUES; at++) call(at);
  let calls = 0;
  const startedMs = performance.now();
  while (performance.now() - startedMs < 500) for (let at = 0; at < VALUES; at++) call(calls++);
  return ((performance.now() - startedMs) * 1e6) / calls;
}

const part = count / SHARDS;
const results = {
  label: measure((at) => list(part, websites.list({ labelSelector: `shard=${at % VALUES}` }))),
  field: measure((at) => list(part, websites.list({ fieldSelector: `spec.shard=${at % VALUES}` }))),
  index: measure((at) => list(part, websites.byIndex("host", `site-${at % VALUES}.example.com`))),
  whole: measure(() => list(count, websites.list())),
  get: measure((at) => get(at % RECENT)),
  coldLabel: measure((at) => list(part, websites.list({ labelSelector: `shard=${(at * 37) % SHARDS}` }))),
  cold: measure(() => get(Math.floor(Math.random() * count))),
};
gc();
const used = process.memoryUsage();
const keptInUse = used.heapUsed + used.external - before.heapUsed - before.external;
console.log(JSON.stringify({ ...results, kept, keptInUse, bodies: websites.status().bytes }));
await informers[Symbol.asyncDispose]();
await client[Symbol.asyncDispose]();
