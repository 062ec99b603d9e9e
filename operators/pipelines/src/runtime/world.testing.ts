import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { terminal } from "setpoint";
import { systemClock } from "setpoint/clock";
import { silentLogger } from "setpoint/controller";
import { graphKind } from "setpoint/graph";
import type { Engine, RefreshRequest, TableFacts } from "../engine/engine.js";
import type { Project } from "../project/project.js";
import type { Problem } from "../project/source-text.js";
import { Executions } from "./executions.js";
import { FolderLock } from "./folder-lock.js";
import { Pipelines, type StaleModel } from "./pipelines.js";
import { stateFolder } from "./state-folder.js";

interface Declared {
  readonly text: string;
  readonly refs?: readonly string[];
}

/** A project whose files are an object and whose engine is a map: for behaviour that does not depend on SQL. */
export class World implements AsyncDisposable {
  readonly path = mkdtempSync(join(tmpdir(), "setpoint-world-"));
  /** Names of models, in the order of their runs. */
  readonly runs: string[] = [];
  readonly requests: (RefreshRequest & { readonly table: string })[] = [];
  readonly tables = new Map<string, string>();
  models: Record<string, Declared> = {};
  broken: Record<string, Problem> = {};
  /** Models whose runs fail, with the reason. */
  failures: Record<string, string> = {};
  facts: readonly TableFacts[] = [];
  stale: readonly StaleModel[] = [];
  pipelines!: Pipelines;

  static async create(models: Record<string, Declared>): Promise<World> {
    const world = new World();
    world.models = models;
    await world.start();
    return world;
  }

  /** Reads the files and waits for the consequences. */
  async settle(models?: Record<string, Declared>): Promise<void> {
    if (models) this.models = models;
    await this.pipelines.reread();
    await this.pipelines.waitUntilIdle();
  }

  async restart(): Promise<void> {
    await this.pipelines[Symbol.asyncDispose]();
    await this.start();
  }

  async start(): Promise<void> {
    const folder = stateFolder(this.path);
    const read = async (): Promise<Project> => this.#project();
    this.pipelines = await Pipelines.open({
      folder,
      lock: FolderLock.take(folder),
      engine: this.#engine(),
      reader: { parse: read, reparse: read },
      project: this.#project(),
      kinds: [this.#model()],
      executions: new Executions(),
      staleModels: () => this.stale,
      schema: undefined,
      watch: undefined,
      clock: systemClock,
      log: silentLogger,
      onProject: () => {},
    });
    await this.pipelines.waitUntilIdle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pipelines[Symbol.asyncDispose]();
    rmSync(this.path, { recursive: true, force: true });
  }

  #project(): Project {
    return {
      settings: { olapConnector: "duckdb", environment: "dev", variables: {}, ignorePaths: [] },
      isFrozen: false,
      resources: Object.entries(this.models).map(([name, { text, refs = [] }]) => ({
        name: { kind: "Model", name },
        refs: refs.map((ref) => ({ kind: "Model", name: ref })),
        paths: [`models/${name}.sql`],
        tags: [],
        spec: { text, output: { table: name }, specHash: text },
      })),
      broken: Object.entries(this.broken).map(([name, problem]) => ({ name: { kind: "Model", name }, problem })),
      unrun: [],
      problems: Object.values(this.broken),
    };
  }

  #model() {
    return graphKind<{ readonly text: string }, { readonly rows: number; readonly runId: string }>({
      name: "Model",
      whenRefsFinish: "changed",
      reconcile: ({ meta, spec }, ctx) => {
        ctx.requireRefs();
        const { name } = meta.name;
        if (this.tables.get(name) === spec.text && !ctx.causes.some(({ type }) => type === "requested")) {
          return { outputVersion: spec.text };
        }
        this.runs.push(name);
        if (this.failures[name] !== undefined) return terminal(new Error(this.failures[name]));
        this.tables.set(name, spec.text);
        ctx.updateState({ rows: spec.text.length, runId: `run-${this.runs.length}` });
        return { outputVersion: spec.text };
      },
      remove: ({ meta }) => void this.tables.delete(meta.name.name),
      rename: (_resource, { from, to }) => {
        const table = this.tables.get(from.name);
        this.tables.delete(from.name);
        if (table !== undefined) this.tables.set(to.name, table);
      },
    });
  }

  #engine(): Engine {
    const engine: Partial<Engine> = {
      connections: 2,
      inspect: async () => this.facts,
      request: async (table, request) => void this.requests.push({ table, ...request }),
      partitions: async () => [],
      [Symbol.asyncDispose]: async () => {},
    };
    return engine as Engine;
  }
}
