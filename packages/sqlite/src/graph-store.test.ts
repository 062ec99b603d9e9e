import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { graphKind, openGraph } from "setpoint/graph";
import { expect, it } from "vitest";
import { graphStoreContract } from "../../setpoint/src/graph/graph-store.contract.js";
import { sqliteGraphStore } from "./graph-store.js";
import { availableDrivers } from "./open-database.js";

const file = (): string => join(mkdtempSync(join(tmpdir(), "graph-store-")), "catalog.db");

for (const driver of availableDrivers()) {
  graphStoreContract(`in SQLite (${driver})`, () => sqliteGraphStore(file(), { driver, synchronous: "normal" }));
}

it("runs nothing after a restart if nothing changed and kinds run on changes only", async () => {
  const path = file();
  const ran: string[] = [];
  const Step = graphKind<{ value: number }>({
    name: "Step",
    whenRefsFinish: "changed",
    reconcile: (step) => {
      ran.push(step.meta.name.name);
      return { outputVersion: String(step.spec.value) };
    },
  });
  for (const _ of ["first", "second"]) {
    await using graph = await openGraph({
      kinds: [Step],
      store: sqliteGraphStore(path, { synchronous: "normal" }),
    });
    if (!graph.get({ kind: "Step", name: "a" })) {
      graph.create({ name: { kind: "Step", name: "a" }, spec: { value: 1 } });
      graph.create({ name: { kind: "Step", name: "b" }, spec: { value: 2 }, refs: [{ kind: "Step", name: "a" }] });
    }
    await graph.waitUntilIdle();
    expect(graph.list().map(({ status }) => status)).toEqual(["idle", "idle"]);
  }
  expect(ran).toEqual(["a", "b"]);
});
