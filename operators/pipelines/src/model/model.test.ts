import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sourceText } from "../project/source-text.js";
import { modelName, modelSpec, modelWorld } from "./model.testing.js";
import type { ModelPartitions, ModelSpec } from "./model-spec.js";
import { staleModels } from "./stale-models.js";

const text = (sql: string) => sourceText("models/t.yaml", sql);
const table = { output: { materialize: true } } as const;
const partitionsBy = (sql: string, more: Partial<ModelPartitions> = {}): ModelPartitions =>
  ({ type: "sql", sql: text(sql), concurrency: 2, ...more }) as ModelPartitions;

describe("a model", () => {
  it("is a view, becomes a table, and a view again; nothing is left over [9]", async () => {
    await using world = await modelWorld();
    for (const materialize of [false, true, false]) {
      await world.put(modelSpec("t", "SELECT 1 AS a", { output: { materialize } }));
      expect(world.state("t")).toMatchObject({
        type: materialize ? "table" : "view",
        columns: [{ name: "a", type: "INTEGER" }],
      });
    }
    expect(await world.rows("SELECT table_name AS n FROM duckdb_tables() WHERE schema_name = 'main'")).toEqual([]);
  });

  it("names file, line and column of an error, and keeps the last good table [19]", async () => {
    await using world = await modelWorld();
    await world.put(modelSpec("t", "SELECT 1 AS a", table));
    await world.put(modelSpec("t", "SELECT\n  nowhere AS a", table));
    expect(world.error("t")).toMatch(/^models\/t\.sql:2:3: Binder error/);
    expect(await world.rows("FROM t")).toEqual([{ a: 1 }]);
    await world.put(modelSpec("t", "SELECT 2 AS a", table));
    expect(world.error("t")).toBeUndefined();
  });

  it("runs dependents only if its output has changed", async () => {
    await using world = await modelWorld();
    await world.put(modelSpec("a", "SELECT 1 AS x", table));
    await world.put(modelSpec("b", "SELECT x FROM a", table), ["a"]);
    const built = world.state("b")!.runId;
    await world.put(modelSpec("a", "SELECT 2 - 1 AS x", table));
    expect(world.state("b")!.runId).toBe(built);
    await world.put(modelSpec("a", "SELECT 3 AS x", table));
    expect(await world.rows("FROM b")).toEqual([{ x: 3 }]);
    expect(world.state("b")).toMatchObject({ reason: "Model/a has changed" });
  });

  it("fails with a dependency error below a failed ref, and its table stays [15]", async () => {
    await using world = await modelWorld();
    await world.put(modelSpec("foo", "SELECT 1 AS x", table));
    for (const [name, ref] of [
      ["bar1", "foo"],
      ["bar2", "bar1"],
      ["bar3", "bar2"],
    ] as const) {
      await world.put(modelSpec(name, `SELECT * FROM ${ref}`), [ref]);
    }
    await world.put(modelSpec("foo", "SELECT nowhere", table));
    for (const name of ["bar1", "bar2", "bar3"]) {
      expect(world.error(name)).toMatch(/^dependency error: .*nowhere/);
      expect(await world.rows(`FROM ${name}`)).toEqual([{ x: 1 }]);
    }
    await world.put(modelSpec("foo", "SELECT 2 AS x", table));
    expect(await world.rows("FROM bar3")).toEqual([{ x: 2 }]);
  });

  it("does not run after a restart without changes", async () => {
    await using world = await modelWorld();
    await world.put(modelSpec("a", "SELECT 1 AS x", table));
    await world.put(modelSpec("b", "SELECT * FROM a"), ["a"]);
    const before = [world.state("a"), world.state("b")];
    await world.restart();
    expect([world.state("a"), world.state("b")]).toEqual(before);
    expect(world.graph.explain(modelName("a"))?.lastRun).toBeUndefined();
    expect(staleModels(world.graph.list(), await world.engine.inspect())).toEqual([]);
  });

  it("is rebuilt after somebody dropped or changed its table, with its dependents [3]", async () => {
    await using world = await modelWorld();
    await world.put(modelSpec("a", "SELECT 1 AS x", table));
    await world.put(modelSpec("b", "SELECT x FROM a", table), ["a"]);
    for (const sql of ["DROP TABLE a", "UPDATE b SET x = 5", "DROP TABLE a; DROP TABLE b"]) {
      await world.put(modelSpec("hand", "SELECT 1 AS done", { ...table, postExec: text(sql), specHash: sql }));
      const stale = staleModels(world.graph.list(), await world.engine.inspect());
      expect(stale.length).toBeGreaterThan(0);
      for (const { name } of stale) await world.graph.reconcile(name);
      await world.idle();
      expect(await world.rows("SELECT x FROM a UNION ALL FROM b")).toEqual([{ x: 1 }, { x: 1 }]);
    }
  });

  it("is renamed without a rebuild [11]", async () => {
    await using world = await modelWorld();
    const sql = "SELECT {{ if incremental }}2{{ else }}1{{ end }} AS x";
    await world.put(modelSpec("a", sql, { incremental: true, specHash: "same" }));
    await world.refresh("a");
    const before = world.state("a")!;
    await world.graph.batch((edit) => {
      edit.updateName(modelName("a"), modelName("b"));
      edit.updateSpec(modelName("b"), modelSpec("b", sql, { incremental: true, specHash: "same" }));
    });
    await world.idle();
    expect(await world.rows("FROM b ORDER BY x")).toEqual([{ x: 1 }, { x: 2 }]);
    expect(world.state("b")).toMatchObject({ action: "none", runId: before.runId, builtOn: before.builtOn });
    expect((await world.engine.inspect()).map((facts) => facts.table)).toEqual(["b"]);
  });

  it("takes over the name of another one that is renamed at the same time [12]", async () => {
    await using world = await modelWorld();
    await world.put(modelSpec("bar1", "SELECT 1 AS x", { ...table, specHash: "1" }));
    await world.put(modelSpec("bar2", "SELECT 2 AS x UNION ALL SELECT 3", { ...table, specHash: "2" }));
    await world.graph.batch((edit) => {
      edit.updateName(modelName("bar2"), modelName("bar3"));
      edit.updateName(modelName("bar1"), modelName("bar2"));
      edit.updateSpec(modelName("bar2"), modelSpec("bar2", "SELECT 1 AS x", { ...table, specHash: "1" }));
      edit.updateSpec(
        modelName("bar3"),
        modelSpec("bar3", "SELECT 2 AS x UNION ALL SELECT 3", { ...table, specHash: "2" }),
      );
    });
    await world.idle();
    expect(await world.rows("SELECT (SELECT count(*) FROM bar2) AS a, (SELECT count(*) FROM bar3) AS b")).toEqual([
      { a: 1, b: 2 },
    ]);
  });

  it("ends a long run when it is renamed, and builds under the new name [13]", async () => {
    await using world = await modelWorld();
    const slow = "SELECT count(*) AS n FROM range(10000000) a, range(1000000) b";
    world.graph.create({ name: modelName("slow"), spec: modelSpec("slow", slow, table) }).catch(() => {});
    await expect.poll(() => world.graph.get(modelName("slow"))?.status).toBe("running");
    await world.graph.batch((edit) => {
      edit.updateName(modelName("slow"), modelName("fast"));
      edit.updateSpec(modelName("fast"), modelSpec("fast", "SELECT 1 AS n", table));
    });
    await world.idle();
    expect((await world.engine.inspect()).map((facts) => facts.table)).toEqual(["fast"]);
  });

  it("drops table, ledger and requests when it is deleted [43]", async () => {
    await using world = await modelWorld();
    await world.put(
      modelSpec("t", "SELECT {{ .partition.p }} AS p", {
        incremental: true,
        partitions: partitionsBy("SELECT 1 AS p"),
      }),
    );
    expect(await world.engine.partitions("t")).toHaveLength(1);
    await world.graph.delete(modelName("t"));
    expect(await world.engine.partitions("t")).toEqual([]);
    expect(await world.engine.inspect()).toEqual([]);
  });

  it("runs by its schedule, and shows its next run [7]", async () => {
    await using world = await modelWorld();
    const path = join(world.folder, "x.csv");
    writeFileSync(path, "a\n1\n2\n3\n");
    const input = { type: "files", path: sourceText("sources/x.yaml", "x.csv"), options: {} } as const;
    const refresh = { onRefs: true, disabled: false, everyMs: 1_000 };
    await world.put(modelSpec("x", "", { input, refresh }));
    writeFileSync(path, "a\n1\n2\n");
    expect(await world.rows("SELECT count(*) AS n FROM x")).toEqual([{ n: 3 }]);
    expect(world.graph.get(modelName("x"))?.runAgainOn).toBe(world.clock.now() + 1_000);
    await world.clock.advance(1_000);
    await world.idle();
    expect(await world.rows("SELECT count(*) AS n FROM x")).toEqual([{ n: 2 }]);
  });

  it("fails on a missing path, keeps its table, and recovers [3]", async () => {
    await using world = await modelWorld();
    writeFileSync(join(world.folder, "x.csv"), "a;b\n1;x\n");
    const spec = (path: string, options = {}) =>
      modelSpec("x", path, { input: { type: "files", path: sourceText("sources/x.yaml", path), options } });
    await world.put(spec("x.csv", { delim: ";", types: { a: "VARCHAR" } }));
    expect(await world.rows("FROM x")).toEqual([{ a: "1", b: "x" }]);
    await world.put(spec("nowhere.csv"));
    expect(world.error("x")).toMatch(/nowhere\.csv/);
    expect(await world.rows("FROM x")).toEqual([{ a: "1", b: "x" }]);
    await world.put(spec("x.csv"));
    expect(world.state("x")).toMatchObject({ rows: 1, type: "table" });
  });

  it("reads JSON, Parquet and globs", async () => {
    await using world = await modelWorld();
    mkdirSync(join(world.folder, "d"));
    writeFileSync(join(world.folder, "d", "a.json"), '{"x": 1}\n{"x": 2}\n');
    writeFileSync(join(world.folder, "d", "b.ndjson"), '{"x": 3}\n');
    await world.put(modelSpec("j", "", { input: { type: "files", path: text("d/*"), format: "json", options: {} } }));
    expect(await world.rows("SELECT sum(x) AS s FROM j")).toEqual([{ s: 6 }]);
    await world.put(modelSpec("out", "SELECT 1 AS y", { postExec: text("COPY (SELECT 5 AS y) TO 'd/p.parquet'") }));
    await world.put(modelSpec("p", "", { input: { type: "files", path: text("d/p.parquet"), options: {} } }));
    expect(await world.rows("FROM p")).toEqual([{ y: 5 }]);
  });

  it("fetches over HTTP into a cache, and again only what has changed", async () => {
    await using world = await modelWorld();
    const seen: (string | undefined)[] = [];
    let body = "a\n1\n";
    const server = createServer((request, response) => {
      seen.push(request.headers["if-none-match"]);
      const etag = `"${body.length}"`;
      if (request.headers["if-none-match"] === etag) response.writeHead(304).end();
      else response.writeHead(200, { etag }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.csv`;
    const spec = modelSpec("h", "", { input: { type: "http", connector: "https", url: text(url), options: {} } });
    await world.put(spec);
    await world.refresh("h");
    body = "a\n1\n2\n";
    await world.refresh("h");
    expect(await world.rows("SELECT count(*) AS n FROM h")).toEqual([{ n: 2 }]);
    expect(seen).toEqual([undefined, '"4"', '"4"']);
    server.close();
    server.closeAllConnections();
    await world.refresh("h");
    expect(world.error("h")).toMatch(/127\.0\.0\.1.*ECONNREFUSED/);
    expect(await world.rows("SELECT count(*) AS n FROM h")).toEqual([{ n: 2 }]);
  });

  it("retries errors that its retries match, and gives up on others", async () => {
    await using world = await modelWorld();
    const retry = { attempts: 2, delayMs: 100, exponential: true, matching: ["nowhere"] };
    await world.put(modelSpec("t", "SELECT nowhere", { ...table, retry }));
    expect(world.graph.get(modelName("t"))?.runAgainOn).toBe(world.clock.now() + 100);
    await world.clock.advance(100);
    await world.idle();
    expect(world.graph.get(modelName("t"))?.runAgainOn).toBe(world.clock.now() + 200);
    await world.clock.advance(200);
    await world.idle();
    expect(world.graph.get(modelName("t"))?.runAgainOn).toBeUndefined();
    await world.put(modelSpec("u", "SELECT nothing", { ...table, retry }));
    expect(world.graph.get(modelName("u"))?.runAgainOn).toBeUndefined();
  });

  it("comes to rest after the engine's process was killed during its run", async () => {
    await using world = await modelWorld();
    const spec = modelSpec("t", "SELECT count(*) AS n FROM range(400000000) a WHERE a.range % 7 = 3", table);
    world.graph.create({ name: modelName("t"), spec }).catch(() => {});
    await expect.poll(() => world.graph.get(modelName("t"))?.status).toBe("running");
    await new Promise((resolve) => setTimeout(resolve, 100));
    process.kill((await world.engine.pid())!, "SIGKILL");
    await world.idle();
    expect(world.error("t")).toMatch(/engine's process/);
    await world.clock.advance(1_000);
    await world.idle();
    expect(world.error("t")).toBeUndefined();
  });
});

describe("an incremental model", () => {
  it("adds rows with the state of its last run [39]", async () => {
    await using world = await modelWorld();
    const sql = "SELECT {{ if incremental }}{{ .state.last }} + 1{{ else }}1{{ end }} AS x";
    await world.put(
      modelSpec("t", sql, { incremental: true, changeMode: "patch", state: text("SELECT max(x) AS last FROM t") }),
    );
    expect(world.error("t")).toMatch(/paused.*manually trigger/);
    await world.refresh("t", { full: true });
    expect(await world.rows("FROM t")).toEqual([{ x: 1 }]);
    await world.refresh("t");
    await world.refresh("t");
    expect(await world.rows("FROM t ORDER BY x")).toEqual([{ x: 1 }, { x: 2 }, { x: 3 }]);
  });

  it("never drops loaded data in mode patch, whatever changes, unless told to [40]", async () => {
    await using world = await modelWorld();
    const spec = (sql: string) => modelSpec("t", sql, { incremental: true, changeMode: "patch" });
    await world.put(spec("SELECT 1 AS x"));
    await world.refresh("t", { full: true });
    await world.put(spec("SELECT 2 AS x"));
    expect(await world.rows("FROM t")).toEqual([{ x: 1 }]);
    await world.refresh("t");
    expect(await world.rows("FROM t ORDER BY x")).toEqual([{ x: 1 }, { x: 2 }]);
  });

  it("is rebuilt if the definition of a model that it reads has changed", async () => {
    await using world = await modelWorld();
    await world.put(modelSpec("a", "SELECT 1 AS x", table));
    await world.put(modelSpec("t", "SELECT x FROM a", { incremental: true }), ["a"]);
    await world.put(modelSpec("a", "SELECT 2 AS x", table));
    expect(await world.rows("FROM t")).toEqual([{ x: 2 }]);
  });

  it("merges by key [44]", async () => {
    await using world = await modelWorld();
    const output = { strategy: "merge", uniqueKey: ["id"] } as const;
    await world.put(
      modelSpec("t", "SELECT range AS id, {{ if incremental }}1{{ else }}0{{ end }} AS v FROM range(10)", {
        incremental: true,
        output,
      }),
    );
    await world.refresh("t");
    expect(await world.rows("SELECT count(*) AS n, sum(v) AS v FROM t")).toEqual([{ n: 10, v: 10 }]);
  });
});

describe("tests of a model", () => {
  const tests = (...sqls: string[]) => sqls.map((sql, at) => ({ name: `t${at}`, sql: text(sql) }));

  it("block publication: the previous rows stay [41]", async () => {
    await using world = await modelWorld();
    const spec = (sql: string, some: ModelSpec["tests"]) => modelSpec("t", sql, { ...table, tests: some });
    await world.put(spec("SELECT 1 AS a", tests("SELECT * FROM t WHERE a <> 1")));
    await world.put(spec("SELECT 2 AS a", tests("SELECT * FROM t WHERE a <> 1")));
    expect(world.error("t")).toBe("tests failed: t0");
    expect(await world.rows("FROM t")).toEqual([{ a: 1 }]);
    await world.put(spec("SELECT 2 AS a", tests("SELECT * FROM t WHERE a <> 2")));
    expect(await world.rows("FROM t")).toEqual([{ a: 2 }]);
  });

  it("run without a new execution if only they are edited [41]", async () => {
    await using world = await modelWorld();
    await world.put(modelSpec("t", "SELECT now() AS at", { ...table, tests: tests("SELECT 1 LIMIT 0") }));
    const [before] = await world.rows("FROM t");
    await world.put(modelSpec("t", "SELECT now() AS at", { ...table, tests: tests("FROM t") }));
    expect(world.error("t")).toBe("tests failed: t0");
    await world.put(modelSpec("t", "SELECT now() AS at", { ...table, tests: tests("FROM t LIMIT 0") }));
    expect(world.state("t")).toMatchObject({ action: "tests" });
    expect(await world.rows("FROM t")).toEqual([before]);
  });

  it("on SQL run the query on given rows, before anything is published", async () => {
    await using world = await modelWorld();
    await world.put(
      modelSpec("orders", "SELECT 1 AS id, 2.5::DECIMAL(10, 2) AS amount, DATE '2024-01-01' AS day", table),
    );
    const sql =
      "WITH big AS (SELECT * FROM orders WHERE amount > 1) SELECT day, sum(amount) AS total FROM big GROUP BY day";
    const given = {
      orders: [
        { amount: 1.5, day: "2024-01-02" },
        { amount: 2, day: "2024-01-02" },
        { amount: 1, day: "2024-01-03" },
      ],
    };
    const unit = (total: number) => [{ name: "sums", given, expect: [{ day: "2024-01-02", total }] }];
    await world.put(modelSpec("s", sql, { ...table, unitTests: unit(4) }), ["orders"]);
    expect(world.error("s")).toMatch(/^tests failed: sums: missing \{"day":"2024-01-02","total":4\}/);
    expect(world.state("s")?.type).toBeUndefined();
    await world.put(modelSpec("s", sql, { ...table, unitTests: unit(3.5), testHash: "new" }), ["orders"]);
    expect(world.error("s")).toBeUndefined();
    expect(await world.rows("FROM s")).toEqual([{ day: "2024-01-01", total: 2.5 }]);
  });

  it("statements after a run see the final name, once per run; a failing one fails the run [45]", async () => {
    await using world = await modelWorld();
    const log = text("CREATE TABLE IF NOT EXISTS log (n INTEGER); INSERT INTO log SELECT count(*) FROM t");
    await world.put(modelSpec("t", "SELECT 1 AS a", { postExec: log }));
    expect(await world.rows("FROM log")).toEqual([{ n: 1 }]);
    await world.put(modelSpec("t", "SELECT 2 AS a", { postExec: text("SELECT nowhere") }));
    expect(world.error("t")).toMatch(/models\/t\.yaml:1:8: Binder/);
    expect(await world.rows("FROM t")).toEqual([{ a: 1 }]);
  });
});

describe("partitions of a model", () => {
  const overwrite = { strategy: "partition_overwrite", partitionBy: "p" } as const;

  it("are loaded one by one, and overwrite those of the same value [44]", async () => {
    await using world = await modelWorld();
    const partitions = partitionsBy("SELECT range AS id FROM range(0, 10)");
    await world.put(
      modelSpec("a", "SELECT {{ .partition.id }} AS p, range AS num FROM range(0, 10)", {
        output: overwrite,
        partitions,
      }),
    );
    await world.put(modelSpec("b", "SELECT 1 AS p, range AS num FROM range(0, 10)", { output: overwrite, partitions }));
    const counts = "SELECT (SELECT count(*) FROM a) AS a, (SELECT count(*) FROM b) AS b";
    expect(await world.rows(counts)).toEqual([{ a: 100, b: 10 }]);
    expect(world.state("a")?.partitions).toEqual({ total: 10, pending: 0, failed: 0, skipped: 0 });
  });

  it("with errors are recorded and shown; the others are loaded; skipped ones are not [42]", async () => {
    await using world = await modelWorld();
    const partitions = partitionsBy("SELECT * FROM (VALUES ('1'), ('x'), ('3')) v(p)");
    await world.put(modelSpec("t", "SELECT '{{ .partition.p }}'::INTEGER AS p", { incremental: true, partitions }));
    expect(world.error("t")).toMatch(/^some partitions have errors \(1 of 3\).*"p":"x"/);
    expect(await world.rows("FROM t ORDER BY p")).toEqual([{ p: 1 }, { p: 3 }]);
    const failed = (await world.engine.partitions("t")).find((record) => record.error)!;
    await world.engine.savePartitions("t", [{ ...failed, skipped: true }]);
    await world.graph.reconcile(modelName("t"));
    expect(world.error("t")).toBeUndefined();
    expect(world.state("t")?.partitions).toMatchObject({ failed: 0, skipped: 1 });
  });

  it("are loaded alone on request, without looking for new ones [43]", async () => {
    await using world = await modelWorld();
    await world.put(modelSpec("days", "SELECT range AS p FROM range(2)", table));
    const spec = modelSpec("t", "SELECT {{ .partition.p }} AS p, now() AS at", {
      incremental: true,
      output: overwrite,
      partitions: partitionsBy("SELECT p FROM days"),
    });
    const refresh = { onRefs: false, disabled: false };
    await world.put({ ...spec, refresh }, ["days"]);
    const before = await world.engine.partitions("t");
    await world.clock.advance(1_000);
    await world.refresh("t", { partitions: [before[0]!.key] });
    const after = await world.engine.partitions("t");
    expect(after.map(({ executedOn }, at) => executedOn! - before[at]!.executedOn!)).toEqual([1_000, 0]);
    expect(await world.rows("SELECT count(*) AS n FROM t")).toEqual([{ n: 2 }]);
  });

  it("that are new, or whose watermark has grown, are loaded by the next run", async () => {
    await using world = await modelWorld();
    const list = (rows: string) => modelSpec("list", `SELECT * FROM (VALUES ${rows}) v(p, mark)`, table);
    await world.put(list("(1, 10), (2, 10)"));
    const spec = modelSpec("t", "SELECT {{ .partition.p }} AS p, {{ .partition.mark }} AS mark", {
      incremental: true,
      output: overwrite,
      partitions: partitionsBy("FROM list", { watermark: "mark" }),
      specHash: "t",
    });
    const own = { ...spec, incremental: true };
    await world.put(own, []);
    await world.put(list("(1, 10), (2, 11), (3, 1)"));
    await world.refresh("t");
    expect(await world.rows("FROM t ORDER BY p")).toEqual([
      { p: 1, mark: 10 },
      { p: 2, mark: 11 },
      { p: 3, mark: 1 },
    ]);
    expect((await world.engine.partitions("t")).map(({ watermark }) => watermark).sort()).toEqual(["1", "10", "11"]);
  });

  it("are files of a glob, loaded again when they change", async () => {
    await using world = await modelWorld();
    mkdirSync(join(world.folder, "d"));
    writeFileSync(join(world.folder, "d", "a.csv"), "x\n1\n");
    const partitions = { type: "glob", path: text("d/*.csv"), by: "file", concurrency: 1 } as const;
    const spec = modelSpec("t", "SELECT x, '{{ .partition.path }}' AS p FROM read_csv('{{ .partition.uri }}')", {
      incremental: true,
      output: overwrite,
      partitions,
    });
    await world.put(spec);
    writeFileSync(join(world.folder, "d", "b.csv"), "x\n2\n");
    await world.refresh("t");
    expect(await world.rows("FROM t ORDER BY x")).toEqual([
      { x: 1, p: "d/a.csv" },
      { x: 2, p: "d/b.csv" },
    ]);
  });

  it("of a full refresh are built aside; after an error the last good table stays, and the next attempt continues", async () => {
    await using world = await modelWorld();
    const spec = (value: string) =>
      modelSpec("t", `SELECT {{ .partition.p }} AS p, (${value})::INTEGER AS v`, {
        incremental: true,
        partitions: partitionsBy("SELECT range AS p FROM range(3)", { concurrency: 1 }),
      });
    await world.put(spec("1"));
    await world.put(spec("CASE WHEN {{ .partition.p }} = 2 THEN 'bad' ELSE '2' END"));
    expect(world.error("t")).toMatch(/some partitions have errors/);
    expect(await world.rows("SELECT sum(v) AS v FROM t")).toEqual([{ v: 3 }]);
    await world.put(spec("2"));
    expect(world.error("t")).toBeUndefined();
    expect(await world.rows("SELECT sum(v) AS v, count(*) AS n FROM t")).toEqual([{ v: 6, n: 3 }]);
    expect((await world.engine.inspect()).map((facts) => facts.table)).toEqual(["t"]);
    expect(await world.engine.partitions("t")).toHaveLength(3);
  });
});

describe("models in their own schema", () => {
  it("share unchanged tables with the main schema, and build the rest", async () => {
    await using world = await modelWorld();
    await world.put(modelSpec("a", "SELECT 1 AS x", table));
    await world.put(modelSpec("b", "SELECT x + 1 AS x FROM a", table), ["a"]);
    const main = world.engine;
    await using dev = await modelWorld({ schema: "dev", engineOf: () => main });
    await dev.put(modelSpec("a", "SELECT 1 AS x", table));
    await dev.put(modelSpec("b", "SELECT x + 10 AS x FROM a", table), ["a"]);
    expect(dev.state("a")).toMatchObject({ action: "share", type: "view" });
    expect(dev.state("b")).toMatchObject({ action: "replace", type: "table" });
    expect(await world.rows("SELECT (SELECT x FROM dev.b) AS dev, (SELECT x FROM b) AS main")).toEqual([
      { dev: 11, main: 2 },
    ]);
  });
});
