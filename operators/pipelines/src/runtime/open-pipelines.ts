import { readdirSync, readFileSync } from "node:fs";
import { join, resolve as resolvePath } from "node:path";
import type { Logger } from "setpoint";
import { type Clock, systemClock } from "setpoint/clock";
import { silentLogger } from "setpoint/controller";
import type { GraphKind, ResourceName } from "setpoint/graph";
import { resourceKey } from "setpoint/graph";
import { DuckDbEngine, openDuckDb } from "../engine/duckdb/duckdb-engine.js";
import type { Engine } from "../engine/engine.js";
import { modelKind } from "../model/model.js";
import { staleModels } from "../model/stale-models.js";
import type { ConnectorSpec } from "../project/connector-file.js";
import type { FileKind } from "../project/file-kind.js";
import type { Project } from "../project/project.js";
import { ProjectParser } from "../project/project-parser.js";
import { sourceText } from "../project/source-text.js";
import { renderText } from "../template/render-text.js";
import { connectorKind } from "./connector.js";
import { Executions } from "./executions.js";
import { FileWatch } from "./file-watch.js";
import { FolderLock } from "./folder-lock.js";
import { Pipelines } from "./pipelines.js";
import type { Asked } from "./resolver.js";
import { makeStateFolder, STATE_FOLDER, type StateFolder, stateFolder } from "./state-folder.js";

export interface ReadOptions {
  /** The environment whose overrides apply to the files. Defaults to `dev`. */
  readonly environment?: string;
  /** Values of variables. They take precedence over `.env` files. */
  readonly variables?: Readonly<Record<string, string>>;
  /** File types for further kinds of resources. */
  readonly fileKinds?: readonly FileKind[];
  readonly signal?: AbortSignal;
}

export interface PipelinesOptions extends ReadOptions {
  /** Builds in this schema. A table that would equal the one in `main` becomes a view of it. */
  readonly schema?: string;
  /** Follows edits of files, new data and changes of tables until closed. Defaults to false. */
  readonly watch?: boolean;
  /** Further kinds of resources, beside models and connectors; `fileKinds` says how files declare them. */
  // biome-ignore lint/suspicious/noExplicitAny: kinds of all specs and states stand in one list.
  readonly kinds?: readonly GraphKind<any, any>[];
  /** Names of the models to build, together with what they read. All models by default. */
  readonly only?: readonly string[];
  /** Memory limit of the engine, such as `2GB`. */
  readonly memoryLimit?: string;
  /** Called with the completed share of a model's query, between 0 and 1. */
  readonly onProgress?: (name: ResourceName, share: number) => void;
  readonly clock?: Clock;
  readonly log?: Logger;
}

/** Locks the folder for this process, reads the files and starts to bring the tables to what they declare. */
export async function openPipelines(folder: string, options: PipelinesOptions = {}): Promise<Pipelines> {
  const { clock = systemClock, log = silentLogger, schema, signal } = options;
  const place = stateFolder(folder, schema);
  const opened: (AsyncDisposable | Disposable)[] = [];
  const keep = <Part extends AsyncDisposable | Disposable>(part: Part): Part => {
    opened.push(part);
    return part;
  };
  try {
    const lock = keep(FolderLock.take(place));
    let tell: (pipelines: Pipelines) => void = () => {};
    const ready = new Promise<Pipelines>((resolve) => (tell = resolve));
    // Start to watch before the first read, so that no change is missed.
    const watch = options.watch
      ? keep(
          await FileWatch.open({
            folder: place.project,
            clock,
            onChange: async (paths) => (await ready).reread(paths),
            onError: (error) => log.warn(`files cannot be read: ${messageOf(error)}`, { error }),
          }),
        )
      : undefined;
    const { engine, parser, project } = await openProject(place, options, log);
    keep(engine);
    signal?.throwIfAborted();
    let current = project;
    const executions = new Executions();
    const settings = () => current.settings;
    const model = modelKind({
      engine: executions.watching(engine),
      folder: place.project,
      cacheFolder: place.cache,
      settings,
      connectors: (name) => renderedConnector(current, name),
      clock,
      ...(schema === undefined ? {} : { schema }),
      ...(options.onProgress ? { onProgress: options.onProgress } : {}),
    });
    const pipelines = await Pipelines.open({
      folder: place,
      lock,
      engine,
      reader: {
        parse: async () => chosen(await parser.parse(), options.only),
        reparse: async (paths) => chosen(await parser.parse(paths), options.only),
      },
      project: chosen(project, options.only),
      kinds: [model, connectorKind(settings), ...(options.kinds ?? [])],
      executions,
      staleModels,
      schema,
      watch,
      clock,
      log,
      onProject: (read) => {
        current = read;
      },
    });
    tell(pipelines);
    return pipelines;
  } catch (error) {
    for (const part of opened.reverse()) await close(part);
    throw error;
  }
}

/** Reads only the files. Needs no lock and creates no database. */
export async function readProject(
  folder: string,
  options: ReadOptions = {},
  parsing?: Pick<Engine, "parse">,
): Promise<Project> {
  const { project: path } = stateFolder(folder);
  if (parsing) return new ProjectParser(parserOptions(path, parsing, options)).parse();
  await using engine = await openDuckDb({ path: ":memory:", folder: path, connections: 1 });
  return await new ProjectParser(parserOptions(path, engine, options)).parse();
}

/** Opens the tables for queries only. Holds the folder's lock until it is disposed. */
export async function openTables(
  place: StateFolder,
  options: Pick<PipelinesOptions, "schema" | "memoryLimit" | "log"> & ReadOptions,
): Promise<Asked & { readonly engine: Engine } & AsyncDisposable> {
  const lock = FolderLock.take(place);
  try {
    const engine = engineOf(place, await databaseOf(place, options), options, options.log);
    await engine.start();
    const schema = options.schema === undefined ? {} : { schema: options.schema };
    return {
      engine,
      get project() {
        return readProject(place.project, options, engine);
      },
      query: (sql, query) => engine.query(sql, { ...query, ...schema }),
      async [Symbol.asyncDispose]() {
        await engine[Symbol.asyncDispose]();
        lock[Symbol.dispose]();
      },
    };
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

async function openProject(
  place: StateFolder,
  options: PipelinesOptions,
  log: Logger,
): Promise<{ readonly engine: DuckDbEngine; readonly parser: ProjectParser; readonly project: Project }> {
  makeStateFolder(place);
  const engine = engineOf(place, await databaseOf(place, options), options, log);
  try {
    const parser = new ProjectParser(parserOptions(place.project, engine, options));
    // Read the files while the engine starts. Only the parsing of their SQL waits for the engine.
    const [, project] = await Promise.all([engine.start(), parser.parse()]);
    return { engine, parser, project };
  } catch (error) {
    await engine[Symbol.asyncDispose]();
    throw error;
  }
}

function engineOf(
  place: StateFolder,
  path: string,
  { memoryLimit }: Pick<PipelinesOptions, "memoryLimit">,
  log: Logger = silentLogger,
): DuckDbEngine {
  return new DuckDbEngine({
    path,
    folder: place.project,
    tempDirectory: join(place.path, "spill"),
    onSetAside: ({ path: aside, reason }) =>
      log.warn(`the database did not open; moved it to ${aside} and rebuild its tables: ${reason}`),
    ...(memoryLimit === undefined ? {} : { memoryLimit }),
  });
}

function parserOptions(folder: string, engine: Pick<Engine, "parse">, options: ReadOptions) {
  const { environment = "dev", variables, fileKinds } = options;
  return {
    folder,
    environment,
    engine,
    ...(variables ? { variables } : {}),
    ...(fileKinds ? { kinds: fileKinds } : {}),
  };
}

/**
 * Path of the database: `DIR/.setpoint/main.duckdb`, unless the connector that models are built in has a `path`. Reads
 * the files an extra time only if a file or a variable may declare a DuckDB connector.
 */
async function databaseOf(place: StateFolder, options: ReadOptions): Promise<string> {
  const variables = Object.keys(options.variables ?? {}).join("\n");
  if (!DATABASE_VARIABLE.test(variables) && !declaresDatabase(place.project)) return place.database;
  const project = await readProject(place.project, options);
  const path = renderedConnector(project, project.settings.olapConnector)?.properties.path;
  return typeof path === "string" && path !== "" ? resolvePath(place.project, path) : place.database;
}

const DATABASE_DRIVER = /\b(driver|type):\s*["']?duckdb/;
const DATABASE_VARIABLE = /^\s*(export\s+)?connector\.[\w-]+\.path\b/m;

function declaresDatabase(folder: string): boolean {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (![STATE_FOLDER, ".git", "node_modules"].includes(entry.name) && declaresDatabase(path)) return true;
      continue;
    }
    const declares = /\.ya?ml$/.test(entry.name)
      ? DATABASE_DRIVER
      : entry.name.endsWith(".env")
        ? DATABASE_VARIABLE
        : undefined;
    if (declares?.test(readFileSync(path, "utf8"))) return true;
  }
  return false;
}

function connectorOf(project: Project, name: string): ConnectorSpec | undefined {
  const found = project.resources.find(
    (one) => one.name.kind === "Connector" && one.name.name.toLowerCase() === name.toLowerCase(),
  );
  return found?.spec as ConnectorSpec | undefined;
}

/** A connector with the values of its variables. They may be secrets and are never stored. */
function renderedConnector(project: Project, name: string): ConnectorSpec | undefined {
  const connector = connectorOf(project, name);
  if (!connector) return undefined;
  const { environment, variables } = project.settings;
  const rendered = (value: unknown): unknown => {
    if (typeof value === "string" && value.includes("{{")) {
      return renderText(sourceText(`connector ${name}`, value), { environment, variables }).text;
    }
    if (Array.isArray(value)) return value.map(rendered);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rendered(inner)]));
  };
  return { ...connector, properties: rendered(connector.properties) as ConnectorSpec["properties"] };
}

/** The project reduced to the named models and what they read. */
function chosen(project: Project, only: readonly string[] | undefined): Project {
  if (!only) return project;
  const byKey = new Map(project.resources.map((one) => [resourceKey(one.name), one]));
  const wanted = new Set(only.map((name) => resourceKey({ kind: "Model", name: name.split("/").at(-1)! })));
  for (const key of wanted) for (const ref of byKey.get(key)?.refs ?? []) wanted.add(resourceKey(ref));
  return { ...project, resources: project.resources.filter(({ name }) => wanted.has(resourceKey(name))) };
}

async function close(part: AsyncDisposable | Disposable): Promise<void> {
  if (Symbol.asyncDispose in part) await part[Symbol.asyncDispose]();
  else part[Symbol.dispose]();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
