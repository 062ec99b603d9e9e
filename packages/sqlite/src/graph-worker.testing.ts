// A process that the kill suite starts and kills: `node graph-worker.testing.js FOLDER edit SEED`, or `… FOLDER rest`.
// Its graph is in FOLDER/catalog.db; its resources build the files in FOLDER/world.
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isSetpointError } from "setpoint";
import { seededRandom } from "setpoint/clock";
import { type Graph, type GraphEditor, graphKind, openGraph, type ResourceName, type Ticket } from "setpoint/graph";
import { sqliteGraphStore } from "./graph-store.js";

const [folder = "", mode, seed = "1"] = process.argv.slice(2);
const world = join(folder, "world");
const fileOf = ({ name }: ResourceName): string => join(world, name);
const tell = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

const Table = graphKind<{ readonly value: number }>({
  name: "Table",
  whenRefsFinish: "changed",
  async reconcile(table, ctx) {
    appendFileSync(join(folder, "runs.log"), `${table.meta.name.name}\n`);
    const inputs = table.meta.refs.map((ref) => {
      const parent = ctx.get(ref);
      return parent?.error ? "failed" : (parent?.outputVersion ?? "absent");
    });
    await ctx.effect("build", async (signal) => {
      writeFileSync(fileOf(table.meta.name), "half");
      await sleep(1, undefined, { signal });
      writeFileSync(fileOf(table.meta.name), contentOf(table.spec.value, inputs));
    });
    return { outputVersion: contentOf(table.spec.value, inputs) };
  },
  remove: (table, ctx) => ctx.effect("drop", () => rmSync(fileOf(table.meta.name), { force: true })),
  rename: (_, { from, to }, ctx) =>
    ctx.effect("move", () => {
      if (existsSync(fileOf(from))) renameSync(fileOf(from), fileOf(to));
    }),
});

/** The content of a table, which depends on value and inputs only. The suite computes it, too. */
export function contentOf(value: number, inputs: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify([value, inputs]))
    .digest("hex")
    .slice(0, 16);
}

/** Edits until it is killed. Reports each edit before it is made, and when it is accepted. */
async function editOn(graph: Graph): Promise<void> {
  const random = seededRandom(Number(seed));
  const below = (count: number): number => Math.floor(random.next() * count);
  for (let count = 0; ; count++) {
    const edit = randomEdit(graph, below);
    tell({ type: "try", specs: edit.specs });
    await edit.make(graph).accepted;
    tell({ type: "accepted", count });
    if (below(3) === 0) await sleep(below(4));
  }
}

type Specs = Readonly<Record<string, { readonly value: number; readonly refs: readonly string[] }>>;

/** An edit that fits the current graph, and the specs after it. */
function randomEdit(graph: Graph, below: (count: number) => number): { specs: Specs; make(to: GraphEditor): Ticket } {
  const specs: Record<string, { value: number; refs: readonly string[] }> = { ...specsOf(graph) };
  const at = below(8);
  const name = named(at);
  const value = below(1_000);
  const refs = Array.from({ length: at }, (_, other) => other).filter(() => below(3) === 0);
  const own = { value, refs: refs.map((other) => named(other).name) };
  const present = specs[name.name];
  const free = Array.from({ length: 8 }, (_, other) => named(other)).find((other) => !specs[other.name]);
  if (!present) {
    specs[name.name] = own;
    return { specs, make: (to) => to.create({ name, spec: { value }, refs: refs.map(named) }) };
  }
  switch (below(5)) {
    case 0:
      delete specs[name.name];
      return { specs, make: (to) => to.delete(name) };
    case 1:
      if (!free) break;
      delete specs[name.name];
      specs[free.name] = present;
      return { specs, make: (to) => to.updateName(name, free) };
    case 2:
      specs[name.name] = { ...own, value: present.value };
      return { specs, make: (to) => to.updateMeta(name, { refs: refs.map(named) }) };
  }
  specs[name.name] = { ...present, value };
  return { specs, make: (to) => to.updateSpec(name, { value }) };
}

function named(at: number): ResourceName {
  return { kind: "Table", name: `t${at}` };
}

function specsOf(graph: Graph): Specs {
  return Object.fromEntries(
    graph.list().map(({ meta, spec }) => {
      return [meta.name.name, { ...(spec as { value: number }), refs: meta.refs.map((ref) => ref.name) }];
    }),
  );
}

if (mode !== undefined) {
  mkdirSync(world, { recursive: true });
  const store = sqliteGraphStore(join(folder, "catalog.db"), { synchronous: "normal" });
  const graph = await openGraph({ kinds: [Table], store, capacity: { runs: 4 } });
  void graph.ended.then((error) => {
    if (error === undefined) return;
    tell({ type: "stopped", code: isSetpointError(error) ? error.code : String(error) });
    process.exit(3);
  });
  tell({ type: "open", specs: specsOf(graph) });
  if (mode === "edit") await editOn(graph);
  await graph.waitUntilIdle();
  const statuses = Object.fromEntries(graph.list().map(({ meta, status }) => [meta.name.name, status]));
  tell({ type: "rest", specs: specsOf(graph), statuses, deleted: graph.deleted().length });
  await graph[Symbol.asyncDispose]();
}
