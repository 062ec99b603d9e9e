/** One column as the engine names and types it. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

/** A table that a statement reads, as it is written there. */
export interface TableMention {
  readonly catalog?: string;
  readonly schema?: string;
  readonly table: string;
  /** Offset of the mention in the statement's text, in characters. */
  readonly offset: number;
}

/** The parser's result for one statement. Names of common table expressions are not mentions. */
export type ParsedStatement =
  | {
      readonly type: "parsed";
      /** False for a statement that returns no rows, such as `CREATE TABLE`. */
      readonly isQuery: boolean;
      readonly tables: readonly TableMention[];
      /** Paths and globs that the statement reads: `FROM 'data/*.csv'`, `read_parquet('x')`. */
      readonly files: readonly string[];
      /** Equal for statements that differ only in comments, white space, or the case of keywords and identifiers. */
      readonly hash: string;
      /** False if the parser cannot serialise the statement; `tables` then comes from its tokens. */
      readonly isExact: boolean;
    }
  | { readonly type: "invalid"; readonly message: string; readonly offset?: number };

/** How a publication writes its table or view. */
export type TableWrite =
  | { readonly type: "view"; readonly sql: string }
  | { readonly type: "replace"; readonly sql: string }
  | { readonly type: "append"; readonly sql: string }
  | { readonly type: "merge"; readonly sql: string; readonly uniqueKey: readonly string[] }
  | { readonly type: "overwrite"; readonly sql: string; readonly partitionBy: string }
  /** The table `from`, which was built aside, replaces this one, together with its ledger. */
  | { readonly type: "adopt"; readonly from: string }
  /** The table stays; the tests run, and the stamp is written anew. */
  | { readonly type: "keep" };

/** Proves what a table holds. A row beside the table, written by the transaction that wrote the table. */
export interface Stamp {
  readonly specHash: string;
  readonly testHash: string;
  /** Output versions of the run's inputs, by `Kind/name`; fingerprints of files, by their pattern. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly runId: string;
  /** Equal for equal content. */
  readonly outputVersion: string;
  readonly rows: number;
  /** Wall time in milliseconds. */
  readonly builtOn: number;
  readonly durationMs: number;
  /** The first row of the model's state query. */
  readonly state?: Readonly<Record<string, unknown>>;
}

/** One partition in the ledger of a table. */
export interface PartitionRecord {
  readonly key: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly watermark?: string;
  /** Undefined if the partition was never loaded or was requested again. */
  readonly executedOn?: number;
  readonly error?: string;
  readonly skipped?: boolean;
}

/**
 * Everything that a run commits in one transaction: the statements before, the write, the tests, the statements after,
 * the ledger's rows and the stamp. If anything fails, including a test, nothing is committed.
 */
export interface Publication {
  /** Schema and name of the table or view. `main` is the default schema. */
  readonly schema?: string;
  readonly table: string;
  readonly runId: string;
  readonly before: readonly string[];
  readonly write: TableWrite;
  /** Queries that return rows exactly if the test fails. */
  readonly tests: readonly { readonly name: string; readonly sql: string }[];
  readonly after: readonly string[];
  /** A query whose first row becomes the stamp's state. */
  readonly stateSql?: string;
  readonly partitions: readonly PartitionRecord[];
  /** Whether to empty the ledger before `partitions` are written. */
  readonly resetPartitions?: boolean;
  /** Ids of the refresh requests that this run fulfils. */
  readonly fulfils: readonly string[];
  /** If an output version is given, the stamp takes it: a view of a table elsewhere has the version of that table. */
  readonly stamp: Pick<Stamp, "specHash" | "testHash" | "inputs" | "builtOn"> & { readonly outputVersion?: string };
}

/** A table or view as it is in the database, with the stamp that proves its content. */
export interface TableFacts {
  readonly schema: string;
  readonly table: string;
  readonly type: "table" | "view" | "absent";
  readonly columns: readonly Column[];
  readonly stamp?: Stamp;
  /** True if the table is not what its last publication left: dropped, altered, or written by somebody else. */
  readonly isDrifted: boolean;
  /** Refresh requests that no run has fulfilled yet. */
  readonly requests: readonly RefreshRequest[];
}

/** A request for a refresh. The database keeps it until a run fulfils it. */
export interface RefreshRequest {
  readonly id: string;
  readonly full: boolean;
  /** Keys of the requested partitions; undefined for the whole table. */
  readonly partitions?: readonly string[];
}

export interface EngineRunOptions {
  readonly signal: AbortSignal;
  /** Called with the completed share of the work, between 0 and 1, if the engine knows it. */
  readonly onProgress?: (share: number) => void;
}

/** The schema in which names without a schema are looked up first, before `main`. */
export interface SchemaOption {
  readonly schema?: string;
}

export interface QueryResult {
  readonly columns: readonly Column[];
  /** Values as JSON: maps are objects, NaN is null, and numbers that JSON would not hold exactly are text. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly isCut: boolean;
}

/**
 * The database in which models are built. Calls may overlap; the engine limits how many run at once. A call rejects
 * with a `PipelinesError`: `PIPELINES_ENGINE_FAILED`, with `position` if the engine names one;
 * `PIPELINES_TESTS_FAILED`; or `PIPELINES_ENGINE_LOST` if the engine's process ended. An aborted signal ends a call
 * within a second, whatever the engine does; the call then rejects with the signal's reason.
 */
export interface Engine extends AsyncDisposable {
  /** How many publications run at once. */
  readonly connections: number;
  parse(statements: readonly string[], signal?: AbortSignal): Promise<readonly ParsedStatement[]>;
  /** The columns of a query; reads no data. */
  describe(sql: string, options?: SchemaOption & { readonly signal?: AbortSignal }): Promise<readonly Column[]>;
  /** Read-only: refuses a statement that would change the database. */
  query(sql: string, options: EngineRunOptions & SchemaOption & { readonly limit?: number }): Promise<QueryResult>;
  /**
   * Resolves with the new stamp only when the commit is certain. Publications of one table run one after the other, so
   * that the tests and the stamp of each cover all rows of the table.
   */
  publish(publication: Publication, options: EngineRunOptions): Promise<Stamp>;
  /** The facts of the named tables, or of all tables with a stamp, in one schema (`main` by default). */
  inspect(tables?: readonly string[], schema?: string): Promise<readonly TableFacts[]>;
  partitions(table: string, schema?: string): Promise<readonly PartitionRecord[]>;
  /** Writes rows of the ledger by key, outside a publication, to mark partitions as skipped, failed or pending. */
  savePartitions(table: string, records: readonly PartitionRecord[], schema?: string): Promise<void>;
  /**
   * Renames a table with its stamp, ledger and requests, and replaces what is at `to`. Does nothing if nothing is at
   * `from`.
   */
  rename(from: string, to: string, schema?: string): Promise<void>;
  /** Drops the table or view that a publication made, with its stamp and ledger. Does nothing if it is gone. */
  drop(table: string, schema?: string): Promise<void>;
  /** Drops a schema other than `main`, with everything in it. */
  dropSchema(schema: string): Promise<void>;
  request(table: string, request: RefreshRequest, schema?: string): Promise<void>;
}
