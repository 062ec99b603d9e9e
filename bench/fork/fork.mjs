// The time and memory of forking a control plane with 20,000 objects, beside creating the same objects again, as a test
// without forks would; each until a first list is answered, in one process, in memory; medians.
import { controlPlane } from "@setpoint/control-plane";
import { ConfigMap } from "setpoint/kinds/v1";
import { compare } from "../report.mjs";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const OBJECTS = 20_000;
const PEER = "the same objects created anew";

const configMap = (index) => ({
  metadata: { name: `object-${String(index).padStart(6, "0")}`, namespace: "default", labels: { app: "bench" } },
  data: Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`key-${at}`, "x".repeat(60)])),
});

async function filled() {
  const plane = await controlPlane();
  for (let at = 0; at < OBJECTS; at++) await plane.client.create(ConfigMap, configMap(at));
  return plane;
}

/** Milliseconds and megabytes until a plane has listed its first objects. */
async function measured(start) {
  globalThis.gc?.();
  const before = process.memoryUsage();
  const startedMs = performance.now();
  const plane = await start();
  const { items } = await plane.client.list(ConfigMap, { namespace: "default", limit: 10 });
  const tookMs = performance.now() - startedMs;
  if (items.length !== 10) throw new Error("the objects are not there");
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return { plane, tookMs, memoryMb: (heapUsed + external - before.heapUsed - before.external) / 2 ** 20 };
}

export async function measure() {
  // Exposes gc, so that memory is measured without garbage.
  const { setFlagsFromString } = await import("node:v8");
  const { runInNewContext } = await import("node:vm");
  setFlagsFromString("--expose-gc");
  globalThis.gc = runInNewContext("gc");
  const [forks, anew] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    const made = await measured(filled);
    anew.push(made);
    const forked = await measured(() => made.plane.fork());
    forks.push(forked);
    await forked.plane.stop();
    await made.plane.stop();
    delete made.plane;
    delete forked.plane;
  }
  const row = (metric, unit, key) =>
    compare(
      `fork of 20,000 objects: ${metric}`,
      unit,
      forks.map((each) => each[key]),
      PEER,
      anew.map((each) => each[key]),
    );
  return [row("until a first list", "ms", "tookMs"), row("memory", "MB", "memoryMb")];
}
