import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { modelIn, ParsingEngine, ProjectFolder, problemsIn, refsIn } from "./project-folder.testing.js";

const engine = new ParsingEngine();
afterAll(() => engine.close());

let folder: ProjectFolder;
beforeEach(async () => {
  folder = await ProjectFolder.create(engine, { "rill.yaml": "" });
});
afterEach(() => folder.remove());

/** The model of one file. */
async function model(path: string, text: string, environment = "dev") {
  await folder.put({ [path]: text });
  const project = await folder.parse({ environment });
  return modelIn(project, /([^/]+)\.\w+$/.exec(path)![1]!);
}

describe("where a model's rows come from", () => {
  it.each([
    ["m.yaml", "type: model\nsql: SELECT 1\n", { type: "sql", connector: "duckdb" }],
    ["m.yaml", "type: model\nconnector: duckdb\nsql: SELECT 1\n", { type: "sql", connector: "duckdb" }],
    ["sources/m.yaml", "connector: local_file\npath: data/x.csv\n", { type: "files", path: { text: "data/x.csv" } }],
    ["sources/m.yaml", "type: local_file\npath: data/x.csv\n", { type: "files", path: { text: "data/x.csv" } }],
    [
      "sources/m.yaml",
      "kind: source\nconnector: local_file\npath: data/x.csv\nformat: csv\n",
      { type: "files", format: "csv" },
    ],
    ["m.yaml", "type: source\npath: data/*.parquet\n", { type: "files", path: { text: "data/*.parquet" } }],
    ["m.yaml", "type: source\nconnector: duckdb\nsql: SELECT 1\n", { type: "sql", sql: { text: "SELECT 1" } }],
    [
      "sources/m.yaml",
      "type: https\nuri: https://x/y.csv\n",
      { type: "http", connector: "https", url: { text: "https://x/y.csv" } },
    ],
    [
      "m.yaml",
      "type: model\nconnector: https\npath: https://x/y.json\n",
      { type: "http", url: { text: "https://x/y.json" } },
    ],
    ["m.yaml", "type: source\nuri: https://x/y.csv\n", { type: "http" }],
    ["m.yaml", "type: source\nconnector: postgres\nsql: SELECT now() AT TIME ZONE 'x'\n", { type: "postgres" }],
    [
      "sources/m.yaml",
      "connector: local_file\npath: a.csv\nduckdb: { delim: \"'|'\" }\n",
      { type: "files", options: { duckdb: { delim: "'|'" } } },
    ],
  ])("%s: %j", async (path, text, expected) => {
    const { input, isSource, output } = await model(path, text);
    expect(input).toMatchObject(expected);
    if (isSource) expect(output.materialize).toBe(true);
  });

  it("a connector's file states its driver, and the model refers to it [49]", async () => {
    await folder.put({
      "connectors/pg.yaml": "type: connector\ndriver: postgres\ndsn: '{{ .env.dsn }}'\n",
      "m.yaml": "type: model\nconnector: pg\nsql: SELECT now()\n",
      ".env": "dsn=postgres://secret\n",
    });
    const parser = folder.parser();
    const project = await parser.parse();
    expect(problemsIn(project)).toEqual([]);
    expect(modelIn(project, "m").input).toMatchObject({ type: "postgres", connector: "pg" });
    expect(refsIn(project)).toEqual({ pg: [], m: ["pg"] });
    expect(project.resources[0]).toMatchObject({
      name: { kind: "Connector", name: "pg" },
      spec: { driver: "postgres", properties: { dsn: "{{ .env.dsn }}" }, variables: ["dsn"] },
    });
    await folder.remove("connectors/pg.yaml");
    const without = await parser.parse(["connectors/pg.yaml"]);
    expect(problemsIn(without)).toEqual([
      "error m.yaml:2:12: models cannot read from the connector pg yet: there are duckdb, local_file, https and postgres",
    ]);
    expect(without.broken.map(({ name }) => name.name)).toEqual(["m"]);
    await folder.put({ "rill.yaml": "connectors: [{ name: pg, type: postgres }]\n" });
    const again = await parser.parse(["rill.yaml"]);
    expect(modelIn(again, "m").input.type).toBe("postgres");
    expect(refsIn(again)).toEqual({ m: ["pg"], pg: [] });
  });

  it("connectors may be declared by the project file and by variables only", async () => {
    await folder.put({
      "rill.yaml": "connectors: [{ name: pg, type: postgres, defaults: { host: db } }]\n",
      ".env": "connector.postgres.dsn=postgres://secret\nconnector.pg.user=ada\nconnector.own.path=x.db\n",
      "connectors/own.yaml": "type: connector\ndriver: duckdb\n",
      "m.yaml": "type: model\nconnector: postgres\nsql: SELECT now()\n",
    });
    const project = await folder.parse();
    expect(problemsIn(project)).toEqual([]);
    expect(refsIn(project)).toEqual({ own: [], m: ["postgres"], pg: [], postgres: [] });
    const specs = project.resources
      .filter(({ name }) => name.kind === "Connector")
      .map(({ name, spec }) => [name.name, spec]);
    const variable = (name: string) => `{{ env "connector.${name}" }}`;
    expect(Object.fromEntries(specs)).toEqual({
      own: { driver: "duckdb", properties: { path: variable("own.path") }, variables: ["connector.own.path"] },
      pg: {
        driver: "postgres",
        properties: { host: "db", user: variable("pg.user") },
        variables: ["connector.pg.user"],
      },
      postgres: {
        driver: "postgres",
        properties: { dsn: variable("postgres.dsn") },
        variables: ["connector.postgres.dsn"],
      },
    });
    expect(JSON.stringify(project.resources)).not.toContain("secret");
  });

  it("a DuckDB connector with its own database is not mistaken for the one in which models are built", async () => {
    await folder.put({
      "connectors/other.yaml": "type: connector\ndriver: duckdb\npath: other.db\n",
      "in.yaml": "type: model\nconnector: other\nsql: SELECT 1\n",
      "out.yaml": "type: model\nsql: SELECT 1\noutput:\n  connector: other\n",
    });
    const parser = folder.parser();
    const text = "other is another database than duckdb, where models are built: ";
    const advice = 'attach it in "pre_exec:", or make it the olap_connector';
    expect(problemsIn(await parser.parse())).toEqual([
      `error in.yaml:2:12: ${text}${advice}`,
      `error out.yaml:4:3: ${text}${advice}`,
    ]);
    await folder.put({ "rill.yaml": "olap_connector: other\n" });
    expect(problemsIn(await parser.parse(["rill.yaml"]))).toEqual([]);
  });

  it("a YAML file and a SQL file of one name are one model", async () => {
    await folder.put({ "m.yaml": "type: model\nmaterialize: true\nincremental: true\n", "m.sql": "SELECT 1" });
    const project = await folder.parse();
    expect(project.resources).toHaveLength(1);
    expect(project.resources[0]).toMatchObject({ paths: ["m.sql", "m.yaml"], spec: { incremental: true } });
  });
});

describe("precedence", () => {
  it("defaults, then the file, then annotations, then the environment's settings [49]", async () => {
    await folder.put({
      "rill.yaml": "models: { materialize: false, timeout: 1s, incremental: true, change_mode: patch }\n",
      "m.yaml":
        "timeout: 2s\nchange_mode: manual\nmaterialize: false\ndev: { change_mode: reset }\nprod: { timeout: 9s }\n",
      "m.sql": "-- @materialize: true\n-- @change_mode: patch\n-- @output.incremental_strategy: append\nSELECT 1",
    });
    const dev = modelIn(await folder.parse(), "m");
    expect(dev).toMatchObject({
      timeoutMs: 2000,
      changeMode: "reset",
      incremental: true,
      output: { materialize: true },
    });
    const prod = modelIn(await folder.parse({ environment: "prod" }), "m");
    expect(prod).toMatchObject({ timeoutMs: 9000, changeMode: "patch" });
  });

  it("the SQL of the environment [49]", async () => {
    const text =
      "type: model\nsql: SELECT 1\nenvironment_overrides:\n  test: { sql: SELECT 2 }\nenv:\n  old: { sql: SELECT 3 }\n";
    expect((await model("m.yaml", text)).input).toMatchObject({ sql: { text: "SELECT 1" } });
    expect((await model("m.yaml", text, "test")).input).toMatchObject({ sql: { text: "SELECT 2" } });
    expect((await model("m.yaml", text, "old")).input).toMatchObject({ sql: { text: "SELECT 3" } });
  });

  it.each([
    ["SELECT 1", undefined],
    ["-- @materialize\nSELECT 1", true],
    ["-- @materialize: true\nSELECT 1", true],
    ["--@materialize: false\nSELECT 1", false],
    ["SELECT 1\n-- @materialize: true", true],
    ["SELECT 1 -- @materialize: true", undefined],
    ['{{ configure "materialize" true }}SELECT 1', true],
    ['{{ configure "materialize: true" }}SELECT 1', true],
  ])("annotations of %j [9]", async (text, materialize) => {
    expect((await model("m.sql", text)).output.materialize).toBe(materialize);
  });

  it("annotations can set type, name and connector", async () => {
    await folder.put({ "models/x.sql": "-- @type: source\n-- @name: y\n-- @connector: duckdb\nSELECT 1" });
    expect(modelIn(await folder.parse(), "y").isSource).toBe(true);
  });
});

describe("a model's settings", () => {
  it("have the defaults of Rill", async () => {
    expect(await model("m.sql", "SELECT 1")).toMatchObject({
      output: { connector: "duckdb", table: "m", strategy: "append", uniqueKey: [] },
      incremental: false,
      refresh: { onRefs: true, disabled: false },
      changeMode: "reset",
      retry: { attempts: 3, delayMs: 5000, exponential: true },
      timeoutMs: 10_800_000,
      tests: [],
      unitTests: [],
      isSource: false,
      files: [],
    });
  });

  it("are read from the file", async () => {
    const text = `
type: model
sql: SELECT '{{ .partition.uri }}' AS x
incremental: true
change_mode: manual
timeout: PT1H
pre_exec: ATTACH 'a;b.db' AS a; USE a
post_exec: DETACH a
state:
  sql: SELECT max(x) AS max FROM m
partitions:
  glob:
    path: data/y=*/*.parquet
    partition: directory
    transform_sql: SELECT * FROM {{ .table }} WHERE y IN (SELECT y FROM years)
partitions_watermark: seen_on
partitions_concurrency: 3
retry: { attempts: 2, delay: 10s, exponential_backoff: false, if_error_matches: [".*busy.*"] }
output:
  connector: duckdb
  materialize: true
  incremental_strategy: merge
  unique_key: [a, b]
  table: custom
tests:
  - name: positive
    assert: x > 0
  - name: none
    sql: SELECT * FROM custom WHERE x < 0
unit_tests:
  - name: doubles
    given: { a: [{ x: 1 }], b: [] }
    expect: [{ x: 2 }]
`;
    const spec = await model("m.yaml", text);
    expect(spec).toMatchObject({
      incremental: true,
      changeMode: "manual",
      timeoutMs: 3_600_000,
      preExec: { text: "ATTACH 'a;b.db' AS a; USE a" },
      postExec: { text: "DETACH a" },
      state: { text: "SELECT max(x) AS max FROM m" },
      partitions: {
        type: "glob",
        path: { text: "data/y=*/*.parquet" },
        by: "directory",
        transformSql: { text: "SELECT * FROM {{ .table }} WHERE y IN (SELECT y FROM years)" },
        watermark: "seen_on",
        concurrency: 3,
      },
      retry: { attempts: 2, delayMs: 10_000, exponential: false, matching: [".*busy.*"] },
      output: { table: "custom", materialize: true, strategy: "merge", uniqueKey: ["a", "b"] },
      tests: [
        { name: "positive", sql: { text: 'SELECT * FROM "custom" WHERE NOT (x > 0)' } },
        { name: "none", sql: { text: "SELECT * FROM custom WHERE x < 0" } },
      ],
      unitTests: [{ name: "doubles", given: { a: [{ x: 1 }], b: [] }, expect: [{ x: 2 }] }],
    });
    expect(spec.files.map(({ pattern }) => pattern)).toEqual(["data/y=*/*.parquet"]);
  });

  it.each([
    ["output: duckdb", { output: { connector: "duckdb" } }],
    ["output: { unique_key: id }", { output: { strategy: "merge", uniqueKey: ["id"] } }],
    ["splits: { sql: SELECT 1 AS x }", { partitions: { type: "sql", sql: { text: "SELECT 1 AS x" }, concurrency: 5 } }],
    ["partitions: { glob: { path: 'd/x=*/*.csv', partition: hive } }", { partitions: { type: "glob", by: "hive" } }],
    ["format: ndjson\nconnector: local_file\npath: x", { input: { type: "files", format: "json" } }],
    ["partitions: { glob: 'd/*.csv' }", { partitions: { type: "glob", by: "file", watermark: "updated_on" } }],
  ])("in short forms: %s", async (line, expected) => {
    expect(await model("m.yaml", `type: model\nsql: SELECT 1\n${line}\n`)).toMatchObject(expected);
  });

  it.each([
    ["cron: '0 6 * * 1-5'", "dev", { onRefs: true, disabled: false }],
    ["cron: '0 6 * * 1-5'", "prod", { cron: "0 6 * * 1-5", onRefs: true, disabled: false }],
    ["cron: '0 6 * * 1-5'\n  run_in_dev: true", "dev", { cron: "0 6 * * 1-5", onRefs: true, disabled: false }],
    ["cron: '@daily'\n  ref_update: false", "prod", { cron: "@daily", onRefs: false, disabled: false }],
    [
      "every: 24h\n  time_zone: Europe/Berlin",
      "prod",
      { everyMs: 86_400_000, onRefs: true, timeZone: "Europe/Berlin", disabled: false },
    ],
    ["every: 90", "prod", { everyMs: 90_000, onRefs: true, disabled: false }],
    ["disable: true\n  cron: '@daily'", "prod", { onRefs: false, disabled: true }],
    [
      "cron: '*/5 0,12 1-15/2 JAN-mar sun'",
      "prod",
      { cron: "*/5 0,12 1-15/2 JAN-mar sun", onRefs: true, disabled: false },
    ],
  ])("refresh: %s in %s [7, 49]", async (refresh, environment, expected) => {
    const spec = await model("m.yaml", `type: model\nsql: SELECT 1\nrefresh:\n  ${refresh}\n`, environment);
    expect(spec.refresh).toEqual(expected);
  });
});

describe("the hash of a spec", () => {
  const hashes = async (path: string, left: string, right: string) => {
    const [one, two] = [await model(path, left), await model(path, right)];
    return { spec: one.specHash === two.specHash, test: one.testHash === two.testHash };
  };
  const yaml = (line: string) => `type: model\nsql: SELECT 1 AS x\n${line}\n`;

  it.each([
    ["m.sql", "SELECT a, 'B' FROM t", "select  A, 'B' -- note\nfrom T;"],
    [
      "m.sql",
      "SELECT {{ if incremental }}1{{ else }}2{{ end }}",
      "SELECT {{if incremental}} 1 {{else}} 2 {{end}} -- x",
    ],
    ["m.yaml", yaml("description: x"), yaml("description: y\ntimeout: 3s\nrefresh: { every: 3s }")],
    ["m.sql", "-- @tags: [a]\nSELECT 1", "SELECT 1"],
  ])("stays for changes that do not affect the table: %s %j", async (path, left, right) => {
    expect((await hashes(path, left, right)).spec).toBe(true);
  });

  it.each([
    ["m.sql", "SELECT 'b'", "SELECT 'B'"],
    ["m.sql", "-- @materialize: true\nSELECT 1", "SELECT 1"],
    ["m.sql", "SELECT {{ .partition.a }}", "SELECT {{ .partition.b }}"],
    ["m.sql", "SELECT 1 {{ if gt .state.n 5 }}LIMIT 1{{ end }}", "SELECT 1 {{ if gt .state.n 6 }}LIMIT 1{{ end }}"],
    ["m.yaml", yaml("incremental: true"), yaml("incremental: false")],
    ["m.yaml", yaml("output: { unique_key: a }"), yaml("output: { unique_key: b }")],
    ["m.yaml", yaml("partitions: { sql: SELECT 1 AS x }"), yaml("partitions: { sql: SELECT 2 AS x }")],
    ["m.yaml", yaml("pre_exec: SET threads = 1"), yaml("pre_exec: SET threads = 2")],
    ["m.yaml", "type: source\npath: a.csv\n", "type: source\npath: b.csv\n"],
    ["m.yaml", "type: source\npath: a.csv\n", "type: source\npath: a.csv\nduckdb: { delim: x }\n"],
  ])("changes with the table's content: %s %j", async (path, left, right) => {
    expect((await hashes(path, left, right)).spec).toBe(false);
  });

  it("of the tests changes with the tests alone [41]", async () => {
    const left = yaml("tests: [{ name: t, assert: x > 0 }]");
    expect(await hashes("m.yaml", left, yaml("tests: [{ name: t, assert: x > 1 }]"))).toEqual({
      spec: true,
      test: false,
    });
    expect(await hashes("m.yaml", left, left)).toEqual({ spec: true, test: true });
    const unit = yaml("unit_tests: [{ name: t, expect: [{ x: 1 }] }]");
    expect(await hashes("m.yaml", yaml(""), unit)).toEqual({ spec: true, test: false });
  });

  it("stays when the file is renamed [11]", async () => {
    const text = "type: model\nsql: SELECT 1 AS x\nincremental: true\ntests: [{ name: t, assert: x > 0 }]\n";
    const [one, two] = [await model("a.yaml", text), await model("b.yaml", text)];
    expect([one.specHash, one.testHash]).toEqual([two.specHash, two.testHash]);
  });
});

describe("the hashes of a model that refers to itself", () => {
  const text = (name: string, state = "max(x)") => `
type: model
incremental: true
sql: SELECT 1 AS x {{ if incremental }} WHERE 1 > (SELECT max(${name}.x) FROM main.${name}) {{ end }}
state: { sql: SELECT ${state} AS last FROM ${name} }
pre_exec: CREATE TABLE IF NOT EXISTS log (x INTEGER)
post_exec: INSERT INTO log SELECT count(*) FROM ${name}; UPDATE ${name} SET x = 1
tests:
  - { name: some, sql: 'SELECT * FROM "${name}" WHERE ${name}.x IS NULL' }
  - { name: all, assert: ${name}.x > 0 }
`;

  it("are the same under another name [11]", async () => {
    const [a, b] = [await model("a.yaml", text("a")), await model("B.yaml", text("B"))];
    expect([b.specHash, b.testHash]).toEqual([a.specHash, a.testHash]);
    expect(b.textHash).not.toBe(a.textHash);
  });

  it("differ if another table is named, and if the SQL differs", async () => {
    const hashes = async (path: string, sql: string) => {
      const { specHash, testHash } = await model(path, sql);
      return [specHash, testHash];
    };
    const [spec, test] = await hashes("a.yaml", text("a"));
    const [otherSpec, otherTest] = await hashes("c.yaml", text("a"));
    expect([otherSpec === spec, otherTest === test]).toEqual([false, false]);
    expect((await hashes("d.yaml", text("d", "min(x)")))[0]).not.toBe(spec);
    // A column with the name of a model is a column.
    const column = (name: string) => `SELECT ${name} FROM other`;
    expect((await hashes("e.sql", column("e")))[0]).not.toBe((await hashes("f.sql", column("f")))[0]);
    // A table of another schema is no model.
    const schema = (name: string) => `SELECT * FROM other.${name}`;
    expect((await hashes("g.sql", schema("g")))[0]).not.toBe((await hashes("h.sql", schema("h")))[0]);
  });

  it("keep the hash of the text if the file was moved unchanged", async () => {
    const [a, b] = [await model("a.yaml", text("a")), await model("b.yaml", text("a"))];
    expect(b.textHash).toBe(a.textHash);
  });
});

describe("local files", () => {
  it("are in the spec with their content, which alone changes it [7]", async () => {
    await folder.put({
      "data/a.csv": "x\n1\n",
      "data/b.csv": "x\n2\n",
      "m.sql": "SELECT * FROM 'data/*.csv'",
      "n.sql": "SELECT * FROM read_csv('data/a.csv') JOIN 'https://x/y.csv' USING (x)",
      "s.yaml": "type: source\nconnector: local_file\npath: data/a.csv\n",
      "t.yaml": "type: source\nconnector: local_file\npath: data/a.csv\ninvalidate_on_change: false\n",
      "o.sql": "SELECT 1",
    });
    const parser = folder.parser();
    const files = async (changed?: string[]) => {
      const project = await parser.parse(changed);
      return Object.fromEntries(project.resources.map(({ name }) => [name.name, modelIn(project, name.name).files]));
    };
    const first = await files();
    expect(Object.entries(first).map(([name, some]) => [name, some.map(({ pattern }) => pattern)])).toEqual([
      ["m", ["data/*.csv"]],
      ["n", ["data/a.csv"]],
      ["o", []],
      ["s", ["data/a.csv"]],
      ["t", []],
    ]);
    const { dataFilesRead } = parser.work;
    expect(await files()).toEqual(first);
    expect(parser.work.dataFilesRead).toBe(dataFilesRead);

    await folder.put({ "data/a.csv": "x\n3\n" });
    const second = await files(["data/a.csv"]);
    expect(
      Object.keys(second).filter((name) => second[name]![0]?.fingerprint !== first[name]![0]?.fingerprint),
    ).toEqual(["m", "n", "s"]);
    await folder.put({ "data/c.csv": "x\n4\n" });
    const third = await files(["data/c.csv"]);
    expect(third.m).not.toEqual(second.m);
    expect(third.n).toEqual(second.n);
    await folder.remove("data/c.csv");
    expect(await files(["data/c.csv"])).toEqual(second);
    await folder.put({ "data/a.csv": "x\n1\n" });
    expect(await files()).toEqual(first);
    await folder.remove("data");
    expect((await files()).s).not.toEqual(first.s);
  });
});
