import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ProjectFolder } from "./testing/project-folder.js";

/** The output of `validate` for a project, and the tables after a run. */
const problems = async (files: Readonly<Record<string, string>>) => {
  using project = ProjectFolder.with({ "models/good.sql": "SELECT 1 AS n", ...files });
  const { code, err } = await project.say("validate");
  return { code, err };
};

describe("bad input is reported by file, line and column, and affects only itself", () => {
  it.each([
    ["invalid YAML", { "models/bad.yaml": "type: model\nsql: [" }, /models\/bad\.yaml:2:\d+: /],
    ["invalid SQL", { "models/bad.sql": "SELECT a\nFORM good" }, /models\/bad\.sql:2:\d+: /],
    ["a wrong type", { "models/bad.yaml": "type: model\nsql: 7\nincremental: maybe\n" }, /models\/bad\.yaml:\d+:\d+: /],
    ["two names", { "other/good.sql": "SELECT 2 AS n" }, /good\.sql.*good/],
    ["a template", { "models/bad.sql": "SELECT {{ if }} 1" }, /models\/bad\.sql:1:\d+: /],
    [
      "circular templating",
      { "models/bad.sql": 'SELECT 1\n{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}' },
      /models\/bad\.sql:2:\d+: circular templates: a → a/,
    ],
    [
      "a large file",
      { "models/bad.sql": `SELECT '${"x".repeat(200_000)}'` },
      /models\/bad\.sql:1:1: .* at most 131072/,
    ],
    ["two statements", { "models/bad.sql": "SELECT 1;\nSELECT 2" }, /models\/bad\.sql:\d+:\d+: /],
  ])("%s", async (_title, files, expected) => {
    const { code, err } = await problems(files);
    expect(err).toMatch(expected);
    expect(code).toBe(1);
  });

  it("a broken file leaves the others running", async () => {
    using project = ProjectFolder.with({ "models/good.sql": "SELECT 1 AS n", "models/bad.sql": "SELEC" });
    expect(await project.run()).toMatchObject({ code: 1, executed: ["good"], failed: ["bad"] });
    expect(await project.rows("FROM good")).toEqual([{ n: 1 }]);
  });

  it("a cycle is an error of its members only, and ends when it is cut", async () => {
    using project = ProjectFolder.with({
      "models/a.sql": "SELECT * FROM b",
      "models/b.sql": "SELECT * FROM a",
      "models/good.sql": "SELECT 1 AS n",
    });
    const { code, executed, failed, err } = await project.run();
    expect({ code, executed, failed }).toEqual({ code: 1, executed: ["good"], failed: ["a", "b"] });
    expect(err).toContain("refers to itself");
    expect((await project.say("plan")).code).toBe(0);
    project.write("models/b.sql", "SELECT * FROM good");
    expect(await project.run()).toMatchObject({ code: 0, executed: ["a", "b"] });
  });

  it("a broken project file keeps everything as it is", async () => {
    using project = ProjectFolder.with({ "models/a.sql": "-- @materialize: true\nSELECT 1 AS n" });
    await project.run();
    project.write("setpoint.yaml", "olap_connector: [");
    const { code, err, executed } = await project.run();
    expect({ code, executed }).toEqual({ code: 1, executed: [] });
    expect(err).toMatch(/setpoint\.yaml:1:\d+: /);
    expect(await project.rows("FROM a")).toEqual([{ n: 1 }]);
  });

  it("a missing folder, and one without a project file", async () => {
    using project = ProjectFolder.with({});
    project.remove("setpoint.yaml");
    const { code, err } = await project.say("run");
    expect(code).toBe(1);
    expect(err).toMatch(/setpoint\.yaml|rill\.yaml/);
    project.remove(".setpoint");
    project[Symbol.dispose]();
    expect(await project.say("run")).toMatchObject({ code: 1, err: expect.stringContaining("no such folder") });
  });

  it("a database that does not open is moved aside, reported, and rebuilt", async () => {
    using project = ProjectFolder.with({ "models/a.sql": "-- @materialize: true\nSELECT 1 AS n" });
    await project.run();
    writeFileSync(join(project.path, ".setpoint", "main.duckdb"), "no database at all".repeat(1000));
    const { code, executed, err } = await project.run();
    expect({ code, executed }).toEqual({ code: 0, executed: ["a"] });
    expect(err).toContain("moved it to");
    expect(await project.rows("FROM a")).toEqual([{ n: 1 }]);
  });

  it("a database that somebody else has open is refused with the PID", async () => {
    using project = ProjectFolder.with({ "models/a.sql": "-- @materialize: true\nSELECT 1 AS n" });
    await project.run();
    // Another process, because one process may open a file twice.
    const path = JSON.stringify(join(project.path, ".setpoint", "main.duckdb"));
    const code = `import { DuckDBInstance } from "@duckdb/node-api";
      globalThis.kept = await DuckDBInstance.create(${path}); console.log("open"); setInterval(() => {}, 1000);`;
    const other = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await new Promise((resolve) => other.stdout.once("data", resolve));
      const refused = await project.say("run");
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(String(other.pid)) });
    } finally {
      other.kill("SIGKILL");
    }
    expect(await project.run()).toMatchObject({ code: 0, executed: [] });
  });
});
