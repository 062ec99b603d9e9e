import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Engine } from "../engine/engine.js";
import type { ModelSpec } from "../model/model-spec.js";
import { statementOf } from "../sql/statement.js";
import type { Project } from "./project.js";
import { ProjectParser, type ProjectParserOptions } from "./project-parser.js";
import { placeName } from "./source-text.js";

let instance: DuckDBInstance;
let connection: DuckDBConnection;
let batches: (readonly string[])[] = [];
const engine: Pick<Engine, "parse"> = {
  async parse(statements) {
    batches.push(statements);
    const rows = await connection.runAndReadAll(
      "SELECT json_serialize_sql(x.s)::VARCHAR FROM (SELECT unnest(from_json($1, '[\"VARCHAR\"]')) AS s) x",
      [JSON.stringify(statements)],
    );
    return rows.getRows().map(([serialized], index) => statementOf(statements[index]!, String(serialized)));
  },
};

beforeAll(async () => {
  instance = await DuckDBInstance.create(":memory:");
  connection = await instance.connect();
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

let folder: string;
beforeEach(async () => {
  batches = [];
  folder = await mkdtemp(join(tmpdir(), "setpoint-project-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
const remove = (path: string) => rm(join(folder, path), { recursive: true });
const parser = (options: Partial<ProjectParserOptions> = {}) => new ProjectParser({ folder, engine, ...options });

const refs = (project: Project) =>
  Object.fromEntries(project.resources.map(({ name, refs }) => [name.name, refs.map((ref) => ref.name)]));
const problems = (project: Project) =>
  project.problems.map(({ severity, message, place }) => `${severity} ${place ? placeName(place) : ""}: ${message}`);
const specOf = (project: Project, name: string) =>
  project.resources.find((resource) => resource.name.name === name)!.spec as ModelSpec;

describe("a plain project", () => {
  it("declares its models with their refs, in one batch of statements", async () => {
    await put({
      "rill.yaml": "olap_connector: duckdb\n",
      "models/a.sql": "SELECT 1 AS x",
      "models/b.sql": "-- @materialize: true\nSELECT * FROM a WHERE x IN (SELECT x FROM c)",
      "c.yaml": "type: model\nsql: FROM a\n",
    });
    const project = await parser().parse();
    expect(problems(project)).toEqual([]);
    expect(refs(project)).toEqual({ a: [], b: ["a", "c"], c: ["a"] });
    expect(specOf(project, "b").output).toMatchObject({ table: "b", materialize: true, connector: "duckdb" });
    expect(batches.map((batch) => batch.length)).toEqual([3]);
  });
});

export { remove, rename };
