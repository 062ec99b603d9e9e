import { describe, expect, it, vi } from "vitest";
import { type CommandProcess, ProjectFolder } from "./testing/project-folder.js";

const SOURCE = "type: source\nconnector: local_file\npath: data/foo.csv\n";
const CSV = "a,b,c\n1,2,3\n4,5,6\n7,8,9\n";

const eventually = <T>(work: () => Promise<T>) => vi.waitFor(work, { timeout: 30_000, interval: 50 });

/** Name and type of all tables and views except the engine's own. */
const tables = async (project: ProjectFolder): Promise<Record<string, string>> => {
  const rows = await project.rows(
    "SELECT table_name AS name, table_type AS type FROM information_schema.tables WHERE table_schema = 'main'",
  );
  return Object.fromEntries(rows.map(({ name, type }) => [name, type])) as Record<string, string>;
};

describe("a project under run", () => {
  it("builds source and model in order, a table and a view [1]; a broken source affects nothing else [2]", async () => {
    using project = ProjectFolder.with({
      "data/foo.csv": CSV,
      "sources/foo.yaml": SOURCE,
      "models/bar.sql": "SELECT * FROM foo",
      "dashboards/dash.yaml": "type: metrics_view\nmodel: bar\nmeasures:\n  - expression: count(*)\n",
    });
    expect(await project.run()).toMatchObject({ code: 0, executed: ["bar", "foo"], settled: [], failed: [] });
    expect(await tables(project)).toMatchObject({ foo: "BASE TABLE", bar: "VIEW" });
    expect(await project.rows("SELECT count(*) AS n FROM bar")).toEqual([{ n: 3 }]);
    project.write("sources/foo.yaml", `${SOURCE}  bad: [`);
    const broken = await project.run();
    expect(broken).toMatchObject({ code: 1, executed: [], failed: ["foo"] });
    expect(broken.err).toMatch(/sources\/foo\.yaml:\d+:\d+: /);
    expect(await project.rows("SELECT count(*) AS n FROM bar")).toEqual([{ n: 3 }]);
    project.write("sources/foo.yaml", SOURCE);
    expect(await project.run()).toMatchObject({ code: 0, executed: [], failed: [] });
  });

  it("restores a dropped table, and its dependents stay as they were; keeps the table if the path is missing [3]", async () => {
    using project = ProjectFolder.with({
      "data/foo.csv": CSV,
      "sources/foo.yaml": SOURCE,
      "models/bar.sql": "-- @materialize: true\nSELECT count(*) AS n FROM foo",
    });
    await project.run();
    await project.byHand("DROP TABLE foo");
    expect(await project.run()).toMatchObject({ code: 0, executed: ["foo"], settled: ["bar"] });
    expect(await project.rows("SELECT count(*) AS n FROM foo")).toEqual([{ n: 3 }]);
    project.write("sources/foo.yaml", SOURCE.replace("foo.csv", "nowhere.csv"));
    const { code, failed, err } = await project.run();
    expect({ code, failed }).toEqual({ code: 1, failed: ["bar", "foo"] });
    expect(err).toContain("nowhere.csv");
    expect(await project.rows("SELECT count(*) AS n FROM foo")).toEqual([{ n: 3 }]);
    project.write("sources/foo.yaml", SOURCE);
    expect(await project.run()).toMatchObject({ code: 0, executed: [], failed: [] });
  });

  it("restores tables that were altered or written to, and a view that became a table", async () => {
    using project = ProjectFolder.with({
      "models/foo.sql": "-- @materialize: true\nSELECT range AS a FROM range(3)",
      "models/bar.sql": "SELECT a + 1 AS b FROM foo",
    });
    await project.run();
    await project.byHand("INSERT INTO foo VALUES (99)");
    expect(await project.run()).toMatchObject({ executed: ["foo"] });
    expect(await project.rows("SELECT count(*) AS n FROM bar")).toEqual([{ n: 3 }]);
    await project.byHand("ALTER TABLE foo ADD COLUMN z INTEGER");
    expect(await project.run()).toMatchObject({ executed: ["foo"] });
    await project.byHand("DROP VIEW bar; CREATE TABLE bar AS SELECT 1 AS b");
    expect(await project.run()).toMatchObject({ executed: ["bar"] });
    expect(await tables(project)).toMatchObject({ foo: "BASE TABLE", bar: "VIEW" });
  });

  it("runs for new data, and refreshes on request [4]", async () => {
    using project = ProjectFolder.with({ "data/foo.csv": CSV, "sources/foo.yaml": SOURCE });
    await project.run();
    project.write("data/foo.csv", "a,b,c\n1,2,3\n");
    expect(await project.run()).toMatchObject({ executed: ["foo"] });
    expect(await project.rows("SELECT count(*) AS n FROM foo")).toEqual([{ n: 1 }]);
    const { code, out } = await project.say("refresh", ["foo", "-o", "json"]);
    expect({ code, refreshed: JSON.parse(out) }).toEqual({ code: 0, refreshed: [{ kind: "Model", name: "foo" }] });
    expect(await project.run()).toMatchObject({ executed: [], settled: ["foo"] });
  });

  it("deletes, renames and creates at once [5]", async () => {
    using project = ProjectFolder.with({
      "models/bar.sql": "-- @materialize: true\nSELECT 1 AS a",
      "models/foo.sql": "-- @materialize: true\nSELECT 2 AS a",
    });
    await project.run();
    project.remove("models/bar.sql");
    project.move("models/foo.sql", "models/foo_two.sql");
    project.write("models/bazz.sql", "SELECT 3 AS a");
    expect(await project.run()).toMatchObject({ executed: ["bazz"], settled: ["foo_two"], failed: [] });
    expect(Object.keys(await tables(project)).sort()).toEqual(["bazz", "foo_two"]);
  });

  it("keeps the last good table of a file with a syntax error, and names the position [6]", async () => {
    using project = ProjectFolder.with({ "models/bar.sql": "SELECT range AS a\nFROM range(3)" });
    await project.run();
    project.write("models/bar.sql", "SELECT range AS a\nFRO range(3)");
    const broken = await project.run();
    expect(broken).toMatchObject({ code: 1, executed: [], failed: ["bar"] });
    expect(broken.err).toMatch(/models\/bar\.sql:2:\d+: /);
    expect(await project.rows("SELECT count(*) AS n FROM bar")).toEqual([{ n: 3 }]);
    project.write("models/bar.sql", "SELECT range AS a\nFROM range(3) LIMIT 1");
    expect(await project.run()).toMatchObject({ code: 0, executed: ["bar"] });
    expect(await project.rows("SELECT count(*) AS n FROM bar")).toEqual([{ n: 1 }]);
  });

  it("lets the earlier path win if two files declare one name [8]", async () => {
    using project = ProjectFolder.with({ "data/foo.csv": CSV, "sources/foo.yaml": SOURCE });
    await project.run();
    project.write("models/foo.sql", "SELECT 1 AS other");
    const both = await project.run();
    expect(both.code).toBe(1);
    expect(both.err).toMatch(/(models\/foo\.sql|sources\/foo\.yaml).*foo/);
    project.remove("models/foo.sql");
    expect(await project.run()).toMatchObject({ code: 0, failed: [] });
    expect(await project.rows("SELECT count(*) AS n FROM foo")).toEqual([{ n: 3 }]);
  });

  it("renames tables with their files, also in case only [10]", async () => {
    using project = ProjectFolder.with({
      "data/foo.csv": CSV,
      "sources/foo.yaml": SOURCE,
      "models/bar.sql": "-- @materialize: true\nSELECT * FROM foo",
    });
    await project.run();
    project.move("models/bar.sql", "models/bar_new.sql");
    expect(await project.run()).toMatchObject({ code: 0, executed: [], settled: ["bar_new", "foo"] });
    expect(Object.keys(await tables(project)).sort()).toEqual(["bar_new", "foo"]);
    project.move("models/bar_new.sql", "models/Bar_New.sql");
    expect(await project.run()).toMatchObject({ code: 0, executed: [] });
    expect(Object.keys(await tables(project)).sort()).toEqual(["Bar_New", "foo"]);
    project.write("models/baz.sql", "SELECT * FROM Bar_New");
    expect(await project.run()).toMatchObject({ executed: ["baz"] });
    const { out } = await project.say("graph", ["-o", "json"]);
    expect(JSON.parse(out).nodes).toContainEqual({
      kind: "Model",
      name: "baz",
      refs: [{ kind: "Model", name: "Bar_New" }],
    });
  });

  const counter = (own: string) => `type: model
incremental: true
sql: SELECT {{ if incremental }}{{ .state.last }} + 1 AS x FROM ${own} LIMIT 1{{ else }}1 AS x{{ end }}
state: { sql: SELECT max(${own}.x) AS last FROM ${own} }
tests:
  - { name: positive, sql: SELECT * FROM ${own} WHERE x < 1 }
`;

  it("keeps the rows of a renamed model that refers to its own table in SQL, state and tests [11]", async () => {
    using project = ProjectFolder.with({ "models/a.yaml": counter("a") });
    await project.run();
    await project.say("refresh", ["a"]);
    const rows = [{ x: 1 }, { x: 2 }];
    expect(await project.rows("FROM a ORDER BY x")).toEqual(rows);
    project.remove("models/a.yaml");
    project.write("models/b.yaml", counter("b"));
    expect(JSON.parse((await project.say("plan", ["-o", "json"])).out)).toMatchObject([
      { name: "b", action: "rename" },
    ]);
    expect(await project.run()).toMatchObject({ code: 0, executed: [], settled: ["b"], failed: [] });
    expect(await project.rows("FROM b ORDER BY x")).toEqual(rows);
    // A moved and unedited file refers to a table that is gone: an error, but no loss.
    project.move("models/b.yaml", "models/c.yaml");
    const moved = await project.run();
    expect(moved).toMatchObject({ code: 1, executed: [], failed: ["c"] });
    expect(moved.err).toMatch(/models\/c\.yaml:\d+:\d+: .*\bb\b/);
    expect(await project.rows("FROM c ORDER BY x")).toEqual(rows);
    project.write("models/c.yaml", counter("c"));
    expect(await project.run()).toMatchObject({ code: 0, executed: [], settled: ["c"] });
    expect(Object.keys(await tables(project))).toEqual(["c"]);
    expect(await project.rows("FROM c ORDER BY x")).toEqual(rows);
  });

  it("keeps all tables of a chain whose head fails, and names the head in each error [15]", async () => {
    using project = ProjectFolder.with({
      "data/foo.csv": CSV,
      "sources/foo.yaml": SOURCE,
      "models/bar1.sql": "SELECT * FROM foo",
      "models/bar2.sql": "SELECT * FROM bar1",
      "models/bar3.sql": "SELECT * FROM bar2",
    });
    await project.run();
    project.write("sources/foo.yaml", SOURCE.replace("foo.csv", "nowhere.csv"));
    const { failed, err } = await project.run();
    expect(failed).toEqual(["bar1", "bar2", "bar3", "foo"]);
    expect(err).toMatch(/Model\/bar3: dependency error: .*Model\/foo/);
    expect(await project.rows("SELECT count(*) AS n FROM bar3")).toEqual([{ n: 3 }]);
  });
});

describe("a project under start", () => {
  const fresh = (process: CommandProcess, name: string) =>
    process.out.split("\n").filter((line) => line.includes(`"name":"${name}"`) && !line.includes('"error"')).length;

  it("follows files as they appear one by one [20]", async () => {
    using project = ProjectFolder.with({ "data/foo.csv": CSV });
    await using start = project.spawn("start", ["--port", "0", "-o", "json"]);
    await eventually(async () => expect(start.out).toContain('"serving"'));
    project.write("sources/foo.yaml", SOURCE);
    await eventually(async () => expect(fresh(start, "foo"), start.err).toBeGreaterThan(0));
    project.write("models/bar.sql", "-- @materialize: true\nSELECT * FROM foo");
    await eventually(async () => expect(fresh(start, "bar")).toBeGreaterThan(0));
    // The first process answers the second one.
    expect(await project.rows("SELECT count(*) AS n FROM bar")).toEqual([{ n: 3 }]);
    project.write("data/foo.csv", `${CSV}10,11,12\n`);
    await eventually(async () => expect(await project.rows("SELECT count(*) AS n FROM bar")).toEqual([{ n: 4 }]));
    project.remove("models/bar.sql");
    await eventually(async () => expect(start.out).toContain('{"type":"removed","kind":"Model","name":"bar"}'));
    start.child.kill("SIGINT");
    expect(await start.ended).toEqual({ code: 0, signal: null });
  });
});
