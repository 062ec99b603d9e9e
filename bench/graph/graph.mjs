// The cost of graphs of 10, 1,000 and 100,000 resources, as a chain, a fan-out and a lattice: reducer operations,
// microseconds of processor time and bytes per node or edge, relative to 10 nodes; and a cold start of 100,000
// resources from SQLite, beside creating them again. Every graph is checked: the number of runs, and that it is at
// rest. Medians.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteGraphStore } from "@setpoint/sqlite/graph-store";
import { graphKind, openGraph } from "setpoint/graph";
import { compare, median } from "../report.mjs";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
/** How often the last node is edited. */
const EDITS = 25;
const SIZES = [10, 1_000, 100_000];
const WIDTH = 3;

/**
 * The indexes that the node at an index refers to. A lattice has rows of three; each node refers to two of the previous
 * row.
 */
const SHAPES = {
  chain: (at) => (at === 0 ? [] : [at - 1]),
  "fan-out": (at) => (at === 0 ? [] : [0]),
  lattice: (at) => (at < WIDTH ? [] : [at - WIDTH, at - WIDTH - (at % WIDTH) + ((at + 1) % WIDTH)]),
};

const named = (at) => ({ kind: "Node", name: String(at).padStart(6, "0") });

/** A kind whose output depends on its spec alone, with the number of its runs. */
function counted() {
  const counter = { runs: 0 };
  const Node = graphKind({
    name: "Node",
    whenRefsFinish: "changed",
    reconcile: (node) => {
      counter.runs++;
      return { outputVersion: String(node.spec.value % 2) };
    },
  });
  return { counter, Node };
}

function expectEqual(actual, expected, what) {
  if (actual !== expected) throw new Error(`${what}: ${actual}, not ${expected}`);
}

function heapBytes() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Microseconds of processor time since `before`, so that other work on the machine does not count. */
function cpuMicros(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** The operations and microseconds until the graph is at rest. */
async function cost(graph, work) {
  const before = graph.operations;
  const started = process.cpuUsage();
  work();
  await graph.waitUntilIdle();
  return { operations: graph.operations - before, micros: cpuMicros(started) };
}

async function filled(graph, shape, count) {
  return cost(graph, () =>
    graph.batch((edit) => {
      for (let at = 0; at < count; at++) {
        edit.create({ name: named(at), spec: { value: 0 }, refs: SHAPES[shape](at).map(named) });
      }
    }),
  );
}

/** Everything reachable from an edit of the first node. */
function edgesBelowFirst(shape, count) {
  const reached = new Set([0]);
  let edges = 0;
  for (let at = 1; at < count; at++) {
    const above = SHAPES[shape](at).filter((ref) => reached.has(ref));
    if (above.length > 0) reached.add(at);
    edges += above.length;
  }
  return edges;
}

async function round(shape, count) {
  const { counter, Node } = counted();
  const before = heapBytes();
  const graph = await openGraph({ kinds: [Node] });
  const made = await filled(graph, shape, count);
  const bytes = heapBytes() - before;
  expectEqual(counter.runs, count, `runs of a ${shape} of ${count}`);
  const leaves = [];
  for (let value = 1; value <= EDITS; value++) {
    leaves.push(await cost(graph, () => graph.updateSpec(named(count - 1), { value })));
  }
  expectEqual(counter.runs, count + EDITS, "runs after edits of the last");
  // Its output stays the same: everything below it is marked, and settled without a run.
  const root = await cost(graph, () => graph.updateSpec(named(0), { value: 2 }));
  expectEqual(counter.runs, count + EDITS + 1, "runs after an edit of the first");
  expectEqual(graph.list().filter(({ status }) => status !== "idle").length, 0, "nodes that are not at rest");
  await graph[Symbol.asyncDispose]();
  const edges = edgesBelowFirst(shape, count);
  return {
    "made and run: operations per node": made.operations / count,
    "made and run: microseconds per node": made.micros / count,
    "memory: bytes per node": bytes / count,
    "edit of the last: operations": median(leaves.map(({ operations }) => operations)),
    "edit of the last: microseconds": median(leaves.map(({ micros }) => micros)),
    "edit of the first: operations per edge below": root.operations / edges,
    "edit of the first: microseconds per edge below": root.micros / edges,
  };
}

async function shapeRows(shape) {
  const rounds = {};
  for (const count of SIZES) {
    rounds[count] = [];
    const times = count === SIZES.at(-1) ? Math.min(ROUNDS, 3) : ROUNDS;
    for (let at = 0; at < times; at++) rounds[count].push(await round(shape, count));
  }
  const [smallest, ...others] = SIZES;
  return others.flatMap((count) =>
    Object.keys(rounds[count][0]).map((metric) => {
      const of = (size) => rounds[size].map((each) => each[metric]);
      return compare(
        `${shape} of ${count}: ${metric}`,
        metric.match(/operations|microseconds|bytes/)[0],
        of(count),
        "at 10 nodes",
        of(smallest),
      );
    }),
  );
}

/** Opens the same file repeatedly; nothing has changed, so nothing runs. */
async function coldStart() {
  const count = SIZES.at(-1);
  const folder = mkdtempSync(join(tmpdir(), "bench-graph-"));
  const [starts, anew] = [[], []];
  try {
    for (let at = 0; at < Math.min(ROUNDS, 3); at++) {
      const file = join(folder, `catalog-${at}.db`);
      const { counter, Node } = counted();
      const store = () => sqliteGraphStore(file, { synchronous: "normal" });
      const making = process.cpuUsage();
      const made = await openGraph({ kinds: [Node], store: store() });
      await filled(made, "lattice", count);
      anew.push(cpuMicros(making) / 1_000);
      await made[Symbol.asyncDispose]();
      const started = process.cpuUsage();
      const graph = await openGraph({ kinds: [Node], store: store() });
      await graph.waitUntilIdle();
      starts.push(cpuMicros(started) / 1_000);
      expectEqual(graph.list().filter(({ status }) => status === "idle").length, count, "resources at rest");
      expectEqual(counter.runs, count, "runs, the cold start included");
      await graph[Symbol.asyncDispose]();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return compare(`cold start of a lattice of ${count} from SQLite`, "ms", starts, "made anew", anew);
}

export async function measure() {
  const { setFlagsFromString } = await import("node:v8");
  const { runInNewContext } = await import("node:vm");
  setFlagsFromString("--expose-gc");
  globalThis.gc = runInNewContext("gc");
  const rows = [];
  for (const shape of Object.keys(SHAPES)) rows.push(...(await shapeRows(shape)));
  return [...rows, await coldStart()];
}
