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

/** What the engine's parser says about one statement. Names of common table expressions are no mentions. */
export type ParsedStatement =
  | {
      readonly type: "parsed";
      /** False for a statement that returns no rows, such as `CREATE TABLE`. */
      readonly isQuery: boolean;
      readonly tables: readonly TableMention[];
      /** Paths and globs that the statement reads: `FROM 'data/*.csv'`, `read_parquet('x')`. */
      readonly files: readonly string[];
      /** Equal for statements that differ in comments, white space or the case of keywords and identifiers only. */
      readonly hash: string;
      /** False where the parser could not break the statement down; `tables` then comes from its tokens. */
      readonly isExact: boolean;
    }
  | { readonly type: "invalid"; readonly message: string; readonly offset?: number };

/** How the rows of a query come to the table. */
export type TableWrite =
  | { readonly type: "view"; readonly sql: string }
  | { readonly type: "replace"; readonly sql: string }
  | { readonly type: "append"; readonly sql: string }
  | { readonly type: "merge"; readonly sql: string; readonly uniqueKey: readonly string[] }
  | { readonly type: "overwrite"; readonly sql: string; readonly partitionBy: string }
  /** The table that was built aside takes this one's place, with its ledger. */
  | { readonly type: "adopt"; readonly from: string }
  /** The table stays; tests and stamp are made anew. */
  | { readonly type: "keep" };

/** The proof of what a table holds; a row beside the table, written by the transaction that wrote the table. */
export interface Stamp {
  readonly specHash: string;
  readonly testHash: string;
  /** Output versions of what the run read, by `Kind/name`; files by their pattern. */
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
  /** Undefined while it was never loaded, or was asked for again. */
  readonly executedOn?: number;
  readonly error?: string;
  readonly skipped?: boolean;
}

/**
 * All that one run commits, in one transaction: the statements before, the write, the tests, the statements after, the ledger's
 * rows and the stamp. Where anything fails, a test included, nothing of it is kept.
 */
export interface Publication {
  /** Schema and name of the table or view. `main` is the default schema. */
  readonly schema?: string;
  readonly table: string;
  readonly runId: string;
  readonly before: readonly string[];
  readonly write: TableWrite;
  /** Each returns rows exactly when it fails. */
  readonly tests: readonly { readonly name: string; readonly sql: string }[];
  readonly after: readonly string[];
  /** A query whose first row becomes the stamp's state. */
  readonly stateSql?: string;
  readonly partitions: readonly PartitionRecord[];
  /** The ledger is emptied before `partitions` are written. */
  readonly resetPartitions?: boolean;
  /** Requests for a refresh that this run fulfils. */
  readonly fulfils: readonly string[];
  /** With an output version, this one is taken: a view of a table elsewhere has the version of that table. */
  readonly stamp: Pick<Stamp, "specHash" | "testHash" | "inputs" | "builtOn"> & { readonly outputVersion?: string };
}

/** A table or view as it is in the database, with what proves its content. */
export interface TableFacts {
  readonly schema: string;
  readonly table: string;
  readonly type: "table" | "view" | "absent";
  readonly columns: readonly Column[];
  readonly stamp?: Stamp;
  /** True where the table is not what its last publication left: dropped, altered, or its rows written by somebody else. */
  readonly isDrifted: boolean;
  /** Requests for a refresh that no run has fulfilled. */
  readonly requests: readonly RefreshRequest[];
}

/** Somebody asked for a refresh; kept in the database until a run fulfils it. */
export interface RefreshRequest {
  readonly id: string;
  readonly full: boolean;
  /** Keys of the partitions that are meant; undefined for the whole table. */
  readonly partitions?: readonly string[];
}

export interface EngineRunOptions {
  readonly signal: AbortSignal;
  /** Share of the work that is done, between 0 and 1, where the engine knows. */
  readonly onProgress?: (share: number) => void;
}

/** Where names without a schema are looked up first; `main` comes after it. */
export interface SchemaOption {
  readonly schema?: string;
}

export interface QueryResult {
  readonly columns: readonly Column[];
  /** Values as JSON can hold them: numbers that JSON's would not hold exactly as text, maps as objects, NaN as null. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly isCut: boolean;
}

/**
 * Where models are built. Calls may overlap; the engine limits how many run at once. A call rejects with a `PipelinesError`:
 * `PIPELINES_ENGINE_FAILED` with `position` where the engine names one, `PIPELINES_TESTS_FAILED`, `PIPELINES_ENGINE_LOST`
 * where the engine's process ended. An aborted signal ends a call within a second, whatever the engine does; the call then
 * rejects with the signal's reason.
 */
export interface Engine extends AsyncDisposable {
  /** How many publications run at once. */
  readonly connections: number;
  parse(statements: readonly string[], signal?: AbortSignal): Promise<readonly ParsedStatement[]>;
  /** The columns of a query; reads no data. */
  describe(sql: string, options?: SchemaOption & { readonly signal?: AbortSignal }): Promise<readonly Column[]>;
  /** Reads only: a statement that would change the database is refused. */
  query(sql: string, options: EngineRunOptions & SchemaOption & { readonly limit?: number }): Promise<QueryResult>;
  /**
   * Resolves with the new stamp once it is committed; never where the commit is not certain. Publications of one table follow each
   * other, so that tests and stamp of each are about all its rows.
   */
  publish(publication: Publication, options: EngineRunOptions): Promise<Stamp>;
  /** Of the tables that are named, or of all that have a stamp, in one schema: `main` unless given. */
  inspect(tables?: readonly string[], schema?: string): Promise<readonly TableFacts[]>;
  partitions(table: string, schema?: string): Promise<readonly PartitionRecord[]>;
  /** Writes rows of the ledger by their key, outside a publication: to mark partitions as skipped, failed, or to be loaded again. */
  savePartitions(table: string, records: readonly PartitionRecord[], schema?: string): Promise<void>;
  /** Moves table, stamp, ledger and requests in place of what is at `to`; does nothing where nothing is at `from`. */
  rename(from: string, to: string, schema?: string): Promise<void>;
  /** Drops the table or view that a publication made, with its stamp and ledger; does nothing where it is gone. */
  drop(table: string, schema?: string): Promise<void>;
  /** Drops a schema other than `main`, with all that is in it. */
  dropSchema(schema: string): Promise<void>;
  request(table: string, request: RefreshRequest, schema?: string): Promise<void>;
}
