import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Graph, type GraphStore, memoryStore, openGraph, type ResourceName, type Rest } from "setpoint/graph";
import { VirtualClock } from "setpoint/testing";
import { type DuckDbEngine, openDuckDb } from "../engine/duckdb/duckdb-engine.js";
import type { Engine } from "../engine/engine.js";
import { sourceText } from "../project/source-text.js";
import { modelKind } from "./model.js";
import type { ModelServices } from "./model-services.js";
import type { ModelOutput, ModelSpec } from "./model-spec.js";
import type { ModelState } from "./model-state.js";

export const modelName = (name: string): ResourceName => ({ kind: "Model", name });

type SpecChange = Omit<Partial<ModelSpec>, "output"> & { readonly output?: Partial<ModelOutput> };

/** A spec of a query, as the parser would make it; the hash is that of its text. */
export function modelSpec(table: string, sql: string, { output, ...change }: SpecChange = {}): ModelSpec {
  const path = `models/${table}.sql`;
  const spec: Omit<ModelSpec, "specHash"> = {
    input: { type: "sql", connector: "duckdb", sql: sourceText(path, sql) },
    output: { connector: "duckdb", table, strategy: "append", uniqueKey: [], ...output },
    incremental: false,
    refresh: { onRefs: true, disabled: false },
    changeMode: "reset",
    retry: { attempts: 0, delayMs: 1_000, exponential: false, matching: [] },
    timeoutMs: 3_600_000,
    tests: [],
    unitTests: [],
    isSource: false,
    testHash: JSON.stringify(change.tests ?? []),
    textHash: "",
    files: [],
    ...change,
  };
  return { specHash: JSON.stringify([sql, output, change.incremental, change.partitions]), ...spec };
}

export interface ModelWorld extends AsyncDisposable {
  readonly graph: Graph;
  readonly engine: DuckDbEngine;
  readonly clock: VirtualClock;
  readonly folder: string;
  /** Creates or updates a model, and waits until everything is at rest. */
  put(spec: ModelSpec, refs?: readonly string[]): Promise<Rest>;
  state(name: string): ModelState | undefined;
  error(name: string): string | undefined;
  rows(sql: string): Promise<readonly unknown[]>;
  refresh(name: string, request?: { readonly full?: boolean; readonly partitions?: readonly string[] }): Promise<void>;
  idle(): Promise<void>;
  /** Closes the graph and the engine, and opens both again on the same data. */
  restart(): Promise<void>;
}

/** Models on a real DuckDB in a separate folder, under a virtual clock. */
export async function modelWorld(
  given: Partial<ModelServices> & { readonly engineOf?: (engine: DuckDbEngine) => Engine } = {},
): Promise<ModelWorld> {
  const folder = mkdtempSync(join(tmpdir(), "pipelines-model-"));
  const clock = new VirtualClock(Date.UTC(2024, 0, 1));
  const store: GraphStore = memoryStore();
  let [engine, graph] = await start();
  let requests = 0;

  async function start(): Promise<[DuckDbEngine, Graph]> {
    const opened = await openDuckDb({ path: join(folder, "main.duckdb"), folder, connections: 2 });
    const kind = modelKind({
      engine: given.engineOf?.(opened) ?? opened,
      folder,
      settings: () => ({ environment: "dev", variables: {} }),
      clock,
      ...given,
    });
    return [opened, await openGraph({ kinds: [kind], store, clock, capacity: { connections: 2 } })];
  }

  return {
    folder,
    clock,
    get graph() {
      return graph;
    },
    get engine() {
      return engine;
    },
    async put(spec, refs = []) {
      const name = modelName(spec.output.table);
      const all = refs.map(modelName);
      const ticket = graph.get(name)
        ? graph.batch((edit) => {
            edit.updateSpec(name, spec);
            edit.updateMeta(name, { refs: all });
          })
        : graph.create({ name, spec, refs: all });
      const [rest] = await ticket;
      await graph.waitUntilIdle();
      return rest!;
    },
    state: (name) => graph.get(modelName(name))?.state as ModelState | undefined,
    error: (name) => graph.get(modelName(name))?.error?.message,
    rows: async (sql) => (await engine.query(sql, { signal: new AbortController().signal })).rows,
    async refresh(name, request = {}) {
      await engine.request(name, { id: `request ${requests++}`, full: false, ...request });
      await graph.reconcile(modelName(name));
      await graph.waitUntilIdle();
    },
    idle: () => graph.waitUntilIdle(),
    async restart() {
      await graph[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
      [engine, graph] = await start();
      await graph.waitUntilIdle();
    },
    async [Symbol.asyncDispose]() {
      await graph[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
