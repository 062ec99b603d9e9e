import { describe, expect, it } from "vitest";
import type { GraphSession, GraphStore, StoreWrite } from "./graph-store.js";
import type { GraphRecord } from "./state.js";

const recordOf = (name: string, version: number): GraphRecord => ({
  meta: {
    name: { kind: "Table", name },
    refs: [],
    paths: [],
    tags: [],
    hidden: false,
    version,
    specVersion: 1,
    stateVersion: 1,
    createdOn: 1,
    specUpdatedOn: 1,
    stateUpdatedOn: 1,
  },
  spec: { text: `ü "quoted" ${name}` },
  specHash: "h",
  attempt: 0,
});

const put = (name: string, version: number, expected: number): StoreWrite => ({
  type: "put",
  id: `Table/${name}`,
  record: recordOf(name, version),
  expected,
});

/** What every graph store must do. `make` returns an empty store. */
export function graphStoreContract(name: string, make: () => GraphStore): void {
  const stored = (session: GraphSession) =>
    [...session.records()].map(({ id, record }) => [id, record.meta.version]).sort();

  describe(`the graph store ${name}`, () => {
    it("returns what was committed, in the same session and in the next", async () => {
      const store = make();
      using first = await store.open();
      await first.commit([put("a", 1, 0), put("b", 1, 0)]);
      await first.commit([put("a", 2, 1), { type: "remove", id: "Table/b", expected: 1 }]);
      expect(stored(first)).toEqual([["Table/a", 2]]);
      using second = await store.open();
      expect([...second.records()]).toEqual([{ id: "Table/a", record: recordOf("a", 2) }]);
    });

    it("refuses a write to a stale version, and everything committed with it [defect 10]", async () => {
      using session = await make().open();
      await session.commit([put("a", 1, 0)]);
      for (const wrong of [
        put("a", 3, 2),
        put("a", 1, 0),
        put("x", 2, 1),
        { ...put("a", 1, 4), type: "remove" as const },
      ]) {
        await expect(async () => session.commit([put("b", 1, 0), wrong])).rejects.toMatchObject({
          code: "GRAPH_CONFLICT",
        });
      }
      expect(stored(session)).toEqual([["Table/a", 1]]);
    });

    it("refuses every write of a session that was superseded", async () => {
      const store = make();
      using older = await store.open();
      await older.commit([put("a", 1, 0)]);
      using newer = await store.open();
      await expect(async () => older.commit([put("a", 2, 1)])).rejects.toMatchObject({ code: "GRAPH_FENCED" });
      await expect(async () => older.commit([])).rejects.toMatchObject({ code: "GRAPH_FENCED" });
      await newer.commit([put("a", 2, 1)]);
      expect(stored(newer)).toEqual([["Table/a", 2]]);
    });
  });
}
