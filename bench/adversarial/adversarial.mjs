// Expensive hostile requests beside a harmless one of equal size, each on a fresh server: processor time, memory, and
// how long /healthz waits meanwhile. BENCH_BYTES sets their size, 2,900,000 by default.
import { Connection, requestBytes } from "../control-plane/loader.mjs";
import { processorSeconds, residentMb, startSetpoint } from "../control-plane/targets.mjs";
import { compare } from "../report.mjs";
import { ATTACKS, harmless } from "./bodies.mjs";

const BYTES = Number(process.env.BENCH_BYTES ?? 2_900_000);
const ONLY = process.env.BENCH_ONLY;
const POLL_MS = 5;

/** Sends one request to a fresh server. */
async function cost(request) {
  const { target, pids, stop } = await startSetpoint();
  const [attacker, prober] = [await Connection.open(target), await Connection.open(target)];
  try {
    const send = (connection, each) => connection.send(requestBytes({ ...each, token: target.token }));
    const health = { method: "GET", path: "/healthz" };
    // Warm-up: until the write code is loaded and compiled.
    for (let round = 0; round < 5; round++) await send(attacker, harmless(50_000));
    const idleMb = residentMb(pids);
    const before = processorSeconds(pids);
    let isOver = false;
    let [longestMs, mostMb] = [0, idleMb];
    const probing = (async () => {
      while (!isOver) {
        const startedMs = performance.now();
        await send(prober, health);
        longestMs = Math.max(longestMs, performance.now() - startedMs);
        mostMb = Math.max(mostMb, residentMb(pids));
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    })();
    const { status } = await send(attacker, request);
    isOver = true;
    await probing;
    return { status, cpuMs: (processorSeconds(pids) - before) * 1000, memoryMb: mostMb - idleMb, waitMs: longestMs };
  } finally {
    attacker.close();
    prober.close();
    await stop();
  }
}

/** @returns {Promise<import("../report.mjs").Row[]>} */
export async function measure() {
  const rows = [];
  for (const [name, attack] of Object.entries(ATTACKS)) {
    if (ONLY && !name.includes(ONLY)) continue;
    const request = attack(BYTES);
    const ours = await cost(request);
    const size = request.body.length;
    const theirs = await cost(harmless(size));
    const peer = `harmless, ${(size / 1e6).toFixed(2)} MB`;
    const row = (metric, unit, value, other) =>
      rows.push(compare(`${name} (${ours.status}): ${metric}`, unit, [value], peer, [other]));
    row("processor", "ms", ours.cpuMs, theirs.cpuMs || 10);
    row("memory", "MB", ours.memoryMb, theirs.memoryMb || 1);
    row("/healthz waits", "ms", ours.waitMs, theirs.waitMs);
  }
  return rows;
}
