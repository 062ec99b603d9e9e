import { rename } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileKind } from "./file-kind.js";
import { changesBetween, modelIn, ParsingEngine, ProjectFolder, problemsIn, refsIn } from "./project-folder.testing.js";
import { textAt } from "./setting.js";

const engine = new ParsingEngine();
afterAll(() => engine.close());

let folder: ProjectFolder;
beforeEach(async () => {
  engine.batches.length = 0;
  folder = await ProjectFolder.create(engine, { "rill.yaml": "" });
});
afterEach(() => folder.remove());

describe("a project", () => {
  it("declares its models with their refs, in one batch of statements", async () => {
    await folder.put({
      "models/a.sql": "SELECT 1 AS x",
      "models/b.sql": "-- @materialize: true\nSELECT * FROM a WHERE x IN (SELECT x FROM c)",
      "c.yaml": "type: model\nsql: FROM a\ntags: [core]\n",
    });
    const project = await folder.parse();
    expect(problemsIn(project)).toEqual([]);
    expect(refsIn(project)).toEqual({ a: [], b: ["a", "c"], c: ["a"] });
    expect(project.resources.map(({ paths, tags }) => [paths, tags])).toEqual([
      [["c.yaml"], ["core"]],
      [["models/a.sql"], []],
      [["models/b.sql"], []],
    ]);
    expect(modelIn(project, "b").output).toMatchObject({ table: "b", materialize: true, connector: "duckdb" });
    expect(engine.batches.map((batch) => batch.length)).toEqual([3]);
  });

  it("lists files of kinds that are not run, without errors", async () => {
    await folder.put({
      "dashboards/d.yaml": "model: a\n",
      "m.yaml": "type: metrics_view\nnonsense: [",
      "x.yaml": "type: explore\nname: y\n",
      "api.yaml": "type: api\nsql: SELECT 1 FRM\n",
      "init.sql": "INSTALL x;",
    });
    const project = await folder.parse();
    expect(project.unrun.map(({ path, kind, name }) => `${path} ${kind} ${name}`)).toEqual([
      "api.yaml API api",
      "dashboards/d.yaml MetricsView d",
      "init.sql Migration init",
      "x.yaml Explore y",
    ]);
    expect(project.resources).toEqual([]);
  });

  it("ignores case, and gives refs the case of the declaration [10]", async () => {
    await folder.put({ "Bar_New.sql": "SELECT 1", "x.sql": "FROM bar_new", "y.sql": 'FROM {{ ref "BAR_NEW" }}' });
    expect(refsIn(await folder.parse())).toEqual({ Bar_New: [], x: ["Bar_New"], y: ["Bar_New"] });
  });
});

describe("passes after the first [46]", () => {
  it("report exactly what was added, changed and removed, and read only that", async () => {
    await folder.put({ "a.sql": "SELECT 1 AS x", "b.sql": "FROM a" });
    const parser = folder.parser();
    const steps = [await parser.parse()];
    const step = async (changed: string[]) => {
      const before = parser.work;
      steps.push(await parser.parse(changed));
      const { filesRead, resourcesParsed } = parser.work;
      return {
        ...changesBetween(steps.at(-2)!, steps.at(-1)!),
        read: filesRead - before.filesRead,
        parsed: resourcesParsed - before.resourcesParsed,
      };
    };
    const nothing = { added: [], modified: [], deleted: [] };
    expect(await step([])).toEqual({ ...nothing, read: 0, parsed: 0 });
    await folder.put({ "c.sql": "FROM b" });
    expect(await step(["c.sql"])).toEqual({ ...nothing, added: ["c"], read: 1, parsed: 1 });
    await folder.put({ "b.yaml": "materialize: true\n" });
    expect(await step(["b.yaml"])).toEqual({ ...nothing, modified: ["b"], read: 1, parsed: 1 });
    await folder.put({ "a.sql": "SELECT 2 AS x" });
    expect(await step(["a.sql"])).toEqual({ ...nothing, modified: ["a"], read: 1, parsed: 1 });

    await folder.put({ "d.yaml": "type: model\nname: A\nsql: SELECT 1\n" });
    expect(await step(["d.yaml"])).toEqual({ ...nothing, read: 1, parsed: 1 });
    expect(problemsIn(steps.at(-1)!)).toEqual(["error d.yaml:2:7: the name A is taken by a.sql"]);
    expect(steps.at(-1)!.problems[0]!.external).toBe(true);

    await folder.put({ "c.sql": "FROM b WHERE" });
    expect(await step(["c.sql"])).toMatchObject({ ...nothing, deleted: ["c"] });
    expect(steps.at(-1)!.broken.map(({ name }) => name)).toEqual([{ kind: "Model", name: "c" }]);
    await folder.remove("c.sql");
    expect(await step(["c.sql"])).toEqual({ ...nothing, read: 0, parsed: 0 });
    expect(steps.at(-1)!.broken).toEqual([]);
    await folder.remove("b.sql");
    await folder.remove("b.yaml");
    expect(await step(["b.sql", "b.yaml"])).toMatchObject({ ...nothing, deleted: ["b"] });
  });

  it("equal the result of a fresh parser, also after folders were added and removed", async () => {
    await folder.put({ "models/a.sql": "SELECT 1", "models/sub/b.sql": "FROM a" });
    const parser = folder.parser();
    await parser.parse();
    await rename(join(folder.path, "models/sub"), join(folder.path, "models/other"));
    expect(await parser.parse(["models/sub", "models/other/b.sql"])).toEqual(await folder.parse());
    await folder.put({ "models/new/deep/c.sql": "FROM b" });
    expect(await parser.parse(["models/new"])).toEqual(await folder.parse());
    await folder.remove("models");
    expect(await parser.parse(["models"])).toEqual(await folder.parse());
    expect((await parser.parse()).resources).toEqual([]);
  });

  it("do not send a statement again that was parsed before", async () => {
    await folder.put({ "a.sql": "SELECT 1", ".env": "x=1\n" });
    const parser = folder.parser();
    await parser.parse();
    await folder.put({ ".env": "x=2\n", "b.sql": "SELECT 2" });
    await parser.parse();
    expect(engine.batches).toEqual([["SELECT 1"], ["SELECT 2"]]);
  });

  it("that overlap follow each other", async () => {
    await folder.put({ "a.sql": "SELECT 1" });
    const parser = folder.parser();
    const first = parser.parse();
    await folder.put({ "b.sql": "FROM a" });
    const second = parser.parse(["b.sql"]);
    await first;
    expect(refsIn(await second)).toEqual({ a: [], b: ["a"] });
  });

  it("make up for a pass in which the engine failed", async () => {
    await folder.put({ "a.sql": "SELECT 1" });
    let isDown = true;
    const parser = folder.parser({
      engine: { parse: (some) => (isDown ? Promise.reject(new Error("down")) : engine.parse(some)) },
    });
    await expect(parser.parse()).rejects.toThrow("down");
    isDown = false;
    expect(refsIn(await parser.parse([]))).toEqual({ a: [] });
  });
});

describe("refs implied by SQL [47]", () => {
  it("change with the file of the model", async () => {
    await folder.put({ "foo.sql": "SELECT * FROM bar" });
    const parser = folder.parser();
    const alone = await parser.parse();
    expect(refsIn(alone)).toEqual({ foo: [] });
    expect(problemsIn(alone)).toEqual(["warning foo.sql:1:15: no model is called bar"]);
    await folder.put({ "bar.sql": "SELECT 1" });
    const both = await parser.parse(["bar.sql"]);
    expect(changesBetween(alone, both)).toEqual({ added: ["bar"], modified: ["foo"], deleted: [] });
    expect(refsIn(both)).toEqual({ bar: [], foo: ["bar"] });
    await folder.remove("bar.sql");
    expect(await parser.parse(["bar.sql"])).toEqual(alone);
  });

  it("come from every SQL field, from all branches, with correct scoping [50]", async () => {
    const plain = ["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => [`${name}.sql`, "SELECT 1 AS x"]);
    await folder.put(Object.fromEntries(plain));
    await folder.put({
      "in.sql": "SELECT * FROM a WHERE x IN (SELECT x FROM b)",
      "scalar.sql": "SELECT (SELECT max(x) FROM a)",
      "self_cte.sql": "WITH a AS (SELECT * FROM a) FROM a",
      "qualified.sql": "SELECT * FROM other.a, main.b",
      "branches.sql":
        "SELECT * FROM {{ if dev }}a{{ else if prod }}b{{ else }}c{{ end }} {{ if incremental }}, d{{ end }}",
      "unknown.sql":
        "SELECT * FROM a {{ if .state.x }}JOIN b USING (x){{ else }}JOIN c USING (x){{ end }} WHERE x > {{ .state.x }}",
      "env.sql": 'SELECT * FROM {{ if eq .env.mode "full" }}a{{ else }}b{{ end }}',
      "explicit.sql": 'SELECT 1 {{ dependency "h" }}',
      "pivot.sql": "PIVOT a ON x USING count(*)",
      "fields.yaml": `
type: model
incremental: true
sql: SELECT * FROM a WHERE y = '{{ .partition.y }}' AND x > {{ .state.max }}
partitions: { sql: SELECT x AS y FROM b }
state: { sql: 'SELECT max(x) AS max FROM fields, c' }
pre_exec: CREATE TEMP TABLE t AS FROM d
post_exec: DELETE FROM fields WHERE x IN (FROM e)
tests:
  - { name: one, sql: SELECT 1 FROM f WHERE false }
  - { name: two, assert: x IN (SELECT x FROM g) }
refs: [model/h]
`,
      ".env": "mode=full\n",
    });
    const project = await folder.parse();
    expect(problemsIn(project)).toEqual([]);
    expect(refsIn(project)).toMatchObject({
      in: ["a", "b"],
      scalar: ["a"],
      self_cte: ["a"],
      qualified: ["b"],
      branches: ["a", "b", "c", "d"],
      unknown: ["a", "b", "c"],
      env: ["a", "b"],
      explicit: ["h"],
      pivot: ["a"],
      fields: ["a", "b", "c", "d", "e", "f", "g", "h"],
    });
  });

  it("an unknown name is a warning with suggestions; an unknown ref is an error", async () => {
    await folder.put({
      "orders.sql": "SELECT 1",
      "a.sql": "SELECT *\nFROM order",
      "b.sql": "SELECT *\nFROM ordes",
      "c.sql": 'SELECT *\nFROM {{ ref "ordesr" }}',
      "d.yaml": "type: model\nsql: SELECT 1\nrefs:\n  - { type: model, name: nothing }\n",
      "e.yaml": "type: model\nsql: SELECT 1\nrefs: [modl/orders]\n",
      "f.sql": "SELECT * FROM duckdb_tables, sqlite_master",
    });
    const project = await folder.parse();
    expect(problemsIn(project)).toEqual([
      'error a.sql:2:6: syntax error at or near "order"',
      "warning b.sql:2:6: no model is called ordes; did you mean orders?",
      "error c.sql:2:13: there is no resource called ordesr; did you mean orders?",
      "error d.yaml:4:5: there is no model called nothing",
      "error e.yaml:3:8: there is no type modl; did you mean model?",
    ]);
    expect(project.broken.map(({ name }) => name.name)).toEqual(["a", "c", "d", "e"]);
    expect(Object.keys(refsIn(project))).toEqual(["b", "f", "orders"]);
  });

  it("a model that reads itself refers to itself, unless its runs are incremental [17]", async () => {
    await folder.put({
      "bar1.sql": "SELECT * FROM bar1",
      "more.sql":
        "-- @incremental: true\nSELECT 1 AS x {{ if incremental }}WHERE 1 > (SELECT max(x) FROM more){{ end }}",
      "tested.yaml":
        "type: model\nsql: SELECT 1 AS x\ntests: [{ name: t, sql: 'FROM {{ ref \"tested\" }} WHERE x > 1' }]\n",
    });
    expect(refsIn(await folder.parse())).toEqual({ bar1: ["bar1"], more: [], tested: [] });
  });

  it("a model is found by the name of its table, too", async () => {
    await folder.put({ "a.yaml": "type: model\nsql: SELECT 1\noutput: { table: custom }\n", "b.sql": "FROM custom" });
    expect(refsIn(await folder.parse())).toEqual({ a: [], b: ["a"] });
  });
});

describe("the project file [48]", () => {
  it("is reported as missing with the file to create, and nothing is declared until it exists", async () => {
    await folder.remove("rill.yaml");
    await folder.put({ "a.sql": "SELECT 1" });
    const parser = folder.parser();
    const without = await parser.parse();
    expect(without).toMatchObject({ isFrozen: true, resources: [], broken: [] });
    expect(problemsIn(without)).toEqual([
      `error setpoint.yaml:1:1: there is no project file: create setpoint.yaml in ${folder.path}; it may be empty`,
    ]);
    await folder.put({ "a.sql": "SELECT 2" });
    expect(await parser.parse(["a.sql"])).toEqual(without);
    await folder.put({ "setpoint.yaml": "" });
    expect(refsIn(await parser.parse(["setpoint.yaml"]))).toEqual({ a: [] });
    await folder.remove("setpoint.yaml");
    expect(await parser.parse(["setpoint.yaml"])).toMatchObject({ isFrozen: true });
  });

  it("stays in force in its last good version while it is broken", async () => {
    await folder.put({ "rill.yaml": "models: { materialize: true }\n", "a.sql": "SELECT 1" });
    const parser = folder.parser();
    const good = await parser.parse();
    await folder.put({ "rill.yaml": "display_name: x\nmodls: { materialize: false }\n", "b.sql": "SELECT 2" });
    const broken = await parser.parse(["rill.yaml", "b.sql"]);
    expect(problemsIn(broken)).toEqual([
      "error rill.yaml:2:1: there is no key modls in a project file; did you mean models?",
      "warning rill.yaml:2:1: the project file is broken: its last good version applies until you correct it",
    ]);
    expect(changesBetween(good, broken)).toEqual({ added: ["b"], modified: [], deleted: [] });
    expect(modelIn(broken, "b").output.materialize).toBe(true);
    await folder.put({ "rill.yaml": "models: { materialize: false }\n" });
    const mended = await parser.parse(["rill.yaml"]);
    expect(problemsIn(mended)).toEqual([]);
    expect(modelIn(mended, "b").output.materialize).toBe(false);
  });

  it("broken from the start freezes the project instead of emptying it", async () => {
    await folder.put({ "rill.yaml": "a: [", "a.sql": "SELECT 1" });
    const project = await folder.parse();
    expect(project.isFrozen).toBe(true);
    expect(problemsIn(project)[0]).toMatch(/^error rill.yaml:1:\d+: invalid YAML/);
  });

  it("gives defaults, variables by environment and paths to ignore", async () => {
    await folder.put({
      "rill.yaml": `
display_name: Shop
olap_connector: duckdb
env: { region: eu, limit: 5 }
models: { materialize: true, timeout: 5m }
ignore_paths: [/old, "x/*.sql"]
dev: { env: { limit: 1 } }
environment_overrides: { test: { env: { region: us } } }
mock_users: [{ email: a@b.c }]
features: [x]
`,
      "old/a.sql": "broken",
      "x/b.sql": "broken",
      "c.sql": "SELECT 1",
    });
    const dev = await folder.parse();
    expect(dev.settings).toEqual({
      displayName: "Shop",
      olapConnector: "duckdb",
      environment: "dev",
      variables: { region: "eu", limit: "1" },
      ignorePaths: ["/old", "x/*.sql"],
    });
    expect(problemsIn(dev)).toEqual([]);
    expect(modelIn(dev, "c")).toMatchObject({ output: { materialize: true }, timeoutMs: 300_000 });
    const test = await folder.parse({ environment: "test" });
    expect(test.settings.variables).toEqual({ region: "us", limit: "5" });
  });
});

describe("variables", () => {
  it("come from the project file, then .env files from the top down, then the environment's, then the caller", async () => {
    await folder.put({
      "rill.yaml": "env: { a: file, b: file, c: file, d: file, e: file }\n",
      ".env": "# note\nexport b=env\nc=env\nd='$b'\ne=\"x$b\\ny\"\nf=1 # note\n",
      ".dev.env": "c=dev\n",
      ".prod.env": "c=prod\n",
      "sub/.env": "g=deep\nf=2\n",
    });
    const { settings } = await folder.parse({ variables: { a: "caller" } });
    expect(settings.variables).toEqual({ a: "caller", b: "env", c: "dev", d: "$b", e: "xenv\ny", f: "2", g: "deep" });
  });

  it.each([
    ["a=$b\nb=$c\nc=$a\n", "error .env:1:1: circular variables: a → b → c → a"],
    ["a=1\n  nonsense\n", "error .env:2:3: a line of an .env file must be NAME=value"],
    ['a="open\n', 'error .env:1:1: the value of a is not closed: " is missing'],
  ])("that are invalid are reported with their place: %j", async (text, expected) => {
    await folder.put({ ".env": text, "a.sql": "SELECT 1" });
    const project = await folder.parse();
    expect(problemsIn(project)).toEqual([expected]);
    expect(refsIn(project)).toEqual({ a: [] });
  });

  it("keep their last good values while their file is broken", async () => {
    await folder.put({ ".env": "limit=10\n", "a.sql": "SELECT 1 LIMIT {{ .env.limit }}" });
    const parser = folder.parser();
    const good = await parser.parse();
    await folder.put({ ".env": "limit=20\nnonsense\n" });
    const broken = await parser.parse([".env"]);
    expect(broken.resources).toEqual(good.resources);
    expect(problemsIn(broken)).toHaveLength(1);
    await folder.remove(".env");
    expect(problemsIn(await parser.parse([".env"]))).toEqual(["error a.sql:1:19: .env.limit has no value"]);
  });

  it("change the hash of only those models that use them, and stay out of spec and messages", async () => {
    await folder.put({
      ".env": "secret=hunter2\nother=1\n",
      "a.sql": "SELECT '{{ .env.secret }}' AS x",
      "b.sql": "SELECT 1",
      "c.sql": "SELECT {{ .env.secret }} {{ .env.secret }} FROM",
    });
    const parser = folder.parser();
    const before = await parser.parse();
    expect(JSON.stringify([before.resources, before.problems])).not.toContain("hunter2");
    expect(problemsIn(before)).toHaveLength(1);
    await folder.put({ ".env": "secret=hunter3\nother=2\n" });
    expect(changesBetween(before, await parser.parse([".env"]))).toEqual({ added: [], modified: ["a"], deleted: [] });
  });
});

describe("names", () => {
  it("that are taken are an error of the later path, which takes over when the first is removed [8, 48]", async () => {
    await folder.put({
      "models/foo.sql": "SELECT 1 AS x",
      "sources/Foo.yaml": "type: source\nconnector: duckdb\nsql: SELECT 2 AS x\n",
      "z.sql": "FROM foo",
    });
    const parser = folder.parser();
    const both = await parser.parse();
    expect(problemsIn(both)).toEqual(["error sources/Foo.yaml:1:1: the name Foo is taken by models/foo.sql"]);
    expect(refsIn(both)).toEqual({ foo: [], z: ["foo"] });
    await folder.remove("models/foo.sql");
    const one = await parser.parse(["models/foo.sql"]);
    expect(problemsIn(one)).toEqual([]);
    expect(changesBetween(both, one)).toEqual({ added: ["Foo"], modified: ["z"], deleted: ["foo"] });
  });

  it("stay with a broken file, so that nobody else takes them and the table is not dropped [2, 6]", async () => {
    await folder.put({
      "a.yaml": "type: model\nname: foo\nsql: SELECT 1\n",
      "b.yaml": "type: model\nname: foo\nsql: SELECT 2\n",
      "c.sql": "FROM foo",
    });
    const parser = folder.parser();
    await parser.parse();
    await folder.put({ "a.yaml": "type: model\nname: [foo\n" });
    const project = await parser.parse(["a.yaml"]);
    expect(project.broken).toMatchObject([
      { name: { kind: "Model", name: "foo" }, problem: { place: { path: "a.yaml" } } },
    ]);
    expect(refsIn(project)).toEqual({ c: ["foo"] });
    expect(problemsIn(project)).toContain("error b.yaml:2:7: the name foo is taken by a.yaml");
    await folder.put({ "a.yaml": "type: model\nname: foo\nsql: SELECT 3\n" });
    expect((await parser.parse(["a.yaml"])).broken).toEqual([]);
  });

  it("of a file with two YAML extensions, or with its SQL twice, are an error of the file", async () => {
    await folder.put({
      "a.yaml": "type: model\nsql: SELECT 1\n",
      "a.yml": "type: model\nsql: SELECT 2\n",
      "b.yaml": "type: model\nsql: SELECT 1\n",
      "b.sql": "SELECT 2",
      "c.yaml": "materialize: true\n",
      "d.sql": "CREATE TABLE x AS SELECT 1",
      "e.sql": "-- nothing\n",
      "f.yaml": "type: model\nmaterialize: true\n",
    });
    const project = await folder.parse();
    expect(problemsIn(project).map((problem) => problem.replace(/ with one of .*/, ""))).toEqual([
      "error a.yml:1:1: a.yaml and a.yml describe the same resource: remove one of them",
      "error b.yaml:2:6: the SQL is both here and in b.sql: remove one of them",
      'error c.yaml:1:1: the file has no type: add "type:"',
      "error d.sql:1:1: the SQL must be a query, such as SELECT or FROM",
      "error e.sql:1:1: there is no statement",
      'error f.yaml:1:1: the model f has no SQL: add "sql:" or a file f.sql',
    ]);
    expect(project.broken.map(({ name }) => name.name)).toEqual(["a", "b", "c", "d", "e", "f"]);
  });

  it("have a namespace prefix [49]", async () => {
    await folder.put({ "a.yaml": "type: model\nnamespace: ns\nname: x\nsql: SELECT 1\n", "b.sql": 'FROM "ns:x"' });
    expect(refsIn(await folder.parse())).toEqual({ "ns:x": [], b: ["ns:x"] });
  });
});

describe("a user's own type of file", () => {
  it("is declared through the same interface as models", async () => {
    const exported = fileKind({
      type: "export",
      kind: "Export",
      directories: ["exports"],
      defaults: "exports",
      async parse(file, context) {
        const { tables, hash } = await context.sql(file.sql!);
        return { spec: { format: textAt(file.settings, "format")?.text ?? "csv", hash }, tables };
      },
    });
    await folder.put({ "rill.yaml": "exports: { format: json }\n", "a.sql": "SELECT 1", "exports/e.sql": "FROM a" });
    const project = await folder.parse({ kinds: [exported] });
    expect(problemsIn(project)).toEqual([]);
    expect(project.resources[1]).toMatchObject({
      name: { kind: "Export", name: "e" },
      refs: [{ kind: "Model", name: "a" }],
      spec: { format: "json" },
    });
  });
});

describe("large projects", () => {
  it("of 2,000 models are one batch, and an edit is one file and one statement", async () => {
    const models = Array.from({ length: 2000 }, (_, at) => [
      `models/m${at}.sql`,
      `SELECT ${at} AS x FROM m${(at || 2) >> 1}`,
    ]);
    await folder.put(Object.fromEntries(models));
    const parser = folder.parser();
    await parser.parse();
    expect(parser.work).toEqual({ filesRead: 2001, resourcesParsed: 2000, statementsParsed: 2000, dataFilesRead: 0 });
    await folder.put({ "models/m7.sql": "SELECT 8 AS x" });
    await parser.parse(["models/m7.sql"]);
    expect(parser.work).toEqual({ filesRead: 2002, resourcesParsed: 2001, statementsParsed: 2001, dataFilesRead: 0 });
    await parser.parse();
    expect(parser.work).toEqual({ filesRead: 2002, resourcesParsed: 2001, statementsParsed: 2001, dataFilesRead: 0 });
  });

  it("a file over 128 kB is refused by name, and the rest is read", async () => {
    await folder.put({ "a.sql": `SELECT 1 -- ${"x".repeat(131_072)}`, "b.sql": "SELECT 1" });
    const project = await folder.parse();
    expect(problemsIn(project)).toEqual(["error a.sql:1:1: the file has 131084 bytes; at most 131072 are read"]);
    expect(refsIn(project)).toEqual({ b: [] });
    expect(project.broken.map(({ name }) => name.name)).toEqual(["a"]);
  });

  it("more than 10,000 files are refused with advice", async () => {
    await folder.put(Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`x/.${at}.env`, ""])));
    expect(problemsIn(await folder.parse())[0]).toContain("the project has 10002 files; only the first 10000 are read");
  });
});
