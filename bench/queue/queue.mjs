// The work queue beside client-go's: add every key, then get and finish every key; 100 namespaces. Ours uses priorities
// and fairness between namespaces; theirs is the plain queue. Both run without metrics.
import { execFileSync } from "node:child_process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { systemClock, systemRandom } from "../../packages/setpoint/dist/clock/index.js";
import { WorkQueue } from "../../packages/setpoint/dist/queue/index.js";
import { buildGoProgram } from "../go-program.mjs";
import { compare } from "../report.mjs";

const ROUNDS = 9;
/** For our JIT compiler; the Go program warms its heap with its own round. */
const WARM_UP_ROUNDS = 3;
const PRIORITIES = ["normal", "low", "high"];

// Each round starts with a garbage collection, like theirs: none pays for the garbage of the previous one.
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

export async function measure() {
  const program = buildGoProgram(new URL("client-go/", import.meta.url));
  const rows = [];
  for (const count of [100_000, 1_000]) {
    // Flat strings, like keys from a decoder.
    const keys = Array.from({ length: count }, (_, at) =>
      Buffer.from(`namespace-${at % 100}/website-${at}`).toString("latin1"),
    );
    const [taken, worked, gotten, theirs] = [[], [], [], []];
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      const roundTaken = measureTake(keys);
      const roundWorked = await measureWorker(keys);
      const roundGotten = await measureGet(keys);
      const [, roundTheirs] = JSON.parse(execFileSync(program, [String(count), "2"], { encoding: "utf8" }));
      if (round < 0) continue;
      taken.push(roundTaken);
      worked.push(roundWorked);
      gotten.push(roundGotten);
      theirs.push(roundTheirs);
    }
    const peer = "client-go workqueue 0.36.3";
    rows.push(compare(`queue: add + take + done, ${count} keys`, "us/key", taken, peer, theirs));
    rows.push(compare(`queue: add + get as workers do + done, ${count} keys`, "us/key", worked, peer, theirs));
    rows.push(compare(`queue: add + await get + done, ${count} keys`, "us/key", gotten, peer, theirs));
  }
  return rows;
}

function measureTake(keys) {
  const queue = newQueue();
  collectGarbage();
  const startedMs = performance.now();
  for (let at = 0; at < keys.length; at++) queue.add(keys[at], 1, { priority: PRIORITIES[at % 3] });
  let served = 0;
  for (let item = queue.take(); item; item = queue.take()) {
    queue.done(item);
    served++;
  }
  return microsecondsPerKey(startedMs, served, keys.length);
}

/** The loop of a controller's worker: it waits only when the queue is empty, like theirs. */
async function measureWorker(keys) {
  const queue = newQueue();
  collectGarbage();
  const startedMs = performance.now();
  for (let at = 0; at < keys.length; at++) queue.add(keys[at], 1, { priority: PRIORITIES[at % 3] });
  queue.shutDown();
  let served = 0;
  for (let item = queue.take() ?? (await queue.get()); item; item = queue.take() ?? (await queue.get())) {
    queue.done(item);
    served++;
  }
  return microsecondsPerKey(startedMs, served, keys.length);
}

/** Waits for each key, even if one is queued: one more turn of the microtask queue for each. */
async function measureGet(keys) {
  const queue = newQueue();
  collectGarbage();
  const startedMs = performance.now();
  for (let at = 0; at < keys.length; at++) queue.add(keys[at], 1, { priority: PRIORITIES[at % 3] });
  queue.shutDown();
  let served = 0;
  for (let item = await queue.get(); item; item = await queue.get()) {
    queue.done(item);
    served++;
  }
  return microsecondsPerKey(startedMs, served, keys.length);
}

function newQueue() {
  return new WorkQueue({ clock: systemClock, random: systemRandom, merge: (earlier, later) => earlier + later });
}

function microsecondsPerKey(startedMs, served, count) {
  const elapsedMs = performance.now() - startedMs;
  if (served !== count) throw new Error(`served ${served} of ${count} keys`);
  return (elapsedMs * 1_000) / count;
}
