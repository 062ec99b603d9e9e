import { describe, expect, it } from "vitest";
import type { Engine, Publication, Stamp, TableFacts } from "./engine.js";

export interface EngineSubject extends AsyncDisposable {
  readonly engine: Engine;
  /** Closes the engine and opens it again on the same database; runs statements behind its back in between. */
  reopen(behindItsBack?: readonly string[]): Promise<Engine>;
}

/** A publication of a table; `given` overrides the defaults. */
export function publication(table: string, given: Partial<Publication> = {}): Publication {
  return {
    table,
    runId: `run of ${table}`,
    before: [],
    write: { type: "replace", sql: "SELECT 1 AS a" },
    tests: [],
    after: [],
    partitions: [],
    fulfils: [],
    stamp: { specHash: "spec", testHash: "test", inputs: {}, builtOn: 1_000 },
    ...given,
  };
}

const never = new AbortController().signal;

/** The contract of every engine. */
export function engineContract(name: string, open: () => Promise<EngineSubject>): void {
  const publish = (engine: Engine, table: string, given: Partial<Publication> = {}): Promise<Stamp> =>
    engine.publish(publication(table, given), { signal: never });
  const rows = async (engine: Engine, sql: string): Promise<readonly unknown[]> =>
    (await engine.query(sql, { signal: never })).rows;
  const facts = async (engine: Engine, table: string): Promise<TableFacts> => (await engine.inspect([table]))[0]!;

  describe(`${name} as an engine`, () => {
    it("publishes a table with its stamp, and keeps both across a restart", async () => {
      await using subject = await open();
      const stamp = await publish(subject.engine, "t", {
        write: { type: "replace", sql: "SELECT range AS a FROM range(3)" },
      });
      expect(stamp).toMatchObject({ specHash: "spec", runId: "run of t", rows: 3, builtOn: 1_000 });
      const engine = await subject.reopen();
      expect(await rows(engine, "SELECT a FROM t ORDER BY a")).toEqual([{ a: 0 }, { a: 1 }, { a: 2 }]);
      expect(await facts(engine, "t")).toMatchObject({ type: "table", stamp, isDrifted: false });
      expect((await engine.inspect()).map(({ table }) => table)).toEqual(["t"]);
    });

    it("gives equal content an equal version, whatever the order of rows, and other content another", async () => {
      await using subject = await open();
      const version = async (sql: string) =>
        (await publish(subject.engine, "t", { write: { type: "replace", sql } })).outputVersion;
      const first = await version("SELECT * FROM (VALUES (1, 'x'), (2, 'y')) v(a, b)");
      expect(await version("SELECT * FROM (VALUES (2, 'y'), (1, 'x')) v(a, b)")).toBe(first);
      expect(await version("SELECT * FROM (VALUES (2, 'x'), (1, 'y')) v(a, b)")).not.toBe(first);
      expect(await version("SELECT * FROM (VALUES (1, 'x'), (2, 'y')) v(a, c)")).not.toBe(first);
      expect(await version("SELECT * FROM (VALUES (1, 'x'), (2, 'y'), (2, 'y')) v(a, b)")).not.toBe(first);
      expect(await version("SELECT 1 AS t, 1 AS b")).not.toBe(await version("SELECT 1 AS t, 2 AS b"));
    });

    it("replaces a view by a table and back [9]", async () => {
      await using subject = await open();
      const { engine } = subject;
      for (const type of ["view", "table", "view", "view", "table", "table"] as const) {
        const write = { type: type === "view" ? "view" : "replace", sql: "SELECT 5 AS a" } as const;
        await publish(engine, "t", { write });
        expect(await facts(engine, "t")).toMatchObject({
          type,
          isDrifted: false,
          columns: [{ name: "a", type: "INTEGER" }],
        });
        expect(await rows(engine, "FROM t")).toEqual([{ a: 5 }]);
      }
      expect(await facts(await subject.reopen(), "t")).toMatchObject({ type: "table", isDrifted: false });
    });

    it("appends, merges by key and overwrites by partition [44]", async () => {
      await using subject = await open();
      const { engine } = subject;
      await publish(engine, "t", {
        write: { type: "replace", sql: "SELECT 1 AS k, 'a' AS v UNION ALL SELECT NULL, 'n'" },
      });
      await publish(engine, "t", { write: { type: "append", sql: "SELECT 'b' AS v, 2 AS k" } });
      const merged = "SELECT 2 AS k, 'B' AS v UNION ALL SELECT 3, 'c' UNION ALL SELECT NULL, 'N'";
      await publish(engine, "t", { write: { type: "merge", uniqueKey: ["k"], sql: merged } });
      expect(await rows(engine, "FROM t ORDER BY k NULLS LAST")).toEqual([
        { k: 1, v: "a" },
        { k: 2, v: "B" },
        { k: 3, v: "c" },
        { k: null, v: "N" },
      ]);
      const overwrite = { type: "overwrite", partitionBy: "k % 2", sql: "SELECT 5 AS k, 'odd' AS v" } as const;
      const stamp = await publish(engine, "t", { write: overwrite });
      expect(await rows(engine, "FROM t ORDER BY k NULLS LAST")).toEqual([
        { k: 2, v: "B" },
        { k: 5, v: "odd" },
        { k: null, v: "N" },
      ]);
      const whole = await publish(engine, "u", { write: { type: "replace", sql: "FROM t" } });
      expect(stamp.outputVersion).toBe(whole.outputVersion);
    });

    it("stamps and tests each of several concurrent appends on all rows present at that time", async () => {
      await using subject = await open();
      const { engine } = subject;
      await publish(engine, "t", { write: { type: "replace", sql: "SELECT 0 AS a" } });
      const tests = [{ name: "unique", sql: "SELECT a FROM t GROUP BY a HAVING count(*) > 1" }];
      const append = (a: number) => publish(engine, "t", { write: { type: "append", sql: `SELECT ${a} AS a` }, tests });
      const ends = await Promise.allSettled([1, 2, 3, 4, 4, 5].map(append));
      expect(ends.filter(({ status }) => status === "rejected")).toHaveLength(1);
      const all = await publish(engine, "u", {
        write: { type: "replace", sql: "SELECT range::INTEGER AS a FROM range(6)" },
      });
      expect((await facts(engine, "t")).stamp).toMatchObject({ rows: 6, outputVersion: all.outputVersion });
      expect((await facts(await subject.reopen(["SELECT 1"]), "t")).isDrifted).toBe(false);
    });

    it("keeps the last good table, its stamp and its requests if a run fails at any step [41]", async () => {
      await using subject = await open();
      const { engine } = subject;
      const good = await publish(engine, "t");
      await engine.request("t", { id: "r", full: true });
      const failures: Partial<Publication>[] = [
        { before: ["SELECT nowhere"] },
        { write: { type: "replace", sql: "SELECT 'x'::INTEGER AS a" } },
        { write: { type: "view", sql: "SELECT * FROM nowhere" } },
        { write: { type: "replace", sql: "SELECT 2 AS a; DROP TABLE t" } },
        {
          tests: [{ name: "is one", sql: "SELECT * FROM t WHERE a <> 1" }],
          write: { type: "replace", sql: "SELECT 2 AS a" },
        },
        { after: ["DELETE FROM t", "SELECT nowhere"] },
        { stateSql: "SELECT nowhere" },
      ];
      for (const given of failures) {
        await expect(publish(engine, "t", { fulfils: ["r"], runId: "bad", ...given })).rejects.toThrow(
          given.tests ? "tests failed: is one" : /nowhere|Conversion|statements/,
        );
        expect(await rows(engine, "FROM t")).toEqual([{ a: 1 }]);
        expect(await facts(engine, "t")).toMatchObject({
          stamp: good,
          isDrifted: false,
          requests: [{ id: "r", full: true }],
        });
      }
      await publish(engine, "t", { fulfils: ["r"] });
      expect((await facts(await subject.reopen(), "t")).requests).toEqual([]);
    });

    it("names part and position of an error in the given text", async () => {
      await using subject = await open();
      const position = (given: Partial<Publication>) =>
        publish(subject.engine, "t", given).then(
          () => undefined,
          (error: { code?: string; position?: unknown }) => ({ code: error.code, ...(error.position as object) }),
        );
      const code = "PIPELINES_ENGINE_FAILED";
      expect(await position({ write: { type: "replace", sql: "SELECT 'äö', nowhere" } })).toEqual({
        code,
        part: "write",
        offset: 13,
      });
      expect(await position({ before: ["SELECT 1; SELECT nowhere"] })).toEqual({ code, part: "before 0", offset: 17 });
      expect(await position({ after: ["SELECT nowhere"] })).toEqual({ code, part: "after 0", offset: 7 });
      expect(await position({ tests: [{ name: "x", sql: "SELECT nowhere" }] })).toEqual({
        code,
        part: "test x",
        offset: 7,
      });
      await expect(subject.engine.query("SELEC 1", { signal: never })).rejects.toMatchObject({
        code,
        position: { part: "query", offset: 0 },
      });
    });

    it("keeps the table if only tests and stamp are renewed", async () => {
      await using subject = await open();
      const first = await publish(subject.engine, "t");
      const stamp = { specHash: "spec", testHash: "other", inputs: { x: "1" }, builtOn: 2_000 };
      const kept = await publish(subject.engine, "t", { write: { type: "keep" }, stamp });
      expect(kept).toMatchObject({ ...stamp, outputVersion: first.outputVersion, rows: 1 });
      const tests = [{ name: "never", sql: "FROM t" }];
      await expect(publish(subject.engine, "t", { write: { type: "keep" }, tests })).rejects.toThrow(
        "tests failed: never",
      );
    });

    it("runs the state query on the written rows", async () => {
      await using subject = await open();
      const stamp = await publish(subject.engine, "t", {
        write: { type: "replace", sql: "SELECT range AS a FROM range(4)" },
        stateSql: "SELECT max(a) AS last FROM t",
      });
      expect(stamp.state).toEqual({ last: 3 });
    });

    it("runs statements before and after a run, such as ATTACH and DETACH, even if the run fails [45]", async () => {
      await using subject = await open();
      const { engine } = subject;
      const pair = { before: ["ATTACH ':memory:' AS other"], after: ["DETACH other"] };
      await publish(engine, "t", {
        ...pair,
        write: { type: "replace", sql: "SELECT count(*) AS n FROM duckdb_databases() WHERE database_name = 'other'" },
      });
      await expect(
        publish(engine, "t", { ...pair, write: { type: "replace", sql: "SELECT nowhere" } }),
      ).rejects.toThrow("nowhere");
      await publish(engine, "t", {
        ...pair,
        after: ["CREATE OR REPLACE TABLE log AS SELECT count(*) AS n FROM t; DETACH other"],
      });
      expect(await rows(engine, "FROM log")).toEqual([{ n: 1 }]);
    });

    it.each<[string, string]>([
      ["was dropped", "DROP TABLE t"],
      ["has another column", "ALTER TABLE t ADD COLUMN b INTEGER"],
      ["has another type", "ALTER TABLE t ALTER a TYPE VARCHAR"],
      ["has another row", "INSERT INTO t VALUES (7)"],
      ["has a changed row", "UPDATE t SET a = 9"],
      ["was replaced by a view", "DROP TABLE t; CREATE VIEW t AS SELECT 1 AS a"],
      ["was made again by hand", "CREATE OR REPLACE TABLE t AS SELECT 3 AS a"],
    ])("detects that a table %s, and no longer once it is published again [3]", async (_, sql) => {
      await using subject = await open();
      await publish(subject.engine, "t");
      await publish(subject.engine, "u");
      let engine = await subject.reopen([sql]);
      expect((await facts(engine, "t")).isDrifted).toBe(true);
      expect((await facts(engine, "u")).isDrifted).toBe(false);
      engine = await subject.reopen();
      expect((await facts(engine, "t")).isDrifted).toBe(true);
      await publish(engine, "t");
      expect((await facts(await subject.reopen(), "t")).isDrifted).toBe(false);
    });

    it("does not mistake any column type for a foreign change", async () => {
      await using subject = await open();
      const sql = `SELECT '{}'::JSON AS j, ['{}'::JSON] AS jl, 'a'::ENUM('a', 'b c') AS e, {'x y': 1, z: '{}'::JSON} AS s, MAP{1: 'a'} AS m,
        [1, 2]::INTEGER[2] AS f, now() AS tz, TIME '01:02:03' AS t, INTERVAL 1 DAY AS i, uuid() AS u, '101'::BIT AS b,
        1::HUGEINT AS h, 1.5::DECIMAL(20, 3) AS d, 'x'::BLOB AS bl, TIMESTAMP_NS '2024-01-01' AS ns, NULL AS n`;
      await publish(subject.engine, "t", { write: { type: "replace", sql } });
      expect((await facts(await subject.reopen(), "t")).isDrifted).toBe(false);
      expect((await facts(await subject.reopen(["SELECT 1"]), "t")).isDrifted).toBe(false);
    });

    it("detects that a view was changed or replaced by a table", async () => {
      await using subject = await open();
      for (const table of ["v", "w", "x"])
        await publish(subject.engine, table, { write: { type: "view", sql: "SELECT 1 AS a" } });
      const engine = await subject.reopen([
        "CREATE OR REPLACE VIEW v AS SELECT 2 AS a",
        "DROP VIEW w",
        "CREATE TABLE w AS SELECT 1 AS a",
      ]);
      expect((await engine.inspect(["v", "w", "x"])).map(({ isDrifted }) => isDrifted)).toEqual([true, true, false]);
    });

    it("keeps the ledger of partitions: by publication, outside of one, and emptied", async () => {
      await using subject = await open();
      const { engine } = subject;
      const record = (key: string, executedOn?: number) => ({
        key,
        values: { key },
        ...(executedOn ? { executedOn } : {}),
      });
      await engine.savePartitions("t", [record("a"), record("b")]);
      await publish(engine, "t", { partitions: [record("a", 5)] });
      expect(await engine.partitions("t")).toEqual([record("a", 5), record("b")]);
      await engine.savePartitions("t", [{ ...record("b"), skipped: true }]);
      expect(await (await subject.reopen()).partitions("t")).toEqual([
        record("a", 5),
        { ...record("b"), skipped: true },
      ]);
    });

    it("empties the ledger with a publication on request, and drops it with the table [43]", async () => {
      await using subject = await open();
      const { engine } = subject;
      await publish(engine, "t", { partitions: [{ key: "a", values: {} }] });
      await publish(engine, "t", { resetPartitions: true, partitions: [{ key: "b", values: {} }] });
      expect((await engine.partitions("t")).map(({ key }) => key)).toEqual(["b"]);
      await engine.drop("t");
      await engine.drop("t");
      expect(await engine.partitions("t")).toEqual([]);
      expect(await facts(engine, "t")).toMatchObject({ type: "absent", isDrifted: false });
    });

    it("renames tables and views with stamp and ledger, also in case only, and in place of another [10]", async () => {
      await using subject = await open();
      let { engine } = subject;
      const stamp = await publish(engine, "a", { partitions: [{ key: "p", values: {} }] });
      await publish(engine, "v", { write: { type: "view", sql: "SELECT 1 AS x" } });
      await publish(engine, "b", { write: { type: "replace", sql: "SELECT 9 AS z" } });
      await engine.rename("a", "b");
      await engine.rename("b", "B");
      await engine.rename("v", "w");
      await engine.rename("nothing", "b");
      engine = await subject.reopen();
      expect(await facts(engine, "B")).toMatchObject({ type: "table", stamp, isDrifted: false });
      expect(await facts(engine, "w")).toMatchObject({ type: "view", isDrifted: false });
      expect(await rows(engine, "FROM b")).toEqual([{ a: 1 }]);
      expect(await engine.partitions("B")).toHaveLength(1);
      expect((await engine.inspect()).map(({ table }) => table).sort()).toEqual(["B", "w"]);
    });

    it("builds in a schema that sees the tables of main, and drops it as a whole", async () => {
      await using subject = await open();
      const { engine } = subject;
      await publish(engine, "t");
      const write = { type: "replace", sql: "SELECT a + 1 AS a FROM t" } as const;
      await publish(engine, "u", { schema: "dev", write });
      await publish(engine, "t", { schema: "dev", write: { type: "replace", sql: "SELECT 5 AS a" } });
      await publish(engine, "u2", { schema: "dev", write });
      expect(await rows(engine, "FROM dev.u")).toEqual([{ a: 2 }]);
      expect((await engine.query("FROM u2", { signal: never, schema: "dev" })).rows).toEqual([{ a: 6 }]);
      expect(await engine.inspect(undefined, "dev")).toHaveLength(3);
      expect(await engine.inspect()).toMatchObject([{ schema: "main", table: "t" }]);
      await engine.dropSchema("dev");
      expect((await engine.inspect()).map(({ table }) => table)).toEqual(["t"]);
    });

    it("reads in a query and changes nothing", async () => {
      await using subject = await open();
      await publish(subject.engine, "t");
      await expect(subject.engine.query("DROP TABLE t", { signal: never })).rejects.toMatchObject({
        code: "PIPELINES_ENGINE_FAILED",
      });
      const cut = await subject.engine.query("SELECT range AS a FROM range(10000)", { signal: never, limit: 2 });
      expect(cut).toEqual({ columns: [{ name: "a", type: "BIGINT" }], rows: [{ a: 0 }, { a: 1 }], isCut: true });
    });

    it("describes a query without reading data, and parses many statements at once", async () => {
      await using subject = await open();
      await publish(subject.engine, "t");
      expect(await subject.engine.describe("SELECT a, 'x' AS b FROM t")).toEqual([
        { name: "a", type: "INTEGER" },
        { name: "b", type: "VARCHAR" },
      ]);
      const [first, second, third] = await subject.engine.parse([
        "SELECT * FROM t -- x",
        "select  *  FROM T",
        "SELEC 1",
      ]);
      expect(first).toMatchObject({ type: "parsed", tables: [{ table: "t", offset: 14 }] });
      expect(second).toMatchObject({ type: "parsed", hash: (first as { hash: string }).hash });
      expect(third).toMatchObject({ type: "invalid", offset: 0 });
    });

    it("ends a call within its grace period when its signal is aborted, and stays usable", async () => {
      await using subject = await open();
      await publish(subject.engine, "t");
      for (const sql of [
        "SELECT count(*) AS a FROM range(1000000) x, range(1000000) y",
        "SELECT length(repeat('a', 2000000000)) + length(repeat('b', 2000000000)) AS a",
      ]) {
        const controller = new AbortController();
        const running = subject.engine.publish(publication("t", { write: { type: "replace", sql } }), {
          signal: controller.signal,
        });
        setTimeout(() => controller.abort(new Error("enough")), 100);
        await expect(running).rejects.toThrow("enough");
        expect(await rows(subject.engine, "FROM t")).toEqual([{ a: 1 }]);
      }
    });
  });
}
