import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { FilesWorld } from "./files.testing.js";

const CSV = "a\n1\n2\n3\n";
const table = (sql: string): string => `-- @materialize: true\n${sql}\n`;

describe("tables of files", () => {
  it("are refreshed by a schedule if the data is no trigger [7]", async () => {
    const source =
      "type: source\npath: data/x.csv\ninvalidate_on_change: false\nrefresh: { every: 1s, run_in_dev: true }\n";
    await using world = await FilesWorld.of({ "data/x.csv": CSV, "sources/x.yaml": source });
    await world.settle();
    await world.settle({ "data/x.csv": "a\n1\n2\n" });
    expect(await world.count("x")).toBe(3);
    expect(world.resource("x")).toMatchObject({ status: "idle", runAgainOn: world.clock.now() + 1_000 });
    await world.clock.advance(1_000);
    await world.pipelines.waitUntilIdle();
    expect(await world.count("x")).toBe(2);
  });

  it("exchange names when all files were renamed at once [12]", async () => {
    await using world = await FilesWorld.of({
      "bar1.sql": table("SELECT 1 AS a"),
      "bar2.sql": table("SELECT range AS a FROM range(2)"),
    });
    await world.pipelines.waitUntilIdle();
    const runs = [world.state("bar1")?.runId, world.state("bar2")?.runId];
    world.move("bar2.sql", "bar3.sql");
    world.move("bar1.sql", "bar2.sql");
    await world.settle();
    expect(await world.tables()).toEqual(["bar2", "bar3"]);
    expect([await world.count("bar2"), await world.count("bar3")]).toEqual([1, 2]);
    expect([world.state("bar2")?.runId, world.state("bar3")?.runId]).toEqual(runs);
  });

  it("exist under the new name only if the file was renamed during a long run [13]", async () => {
    const waiting: ServerResponse[] = [];
    const server = createServer((_request, response) => void waiting.push(response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.csv`;
      await using world = await FilesWorld.of({ "sources/slow.yaml": `type: source\nuri: ${uri}\n` });
      await expect.poll(() => waiting.length).toBe(1);
      const aborted = new Promise((resolve) => waiting[0]!.once("close", resolve));
      world.move("sources/slow.yaml", "sources/other.yaml");
      await world.pipelines.reread();
      await aborted;
      await expect.poll(() => waiting.length).toBe(2);
      expect(world.resource("slow")).toBeUndefined();
      waiting[1]!.end(CSV);
      await world.pipelines.waitUntilIdle();
      expect(await world.tables()).toEqual(["other"]);
      expect(await world.count("other")).toBe(3);
      expect(world.error("other")).toBeUndefined();
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it("and of their readers stay if the source fails [19]", async () => {
    const source = "type: source\npath: data/x.csv\n";
    await using world = await FilesWorld.of({
      "data/x.csv": CSV,
      "sources/x.yaml": source,
      "models/m.sql": table("SELECT a FROM x"),
    });
    await world.pipelines.waitUntilIdle();
    await world.settle({ "sources/x.yaml": source.replace("x.csv", "none.csv") });
    expect(world.error("x")).toContain("none.csv");
    expect(world.error("m")).toMatch(/^dependency error: .*none\.csv/);
    expect(world.state("m")).toMatchObject({ table: "m", type: "table" });
    expect([await world.count("x"), await world.count("m")]).toEqual([3, 3]);
  });

  it("have many asserts, and all failing ones are named [41]", async () => {
    const asserts = "a > 0|a < 4|a IS NOT NULL|a IN (1, 2, 3)|a <> 9|a % 1 = 0|a BETWEEN 1 AND 3|typeof(a) = 'BIGINT'"
      .split("|")
      .flatMap((assert) => [assert, `NOT (NOT (${assert}))`]);
    const model = (tests: readonly string[]) =>
      ["type: model", "materialize: true", "sql: SELECT a FROM x", "tests:"]
        .concat(tests.map((assert, at) => `  - { name: t${at}, assert: "${assert}" }`))
        .join("\n");
    await using world = await FilesWorld.of({
      "data/x.csv": CSV,
      "sources/x.yaml": "type: source\npath: data/x.csv\n",
      "models/m.yaml": model(asserts),
    });
    await world.pipelines.waitUntilIdle();
    expect(asserts).toHaveLength(16);
    expect(world.error("m")).toBeUndefined();
    const built = world.state("m")!.builtOn;
    await world.clock.advance(5_000);
    await world.settle({ "models/m.yaml": model([...asserts, "a > 1", "a < 0"]) });
    expect(world.error("m")).toBe("tests failed: t16, t17");
    await world.settle({ "models/m.yaml": model(["a > 0"]) });
    expect(world.error("m")).toBeUndefined();
    expect(world.state("m")).toMatchObject({ action: "tests", builtOn: built });
    await world.settle({ "data/x.csv": "a\n-1\n" });
    expect(world.error("m")).toBe("tests failed: t0");
    expect(await world.count("m")).toBe(3);
  });
});

describe("incremental models", () => {
  const patch = (more = "") =>
    `type: model\nincremental: true\nchange_mode: patch\nsql: SELECT {{ if incremental }}2{{ else }}1{{ end }} AS a${more}\n`;

  it("in mode patch wait for a manual refresh, and then add to the table [39]", async () => {
    await using world = await FilesWorld.of({ "m.yaml": patch() });
    await world.pipelines.waitUntilIdle();
    expect(world.error("m")).toMatch(/paused.*manually trigger/);
    expect(await world.tables()).toEqual([]);
    await world.refresh("m", { full: true });
    expect(await world.rows("FROM m")).toEqual([{ a: 1 }]);
    await world.refresh("m");
    expect(await world.rows("FROM m ORDER BY a")).toEqual([{ a: 1 }, { a: 2 }]);
    await world.settle({ "m.yaml": patch(" -- new\n  LIMIT 1").replace("sql: ", "sql: |\n  ") });
    expect(await world.count("m")).toBe(2);
  });

  it("that are built in another database from now on leave the old table [40]", async () => {
    const other = "type: connector\ndriver: duckdb\npath: '{{ .env.file }}'\n";
    await using world = await FilesWorld.of({
      ".env": "file=other.duckdb\n",
      "connectors/other.yaml": other,
      "models/x.sql": table("SELECT 1 AS b"),
      "m.yaml": patch(", (SELECT max(b) FROM x) AS b"),
    });
    await world.refresh("m", { full: true });
    await world.refresh("m");
    await world.settle({ "models/x.sql": table("SELECT 2 AS b") });
    world.write({ "setpoint.yaml": "olap_connector: other\n" });
    await world.restart();
    expect(world.error("m")).toMatch(/paused/);
    await world.refresh("m", { full: true });
    expect(await world.rows("FROM m")).toEqual([{ a: 1, b: 2 }]);
    world.write({ "setpoint.yaml": "" });
    await world.restart();
    expect(world.error("m")).toBeUndefined();
    expect(await world.rows("FROM m ORDER BY ALL")).toEqual([
      { a: 1, b: 1 },
      { a: 2, b: 1 },
      { a: 2, b: 2 },
    ]);
  });

  it("load the partitions that can be loaded; the rest is an error until it is skipped [42]", async () => {
    const model = "type: model\nincremental: true\nsql: SELECT CAST('{{ .partition.p }}' AS INTEGER) AS a\n";
    await using world = await FilesWorld.of({
      "m.yaml": `${model}partitions: { sql: "SELECT unnest(['1', 'x', '3']) AS p" }\n`,
    });
    await world.pipelines.waitUntilIdle();
    expect(world.error("m")).toMatch(/^some partitions have errors \(1 of 3\)/);
    expect(await world.rows("FROM m ORDER BY a")).toEqual([{ a: 1 }, { a: 3 }]);
    const { engine, graph } = world.pipelines;
    const failed = (await engine.partitions("m")).find(({ error }) => error !== undefined)!;
    await engine.savePartitions("m", [{ ...failed, skipped: true }]);
    await graph.reconcile({ kind: "Model", name: "m" });
    await world.pipelines.waitUntilIdle();
    expect(world.error("m")).toBeUndefined();
    expect(await world.count("m")).toBe(2);
  });

  it("read the values of hive folders", async () => {
    await using world = await FilesWorld.of({
      "data/y=2024/m=1/a.csv": CSV,
      "data/y=2025/m=x%20y/a.csv": CSV,
      "m.yaml": `type: model
partitions: { glob: { path: "data/y=*/m=*/*.csv", partition: hive } }
sql: SELECT a, {{ .partition.y }} AS y, '{{ .partition.m }}' AS m FROM read_csv('{{ .partition.uri }}/*.csv')
`,
    });
    await world.pipelines.waitUntilIdle();
    expect(world.error("m")).toBeUndefined();
    expect(await world.rows("SELECT y, m, count(*) AS n FROM m GROUP BY ALL ORDER BY y")).toEqual([
      { y: 2024, m: "1", n: 3 },
      { y: 2025, m: "x y", n: 3 },
    ]);
  });
});

describe("a source over HTTP", () => {
  it("sends the headers of its connector and its own, with values of variables", async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      seen.push(headers.authorization, headers["x-own"] as string);
      response.end(CSV);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.csv`;
      await using world = await FilesWorld.of({
        ".env": "token=secret\n",
        "connectors/web.yaml":
          'type: connector\ndriver: https\nheaders: { Authorization: "Bearer {{ .env.token }}" }\n',
        "x.yaml": `type: source\nconnector: web\nuri: ${uri}\nheaders: { X-Own: "{{ .env.token }}!" }\n`,
      });
      await world.pipelines.waitUntilIdle();
      expect(world.error("x")).toBeUndefined();
      expect(seen).toEqual(["Bearer secret", "secret!"]);
      expect(await world.count("x")).toBe(3);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
