import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import type { Engine } from "../engine/engine.js";
import type { ModelSpec } from "../model/model-spec.js";
import { statementOf } from "../sql/statement.js";
import type { Project } from "./project.js";
import { ProjectParser, type ProjectParserOptions } from "./project-parser.js";
import { placeName } from "./source-text.js";

/** DuckDB's parser in this process; `batches` records the statements of each call. */
export class ParsingEngine implements Pick<Engine, "parse"> {
  readonly batches: (readonly string[])[] = [];
  readonly #instance = DuckDBInstance.create(":memory:");

  async parse(statements: readonly string[]) {
    this.batches.push(statements);
    const connection = await (await this.#instance).connect();
    const rows = await connection.runAndReadAll(
      "SELECT json_serialize_sql(x.s)::VARCHAR FROM (SELECT unnest(from_json($1, '[\"VARCHAR\"]')) AS s) x",
      [JSON.stringify(statements)],
    );
    connection.closeSync();
    return rows.getRows().map(([serialized], index) => statementOf(statements[index]!, String(serialized)));
  }

  async close(): Promise<void> {
    (await this.#instance).closeSync();
  }
}

/** A folder for one test. */
export class ProjectFolder {
  readonly path: string;
  readonly engine: ParsingEngine;

  constructor(path: string, engine: ParsingEngine) {
    this.path = path;
    this.engine = engine;
  }

  static async create(engine: ParsingEngine, files: Readonly<Record<string, string>> = {}): Promise<ProjectFolder> {
    const folder = new ProjectFolder(await mkdtemp(join(tmpdir(), "setpoint-project-")), engine);
    await folder.put(files);
    return folder;
  }

  async put(files: Readonly<Record<string, string | Buffer>>): Promise<void> {
    const folders = new Set(Object.keys(files).map((path) => dirname(join(this.path, path))));
    for (const folder of folders) await mkdir(folder, { recursive: true });
    await Promise.all(Object.entries(files).map(([path, text]) => writeFile(join(this.path, path), text)));
  }

  async remove(path = "."): Promise<void> {
    await rm(join(this.path, path), { recursive: true });
  }

  parser(options: Partial<ProjectParserOptions> = {}): ProjectParser {
    return new ProjectParser({ folder: this.path, engine: this.engine, ...options });
  }

  /** Parses the current files from scratch. */
  parse(options: Partial<ProjectParserOptions> = {}): Promise<Project> {
    return this.parser(options).parse();
  }
}

/** The names of refs, by the name of the resource. */
export const refsIn = ({ resources }: Project): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(resources.map(({ name, refs }) => [name.name, refs.map((ref) => ref.name)]));

/** `error models/a.sql:1:2: message`. */
export const problemsIn = ({ problems }: Project): readonly string[] =>
  problems.map(({ severity, message, place }) => `${severity} ${place ? placeName(place) : ""}: ${message}`);

export function modelIn({ resources, problems }: Project, name: string): ModelSpec {
  const found = resources.find((resource) => resource.name.name === name);
  if (!found) throw new Error(`no ${name}: ${JSON.stringify(problems)}`);
  return found.spec as ModelSpec;
}

/** The differences between two passes. */
export function changesBetween(before: Project, after: Project) {
  const texts = (project: Project) =>
    new Map(project.resources.map((resource) => [resource.name.name, JSON.stringify(resource)]));
  const [old, now] = [texts(before), texts(after)];
  return {
    added: [...now.keys()].filter((name) => !old.has(name)),
    modified: [...now.keys()].filter((name) => old.has(name) && old.get(name) !== now.get(name)),
    deleted: [...old.keys()].filter((name) => !now.has(name)),
  };
}
