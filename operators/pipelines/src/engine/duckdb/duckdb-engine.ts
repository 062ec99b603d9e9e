import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import { isSetpointError } from "setpoint";
import { type Clock, systemClock, type Timer } from "setpoint/clock";
import { PipelinesError } from "../../errors.js";
import type {
  Column,
  Engine,
  EngineRunOptions,
  ParsedStatement,
  PartitionRecord,
  Publication,
  QueryResult,
  RefreshRequest,
  SchemaOption,
  Stamp,
  TableFacts,
} from "../engine.js";
import { setAside, setLogAside } from "./broken-database.js";
import { CallFailure, type CallOptions, EngineChild } from "./engine-child.js";
import type { CallName, Calls } from "./protocol.js";
import { isSealed, seal } from "./seal.js";
import { Slots } from "./slots.js";
import { MAIN_SCHEMA, tableId } from "./sql-text.js";

export interface DuckDbOptions {
  /** The database file. Its folder is created if it is missing. */
  readonly path: string;
  /** The folder that relative paths in statements start from. Defaults to the working directory of this process. */
  readonly folder?: string;
  /** How many publications run at once. Defaults to the number of processors, between 2 and 8. */
  readonly connections?: number;
  /** In DuckDB's format, such as `4GB`. */
  readonly memoryLimit?: string;
  readonly threads?: number;
  readonly tempDirectory?: string;
  /** Called when a database did not open and was renamed. A new one takes its place. */
  readonly onSetAside?: (aside: { readonly path: string; readonly reason: string }) => void;
  readonly clock?: Clock;
}

/**
 * How many queries run beside publications. Threads are costly: ten instead of four make publications a third slower.
 */
const QUERIES = 2;
/** How long to wait until another process releases the file. It may be our own, killed a moment ago. */
const LOCK_PATIENCE_MS = 2_000;
const LOCK_RETRY_MS = 50;
/** Time without a write after which the engine writes its log into the file. */
const REST_MS = 1_000;
const CLOSE_MS = 10_000;

/**
 * Opens a database in a child process. Rejects with `PIPELINES_BUSY` if another process has it open. A database that
 * does not open is renamed, and a new one takes its place.
 */
export async function openDuckDb(options: DuckDbOptions): Promise<DuckDbEngine> {
  const engine = new DuckDbEngine(options);
  await engine.start();
  return engine;
}

/** DuckDB in a child process. If the process has ended, the next call starts another. */
export class DuckDbEngine implements Engine {
  readonly connections: number;
  readonly #options: DuckDbOptions;
  readonly #clock: Clock;
  readonly #publications: Slots;
  readonly #queries = new Slots(QUERIES);
  /** The queue of each table's publications, by table id. */
  readonly #lines = new Map<string, Slots>();
  #child: Promise<EngineChild> | undefined;
  /** Cached facts by table id; undefined if the child must be asked. */
  #facts: Promise<Map<string, TableFacts>> | undefined;
  #writing = 0;
  #rest: Timer | undefined;
  #isClosed = false;

  constructor(options: DuckDbOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.connections = options.connections ?? Math.max(2, Math.min(8, availableParallelism()));
    this.#publications = new Slots(this.connections);
  }

  async start(): Promise<void> {
    await this.#running();
  }

  /** The PID of the engine's process, if it runs. */
  async pid(): Promise<number | undefined> {
    return (await this.#child)?.pid;
  }

  parse(statements: readonly string[], signal?: AbortSignal): Promise<readonly ParsedStatement[]> {
    return this.#call("parse", statements, { signal });
  }

  describe(sql: string, options: SchemaOption & { readonly signal?: AbortSignal } = {}): Promise<readonly Column[]> {
    const { signal, ...rest } = options;
    return this.#call("describe", { sql, ...rest }, { signal });
  }

  query(
    sql: string,
    { signal, onProgress, limit, schema }: EngineRunOptions & SchemaOption & { readonly limit?: number },
  ): Promise<QueryResult> {
    const args = { sql, ...(limit === undefined ? {} : { limit }), ...(schema === undefined ? {} : { schema }) };
    return this.#queries.with(signal, () => this.#call("query", args, { signal, onProgress }));
  }

  #lineOf({ schema, table }: Publication): Slots {
    const id = tableId(table, schema);
    const line = this.#lines.get(id) ?? new Slots(1);
    this.#lines.set(id, line);
    return line;
  }

  async publish(publication: Publication, { signal, onProgress }: EngineRunOptions): Promise<Stamp> {
    const call = () => this.#call("publish", publication, { signal, onProgress });
    // Publications of one table run one after the other. Tests, rows and checksum of each then cover everything that
    // was committed before.
    const inLine = () => this.#lineOf(publication).with(signal, () => this.#publications.with(signal, call));
    const facts = await this.#write(inLine).catch((error: unknown) => {
      // The commit may have succeeded although no answer came.
      if (!isSetpointError(error) || error.code === "PIPELINES_ENGINE_LOST") this.#facts = undefined;
      throw error;
    });
    // The user's statements may have changed other tables.
    const isAlone = publication.before.length + publication.after.length === 0 && publication.write.type !== "adopt";
    if (!isAlone) this.#facts = undefined;
    else (await this.#facts)?.set(tableId(facts.table, facts.schema), facts);
    return facts.stamp!;
  }

  /** Answers from the cache: while the child runs, only this engine can change the file. */
  async inspect(tables?: readonly string[], schema?: string): Promise<readonly TableFacts[]> {
    await this.#running();
    this.#facts ??= this.#call("facts", null).then(
      (all) => new Map(all.map((facts) => [tableId(facts.table, facts.schema), facts])),
    );
    const loading = this.#facts;
    loading.catch(() => {
      if (this.#facts === loading) this.#facts = undefined;
    });
    const known = await loading;
    if (tables) return tables.map((table) => known.get(tableId(table, schema)) ?? absent(table, schema));
    const wanted = (schema ?? MAIN_SCHEMA).toLowerCase();
    return [...known.values()].filter((facts) => facts.stamp && facts.schema.toLowerCase() === wanted);
  }

  partitions(table: string, schema?: string): Promise<readonly PartitionRecord[]> {
    return this.#call("partitions", named(table, schema));
  }

  async savePartitions(table: string, records: readonly PartitionRecord[], schema?: string): Promise<void> {
    await this.#write(() => this.#call("savePartitions", { ...named(table, schema), records }));
  }

  async rename(from: string, to: string, schema?: string): Promise<void> {
    await this.#change(() => this.#call("rename", { ...named(from, schema), to }));
  }

  async drop(table: string, schema?: string): Promise<void> {
    await this.#change(() => this.#call("drop", named(table, schema)));
  }

  async dropSchema(schema: string): Promise<void> {
    await this.#change(() => this.#call("dropSchema", { schema }));
  }

  async request(table: string, request: RefreshRequest, schema?: string): Promise<void> {
    await this.#change(() => this.#call("request", { ...named(table, schema), request }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#rest?.[Symbol.dispose]();
    const child = await this.#child?.catch(() => undefined);
    if (!child || child.isOver) return;
    using _patience = this.#clock.timer(CLOSE_MS, () => child.kill());
    await child.call("close", null).catch(() => {});
    child.kill();
    await child.ended;
  }

  async #call<Name extends CallName>(
    name: Name,
    args: Calls[Name]["args"],
    options: CallOptions = {},
  ): Promise<Calls[Name]["answer"]> {
    const child = await this.#running();
    try {
      return await child.call(name, args, options);
    } catch (error) {
      throw error instanceof CallFailure ? pipelinesError(error) : error;
    }
  }

  /** Runs a write that invalidates the cached facts. */
  async #change(work: () => Promise<unknown>): Promise<void> {
    try {
      await this.#write(work);
    } finally {
      this.#facts = undefined;
    }
  }

  /** Runs a write. After a while without writes, the engine writes its log into the file and seals it. */
  async #write<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#rest?.[Symbol.dispose]();
    this.#writing++;
    try {
      return await work();
    } finally {
      this.#writing--;
      if (this.#writing === 0 && !this.#isClosed) {
        this.#rest = this.#clock.timer(REST_MS, () => void this.#restful().catch(() => {})).unref();
      }
    }
  }

  async #restful(): Promise<void> {
    const child = await this.#child;
    if (!child || child.isOver || this.#writing > 0) return;
    await child.call("checkpoint", null);
    if (this.#writing === 0 && !child.isOver) seal(this.#options.path);
  }

  #running(): Promise<EngineChild> {
    if (this.#isClosed) {
      return Promise.reject(new PipelinesError("PIPELINES_ENGINE_LOST", "the engine is closed"));
    }
    this.#child ??= this.#open().then(
      (child) => {
        void child.ended.then(() => {
          this.#child = undefined;
          this.#facts = undefined;
        });
        return child;
      },
      (error: unknown) => {
        this.#child = undefined;
        throw error;
      },
    );
    return this.#child;
  }

  async #open(): Promise<EngineChild> {
    const { path, memoryLimit, threads, tempDirectory } = this.#options;
    mkdirSync(dirname(path), { recursive: true });
    const settings: Record<string, string> = {
      autoinstall_known_extensions: "false",
      ...(memoryLimit === undefined ? {} : { memory_limit: memoryLimit }),
      ...(threads === undefined ? {} : { threads: String(threads) }),
      ...(tempDirectory === undefined ? {} : { temp_directory: tempDirectory }),
    };
    const startedMs = this.#clock.monotonic();
    for (let losses = 0; ; ) {
      const child = new EngineChild(this.#clock, this.connections + QUERIES, this.#options.folder);
      try {
        await child.call("open", { path, settings, isSealed: isSealed(path) });
        // When the child has ended, the file is as the child left it. Seal it.
        void child.ended.then(() => seal(path));
        return child;
      } catch (error) {
        child.kill();
        await child.ended;
        const wire = error instanceof CallFailure ? error.wire : undefined;
        if (wire === undefined) throw error;
        if (wire === "lost") {
          if (++losses < 2) continue;
          losses = 0;
          if (!this.#setAside("the engine ended while it opened the database"))
            throw pipelinesError(error as CallFailure);
        } else if (wire.code === "lock") {
          if (this.#clock.monotonic() - startedMs > LOCK_PATIENCE_MS) throw busy(path, wire.message);
          await this.#clock.sleep(LOCK_RETRY_MS);
        } else if (wire.code !== "broken" || !this.#setAside(wire.message)) {
          throw pipelinesError(error as CallFailure);
        }
      }
    }
  }

  /** Renames first the log alone, then the whole database. Returns false if nothing is left to rename. */
  #setAside(reason: string): boolean {
    const { path, onSetAside } = this.#options;
    const nowMs = this.#clock.now();
    const aside = setLogAside(path, nowMs) ?? setAside(path, nowMs);
    if (aside === undefined) return false;
    onSetAside?.({ path: aside, reason });
    return true;
  }
}

function named(table: string, schema: string | undefined): { readonly table: string; readonly schema?: string } {
  return { table, ...(schema === undefined ? {} : { schema }) };
}

function absent(table: string, schema = MAIN_SCHEMA): TableFacts {
  return { schema, table, type: "absent", columns: [], isDrifted: false, requests: [] };
}

function busy(path: string, pid: string): PipelinesError {
  return new PipelinesError("PIPELINES_BUSY", `${path} is open in the process with PID ${pid}`);
}

function pipelinesError(failure: CallFailure): PipelinesError {
  const { wire } = failure;
  if (wire === "lost") {
    return new PipelinesError("PIPELINES_ENGINE_LOST", `the engine's process ${failure.message}`, { cause: failure });
  }
  const code = wire.code === "aborted" || wire.code === "lock" || wire.code === "broken" ? undefined : wire.code;
  return new PipelinesError(code ?? "PIPELINES_ENGINE_FAILED", wire.message, {
    cause: failure,
    ...(wire.position ? { position: wire.position } : {}),
  });
}
