import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { PipelinesError } from "../errors.js";

/** Where a project keeps what is not written by people: `DIR/.setpoint`. */
export interface StateFolder {
  /** The project's folder, absolute. */
  readonly project: string;
  readonly path: string;
  /** What the graph knows of each resource. */
  readonly catalog: string;
  /** The tables. */
  readonly database: string;
  readonly lock: string;
  /** How to reach the process that keeps the folder; mode 0600, for it holds a token. */
  readonly server: string;
  /** Answers of HTTP servers. */
  readonly cache: string;
}

export const STATE_FOLDER = ".setpoint";

/** Names the places; makes nothing. Throws where the project's folder is not there. */
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

/** Makes the folder, for its owner alone, and keeps it out of version control. */
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
