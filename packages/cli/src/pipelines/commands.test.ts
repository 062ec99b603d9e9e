import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runMain } from "../testing/command-line.js";
import { ProjectFolder } from "./testing/project-folder.js";

const table = (sql: string): string => `-- @materialize: true\n${sql}\n`;

describe("setpoint pipelines", () => {
  it("plans what a run would do and why, and nothing if nothing would run", async () => {
    using project = ProjectFolder.with({
      "models/a.sql": table("SELECT range AS n FROM range(3)"),
      "models/b.sql": table("SELECT n + 1 AS n FROM a"),
      "models/c.sql": table("SELECT 1 AS n"),
    });
    const plan = async () => JSON.parse((await project.say("plan", ["-o", "json"])).out) as Record<string, unknown>[];
    expect(await plan()).toMatchObject([
      { kind: "Model", name: "a", action: "replace", reason: "it was never built" },
      { kind: "Model", name: "b", action: "replace" },
      { kind: "Model", name: "c", action: "replace" },
    ]);
    await project.run();
    expect(await plan()).toEqual([]);
    project.write("models/a.sql", `-- a comment\n${table("SELECT range AS n FROM range(4)")}`);
    project.write("models/c.sql", `${table("SELECT /* nothing */ 1   AS n")}`);
    const planned = await plan();
    expect(planned).toMatchObject([
      { name: "a", action: "replace", reason: "its definition has changed", rows: 3 },
      { name: "b", action: "maybe" },
    ]);
    expect(planned[0]).toHaveProperty("durationMs");
    expect(await project.run()).toMatchObject({ executed: ["a", "b"], settled: ["c"] });
    project.remove("models/c.sql");
    project.move("models/b.sql", "models/d.sql");
    expect(await plan()).toMatchObject([
      { name: "c", action: "delete" },
      { name: "d", action: "rename" },
    ]);
  });

  it("explains the state of a resource, also while no process runs", async () => {
    using project = ProjectFolder.with({ "models/a.sql": table("SELECT 1 AS n"), "models/b.sql": "SELECT * FROM a" });
    await project.run();
    const explain = async (name: string) => {
      const { code, out, err } = await project.say("explain", [name, "-o", "json"]);
      return code === 0 ? (JSON.parse(out) as { readonly reason: string }) : { reason: err };
    };
    const settled = "its definition, inputs and tests are those of its table";
    expect((await explain("a")).reason).toBe(`${settled}; it last ran because it was never built`);
    project.write("models/a.sql", table("SELECT 2 AS n"));
    expect((await explain("Model/a")).reason).toBe("a run would replace it: its definition has changed");
    project.write("models/a.sql", "SELEC 2");
    // Readers of a model with a broken file stay unchanged, too.
    expect(JSON.parse((await project.say("plan", ["-o", "json"])).out)).toEqual([]);
    expect((await explain("a")).reason).toMatch(/its file has an error.*models\/a\.sql:1:\d/);
    expect((await explain("nothing")).reason).toContain("no file declares nothing");
  });

  it("shows the rows that an edit would change, and leaves nothing behind", async () => {
    using project = ProjectFolder.with({
      "models/a.sql": table("SELECT range AS n FROM range(3)"),
      "models/b.sql": table("SELECT n * 10 AS n FROM a"),
      "models/other.sql": table("SELECT 1 AS n"),
    });
    await project.run();
    project.write("models/a.sql", table("SELECT range + 1 AS n FROM range(3)"));
    const { code, out, err } = await project.say("diff", ["b", "-o", "json"]);
    expect(code, err).toBe(0);
    expect(JSON.parse(out)).toEqual({
      name: "b",
      added: { count: 1, rows: [{ n: 30 }] },
      removed: { count: 1, rows: [{ n: 0 }] },
    });
    expect(await project.rows("SELECT sum(n)::INTEGER AS n FROM b")).toEqual([{ n: 30 }]);
    expect(await project.rows("SELECT 1 FROM information_schema.schemata WHERE schema_name = 'setpoint_diff'")).toEqual(
      [],
    );
    expect(existsSync(join(project.path, ".setpoint", "catalog-setpoint_diff.db"))).toBe(false);
    project.write("models/b.sql", table("SELECT n * 10 AS n, 'x' AS extra FROM a"));
    expect((await project.say("diff", ["b"])).out).toContain("3 rows removed, 3 rows added");
  });

  it("builds its own environment, and shares what does not differ", async () => {
    using project = ProjectFolder.with({
      "models/a.sql": table("SELECT range AS n FROM range(3)"),
      "models/b.sql": table("SELECT sum(n)::INTEGER AS n FROM a"),
    });
    await project.run();
    project.write("models/b.sql", table("SELECT max(n)::INTEGER AS n FROM a"));
    const planned = async (...args: readonly string[]) =>
      JSON.parse((await project.say("plan", [...args, "-o", "json"])).out) as readonly unknown[];
    expect(await planned("--env", "trial")).toMatchObject([
      { name: "a", action: "share" },
      { name: "b", action: "replace", reason: "its definition has changed" },
    ]);
    const built = await project.run(["--env", "trial"]);
    expect(built).toMatchObject({ code: 0, executed: ["b"], settled: ["a"], failed: [] });
    expect(await planned("--env", "trial")).toEqual([]);
    project.write("models/a.sql", table("SELECT range AS n FROM range(1, 4)"));
    expect(await planned("--env", "trial")).toMatchObject([
      { name: "a", action: "replace", reason: "its definition has changed" },
      { name: "b", action: "maybe" },
    ]);
    project.write("models/a.sql", table("SELECT range AS n FROM range(3)"));
    // The plan of the main schema is based on the tables of the main schema.
    expect(await planned()).toMatchObject([{ name: "b", action: "replace", reason: "its definition has changed" }]);
    const kinds = await project.rows(
      "SELECT table_schema AS s, table_name AS name, table_type AS type FROM information_schema.tables WHERE table_schema IN ('main', 'trial') ORDER BY ALL",
    );
    expect(kinds).toEqual([
      { s: "main", name: "a", type: "BASE TABLE" },
      { s: "main", name: "b", type: "BASE TABLE" },
      { s: "trial", name: "a", type: "VIEW" },
      { s: "trial", name: "b", type: "BASE TABLE" },
    ]);
    expect(await project.rows("FROM main.b")).toEqual([{ n: 3 }]);
    expect(await project.rows("FROM trial.b")).toEqual([{ n: 2 }]);
    expect((await project.say("run", ["--env", "no-good"])).code).toBe(2);
  });

  it("runs only the users of a variable again when it changes", async () => {
    using project = ProjectFolder.with({
      ".env": "limit=2\nother=1\n",
      "models/a.sql": table("SELECT range AS n FROM range({{ .env.limit }})"),
      "models/b.sql": table("SELECT {{ .env.other }} AS n"),
    });
    await project.run();
    project.write(".env", "limit=5\nother=1\n");
    expect(await project.run()).toMatchObject({ executed: ["a"], settled: ["b"] });
    expect(await project.rows("SELECT count(*) AS n FROM a")).toEqual([{ n: 5 }]);
    expect(await project.run(["--var", "other=7"])).toMatchObject({ executed: ["b"] });
  });

  it("refreshes chosen partitions, and previews them", async () => {
    const sql = "sql: SELECT '{{ .partition.day }}' AS day, random() AS r\n";
    using project = ProjectFolder.with({
      "models/days.yaml": `type: model\npartitions:\n  sql: SELECT (DATE '2026-01-01' + range::INTEGER)::VARCHAR AS day FROM range(10)\n${sql}output:\n  incremental_strategy: partition_overwrite\n  partition_by: day\nincremental: true\n`,
    });
    expect(await project.run()).toMatchObject({ code: 0, executed: ["days"] });
    const before = await project.rows("FROM days ORDER BY day");
    const range = ["days", "--from", "2026-01-03", "--to", "2026-01-04"];
    const preview = JSON.parse((await project.say("refresh", [...range, "--preview", "-o", "json"])).out);
    expect(preview).toEqual([
      { kind: "Model", name: "days", partitions: [{ day: "2026-01-03" }, { day: "2026-01-04" }] },
    ]);
    expect(await project.rows("FROM days ORDER BY day")).toEqual(before);
    expect((await project.say("refresh", range)).code).toBe(0);
    const after = await project.rows("FROM days ORDER BY day");
    const changed = after.filter(({ r }, at) => r !== before[at]!.r).map(({ day }) => day);
    expect(changed).toEqual(["2026-01-03", "2026-01-04"]);
    const wrong = await project.say("refresh", ["days", "--partition", "2027-01-01"]);
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("days has no partition 2027-01-01") });
  });

  it("answers queries, and reports errors", async () => {
    using project = ProjectFolder.with({ "models/a.sql": table("SELECT 1 AS n, 'x' AS s") });
    const never = await project.say("query", ["--sql", "FROM a"]);
    expect(never).toMatchObject({ code: 1, err: expect.stringContaining("no tables yet") });
    const { out } = await project.say("run", ["--query", "FROM a", "-o", "json"]);
    expect(JSON.parse(out)).toEqual([{ n: 1, s: "x" }]);
    const asked = ["--resolver", "sql", "--properties", '{"sql": "FROM a"}', "-o", "json"];
    expect(JSON.parse((await project.say("query", asked)).out)).toEqual([{ n: 1, s: "x" }]);
    const sql =
      "SELECT '{{ .user.name }}' AS who, {{ .args.n }} AS n, 1.50 AS d, 12345678901234567.5 AS long FROM {{ ref \"a\" }}";
    const template = [
      "--properties",
      JSON.stringify({ sql, args: { n: 2 } }),
      "--user",
      '{"name": "ada"}',
      "-o",
      "json",
    ];
    const rows = JSON.parse((await project.say("query", template)).out);
    expect(rows).toEqual([{ who: "ada", n: 2, d: 1.5, long: "12345678901234567.5" }]);
    const refused = async (...args: readonly string[]) => (await project.say("query", args)).err;
    expect(await refused("--sql", "SELECT {{ .user.name }}")).toContain("properties.sql:1:11: .user.name has no value");
    expect(await refused("--resolver", "metrics_sql", "--properties", "{}")).toContain(
      "metrics_sql is not supported yet",
    );
    expect(await refused("--resolver", "other", "--properties", "{}")).toContain("there is no resolver other");
    expect(await refused("--properties", "{")).toContain("--properties: ");
    expect(await refused("--properties", "{}")).toContain("properties.sql must be a statement");
    expect(await refused()).toContain("--sql SQL or --properties JSON is required");
    expect(await refused("--sql", "DROP TABLE a")).not.toBe("");
    expect(await project.rows("FROM a")).toHaveLength(1);
  });

  it("creates a starter project, which runs", async () => {
    using project = ProjectFolder.with({});
    const folder = join(project.path, "shop");
    expect((await runMain(["pipelines", "init", folder])).code).toBe(0);
    expect(await runMain(["pipelines", "run", folder])).toMatchObject({
      code: 0,
      out: "3 executed, 0 settled, 0 failed",
    });
    expect(await runMain(["pipelines", "init", folder])).toMatchObject({
      code: 1,
      err: expect.stringContaining("exists already"),
    });
  });
});
