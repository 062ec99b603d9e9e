import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { PipelinesError } from "../errors.js";

/** Paths in a project's state folder, `DIR/.setpoint`. */
export interface StateFolder {
  /** The project's folder, absolute. */
  readonly project: string;
  readonly path: string;
  /** SQLite file of the graph. */
  readonly catalog: string;
  /** DuckDB file of the tables. */
  readonly database: string;
  readonly lock: string;
  /** How to reach the process that holds the lock. Mode 0600, because it holds a token. */
  readonly server: string;
  /** Data fetched from HTTP and PostgreSQL servers. */
  readonly cache: string;
}

export const STATE_FOLDER = ".setpoint";

/** Computes the paths; creates nothing. Throws if the project's folder does not exist. */
export function stateFolder(folder: string, schema?: string): StateFolder {
  const project = resolve(folder);
  if (!statSync(project, { throwIfNoEntry: false })?.isDirectory()) {
    throw new PipelinesError("PIPELINES_FOLDER_INVALID", `${folder}: no such folder`);
  }
  const path = join(project, STATE_FOLDER);
  return {
    project,
    path,
    catalog: join(path, schema === undefined ? "catalog.db" : `catalog-${schema}.db`),
    database: join(path, "main.duckdb"),
    lock: join(path, "lock.db"),
    server: join(path, "server.json"),
    cache: join(path, "cache"),
  };
}

/** Creates the folder with access for its owner only, and keeps it out of version control. */
export function makeStateFolder({ path, project }: StateFolder): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const ignore = join(path, ".gitignore");
    if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const message = `${join(project, STATE_FOLDER)} cannot be created: ${code ?? String(cause)}`;
    throw new PipelinesError("PIPELINES_FOLDER_INVALID", message, { cause });
  }
}
