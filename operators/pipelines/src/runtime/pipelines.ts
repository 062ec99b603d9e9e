import { sqliteGraphStore } from "@setpoint/sqlite/graph-store";
import { isSetpointError, type Logger } from "setpoint";
import type { Clock, Timer } from "setpoint/clock";
import {
  type Graph,
  type GraphKind,
  type GraphResource,
  openGraph,
  type ResourceName,
  resourceKey,
} from "setpoint/graph";
import type { Engine, QueryResult, TableFacts } from "../engine/engine.js";
import { PipelinesError } from "../errors.js";
import type { ModelSpec } from "../model/model-spec.js";
import type { Project } from "../project/project.js";
import { setAside } from "./catalog.js";
import type { Executions, RunSummary } from "./executions.js";
import type { FolderLock } from "./folder-lock.js";
import { applyEdits, type ProjectEdits, projectEdits } from "./project-edits.js";
import type { StateFolder } from "./state-folder.js";

/** Reads the files of a project. */
export interface ProjectReader {
  parse(): Promise<Project>;
  /** Reads only these paths again. They are relative to the project's folder. */
  reparse(paths: readonly string[]): Promise<Project>;
}

/** A model whose table is not what the graph expects. */
export interface StaleModel {
  readonly name: ResourceName;
  /** `its table no longer exists` */
  readonly reason: string;
}

/** The parts of an open project. `openPipelines` assembles the usual ones. */
export interface PipelinesParts {
  readonly folder: StateFolder;
  readonly lock: FolderLock;
  readonly engine: Engine;
  readonly reader: ProjectReader;
  /** The result of the first read. */
  readonly project: Project;
  // biome-ignore lint/suspicious/noExplicitAny: kinds of all specs and states stand in one list.
  readonly kinds: readonly GraphKind<any, any>[];
  readonly executions: Executions;
  readonly staleModels: (resources: readonly GraphResource[], facts: readonly TableFacts[]) => readonly StaleModel[];
  readonly schema: string | undefined;
  /** The watch of the files, if any. With it, the tables are checked regularly too. */
  readonly watch: AsyncDisposable | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with each project that was read. */
  readonly onProject: (project: Project) => void;
}

const NO_EDITS: ProjectEdits = { creates: [], updates: [], renames: [], deletes: [] };

/** Interval at which tables are compared with what their last run left. */
const SWEEP_MS = 10_000;

/**
 * A project that is kept up to date: its files, the graph of what they declare, and the engine that holds the tables.
 *
 * ```ts
 * await using shop = await openPipelines("shop", { watch: true });
 * await shop.waitUntilIdle();
 * console.log(await shop.query("SELECT count(*) AS orders FROM orders"));
 * ```
 */
export class Pipelines implements AsyncDisposable {
  readonly graph: Graph;
  readonly #parts: PipelinesParts;
  readonly #listeners = new Set<(project: Project) => void>();
  readonly #closing = new AbortController();
  #project: Project;
  #sweepTimer: Timer | undefined;
  /** Reads run one after the other. Each covers the changes since the one before. */
  #reading: Promise<void> = Promise.resolve();

  private constructor(parts: PipelinesParts, graph: Graph) {
    this.#parts = parts;
    this.#project = parts.project;
    this.graph = graph;
  }

  /** Use `openPipelines` instead. Takes over the lock and the engine, and closes them at the end. */
  static async open(parts: PipelinesParts): Promise<Pipelines> {
    // Inspect the tables before anything runs: a missing table is rebuilt before others read it.
    const facts = await parts.engine.inspect(undefined, parts.schema);
    const pipelines = new Pipelines(parts, await openCatalog(parts));
    pipelines.#apply(parts.project, facts);
    if (parts.watch) pipelines.#armSweep();
    return pipelines;
  }

  get folder(): StateFolder {
    return this.#parts.folder;
  }

  get lock(): FolderLock {
    return this.#parts.lock;
  }

  get engine(): Engine {
    return this.#parts.engine;
  }

  get schema(): string | undefined {
    return this.#parts.schema;
  }

  /** The names of all kinds of resources. */
  get kindNames(): readonly string[] {
    return this.#parts.kinds.map(({ name }) => name);
  }

  /** The project as of the last read. */
  get project(): Project {
    return this.#project;
  }

  /** Reads the files again and edits the graph. Without `paths` it reads all files. */
  async reread(paths: readonly string[] = []): Promise<void> {
    const read = async (): Promise<void> => {
      if (this.#closing.signal.aborted) return;
      const { reader } = this.#parts;
      const project = await (paths.length > 0 ? reader.reparse(paths) : reader.parse());
      this.#apply(project);
    };
    const reading = this.#reading.then(read);
    this.#reading = reading.catch(() => {});
    await reading;
  }

  /** Compares the tables with what their last runs left, and requests a run of each model that differs. */
  async sweep(): Promise<readonly StaleModel[]> {
    const { engine, schema, staleModels } = this.#parts;
    const facts = await engine.inspect(undefined, schema);
    const stale = staleModels(
      this.graph.list().filter(({ status }) => status === "idle"),
      facts,
    );
    if (stale.length > 0) {
      this.graph.batch((edit) => {
        for (const { name, reason } of stale) edit.reconcile(name, { why: reason });
      });
    }
    return stale;
  }

  /** Resolves when nothing runs and nothing is queued. */
  async waitUntilIdle(): Promise<void> {
    await this.#reading;
    await this.graph.waitUntilIdle();
  }

  query(sql: string, options: { readonly signal?: AbortSignal; readonly limit?: number } = {}): Promise<QueryResult> {
    const { signal = this.#closing.signal, limit } = options;
    const { schema } = this.#parts;
    return this.#parts.engine.query(sql, {
      signal,
      ...(limit === undefined ? {} : { limit }),
      ...(schema === undefined ? {} : { schema }),
    });
  }

  /** The outcome of each resource since the project was opened, or since the last `forget` of its executions. */
  summary(): RunSummary {
    const resources = this.graph.list();
    const { executions } = this.#parts;
    const broken = new Set(this.#project.broken.map(({ name }) => resourceKey(name)));
    const hasFailed = (one: GraphResource): boolean =>
      one.error !== undefined || broken.has(resourceKey(one.meta.name));
    const hasRun = ({ meta, spec }: GraphResource): boolean =>
      meta.name.kind === "Model" && executions.has((spec as ModelSpec).output.table);
    const names = (some: readonly GraphResource[]) => some.map(({ meta }) => meta.name.name);
    const well = resources.filter((one) => !hasFailed(one));
    const known = new Set(resources.map(({ meta }) => resourceKey(meta.name)));
    const unbuilt = this.#project.broken
      .filter(({ name }) => !known.has(resourceKey(name)))
      .map(({ name }) => name.name);
    return {
      executed: names(well.filter(hasRun)),
      settled: names(well.filter((one) => !hasRun(one))),
      failed: [...names(resources.filter(hasFailed)), ...unbuilt],
    };
  }

  /** Calls `listener` with each project that is read from now on. */
  onProject(listener: (project: Project) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Finds a resource by its name as users write it: `orders`, `Model/orders`, `model/Orders`. */
  resource(text: string): GraphResource {
    const all = this.graph.list();
    const [first, second] = text.includes("/") ? text.split("/", 2) : [undefined, text];
    const found = all.filter(
      ({ meta: { name } }) =>
        name.name.toLowerCase() === second!.toLowerCase() &&
        (first === undefined || name.kind.toLowerCase() === first.toLowerCase()),
    );
    const best = found.find(({ meta }) => meta.name.kind === "Model") ?? found[0];
    if (best) return best;
    const message = `no file declares ${text}${suggestion(
      text,
      all.map(({ meta }) => meta.name.name),
    )}`;
    throw new PipelinesError("PIPELINES_RESOURCE_UNKNOWN", message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new Error("the project was closed"));
    this.#sweepTimer?.[Symbol.dispose]();
    await this.#parts.watch?.[Symbol.asyncDispose]();
    await this.#reading;
    await this.graph[Symbol.asyncDispose]();
    await this.#parts.engine[Symbol.asyncDispose]();
    this.#parts.lock[Symbol.dispose]();
  }

  /**
   * Applies a project to the graph in one batch. With `facts`, at the start, it also requests runs of stale models and
   * of failed resources.
   */
  #apply(project: Project, facts?: readonly TableFacts[]): void {
    this.#project = project;
    this.#parts.onProject(project);
    const resources = this.graph.list();
    // Without a usable project file nothing is known, so everything stays as it is.
    const edits = project.isFrozen ? NO_EDITS : projectEdits(project, resources);
    const leaving = new Set([...edits.deletes, ...edits.renames.map(({ from }) => from)].map(resourceKey));
    const broken = new Set(project.broken.map(({ name }) => resourceKey(name)));
    const failed = resources.filter((one) => hasFailedItself(one) && !broken.has(resourceKey(one.meta.name)));
    const stale = facts
      ? [
          ...this.#parts.staleModels(resources, facts),
          // Run failed resources again: the cause may be gone, such as a server that was down or a full disk.
          ...failed.map(({ meta }) => ({ name: meta.name, reason: "its last run failed" })),
        ]
      : [];
    this.graph.batch((edit) => {
      applyEdits(edit, edits);
      for (const { name, reason } of stale) if (!leaving.has(resourceKey(name))) edit.reconcile(name, { why: reason });
    });
    for (const listener of this.#listeners) listener(project);
  }

  #armSweep(): void {
    if (this.#closing.signal.aborted) return;
    this.#sweepTimer = this.#parts.clock.timer(SWEEP_MS, () => {
      const swept = this.sweep().catch((error: unknown) => {
        this.#parts.log.warn("could not inspect the tables", { error });
      });
      void swept.finally(() => this.#armSweep());
    });
  }
}

/**
 * Opens the graph in its file. A corrupt file is renamed, and the graph starts anew: the files and the tables' stamps
 * hold everything that was in it.
 */
async function openCatalog({ folder, kinds, engine, clock, log }: PipelinesParts): Promise<Graph> {
  const open = (): Promise<Graph> =>
    openGraph({
      kinds,
      // A power cut may lose the last commits. That is safe, because the tables' own stamps prove what is fresh.
      store: sqliteGraphStore(folder.catalog, { synchronous: "normal" }),
      capacity: { connections: engine.connections },
      clock,
      log,
    });
  try {
    return await open();
  } catch (error) {
    if (!isSetpointError(error, "SQLITE_CORRUPT") && !isSetpointError(error, "SQLITE_NOTADB")) throw error;
    const aside = setAside(folder.catalog, clock.now());
    log.warn(`the catalog did not open; moved it to ${aside} and rebuild it from the files`, { error });
    return open();
  }
}

/** Whether the resource's own run failed, and not that of a ref. */
function hasFailedItself({ error }: GraphResource): boolean {
  return error !== undefined && error.code !== "GRAPH_REF_FAILED";
}

/** `; do you mean orders?` */
function suggestion(text: string, names: readonly string[]): string {
  const wanted = text.toLowerCase();
  const near = names.filter((name) => {
    const known = name.toLowerCase();
    return known.startsWith(wanted.slice(0, 3)) || known.includes(wanted) || wanted.includes(known);
  });
  return near.length > 0 ? `; do you mean ${near.slice(0, 3).join(", ")}?` : "";
}
