import type { SourceText } from "../project/source-text.js";

/**
 * A model or source as its file declares it. Texts of type `SourceText` are templates; they are rendered at each run with the
 * state, the partition and the variables of that run.
 */
export interface ModelSpec {
  readonly input: ModelInput;
  readonly preExec?: SourceText;
  readonly postExec?: SourceText;
  readonly output: ModelOutput;
  readonly incremental: boolean;
  /** A query whose first row is `{{ .state }}` of the next incremental run. */
  readonly state?: SourceText;
  readonly partitions?: ModelPartitions;
  readonly refresh: RefreshSchedule;
  /** `reset` rebuilds when the spec changes, `manual` waits for a refresh, `patch` keeps what was loaded. */
  readonly changeMode: "reset" | "manual" | "patch";
  readonly retry: {
    readonly attempts: number;
    readonly delayMs: number;
    readonly exponential: boolean;
    readonly matching: readonly string[];
  };
  readonly timeoutMs: number;
  readonly tests: readonly DataTest[];
  readonly unitTests: readonly UnitTest[];
  /** Whether the file declares a source: only messages differ. */
  readonly isSource: boolean;
  /**
   * The meaning of everything that the table's content depends on, besides refs and files: rendered and parsed SQL, the values of
   * the variables that are used, output options. Comments and formatting do not change it. Holds no secret.
   */
  readonly specHash: string;
  /** The meaning of the tests. */
  readonly testHash: string;
  /** The texts of the files as they stand: a file that was moved keeps it, also where it still names its old table. */
  readonly textHash: string;
  /** Local files that the model reads, with what they held when the project was parsed. */
  readonly files: readonly { readonly pattern: string; readonly fingerprint: string }[];
}

export type ModelInput =
  | { readonly type: "sql"; readonly connector: string; readonly sql: SourceText }
  /** Local files: a path or a glob below the project's folder. */
  | {
      readonly type: "files";
      readonly path: SourceText;
      readonly format?: FileFormat;
      readonly options: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: "http";
      readonly connector: string;
      readonly url: SourceText;
      readonly format?: FileFormat;
      readonly options: Readonly<Record<string, unknown>>;
    }
  /** A query that the server of the connector answers. */
  | { readonly type: "postgres"; readonly connector: string; readonly sql: SourceText };

export type FileFormat = "csv" | "json" | "parquet";

export interface ModelOutput {
  readonly connector: string;
  /** Name of the table or view. */
  readonly table: string;
  /** Undefined takes the rule's default: a view of SQL in the same engine, a table for the rest. */
  readonly materialize?: boolean;
  readonly strategy: "append" | "merge" | "partition_overwrite";
  readonly uniqueKey: readonly string[];
  /** A column or expression whose values say which rows a run replaces. */
  readonly partitionBy?: string;
}

export type ModelPartitions = {
  /** Column of a partition whose growth makes it due again. */
  readonly watermark?: string;
  readonly concurrency: number;
} & (
  | { readonly type: "sql"; readonly sql: SourceText }
  | {
      readonly type: "glob";
      readonly path: SourceText;
      /** `hive` is by directory, with the values of `key=value` in the path as columns. */
      readonly by: "file" | "directory" | "hive";
      readonly transformSql?: SourceText;
    }
);

export interface RefreshSchedule {
  readonly cron?: string;
  readonly everyMs?: number;
  /** An IANA name; UTC by default. */
  readonly timeZone?: string;
  /** Whether new output of a ref is a reason to run. */
  readonly onRefs: boolean;
  /** A model that is disabled is left as it is. */
  readonly disabled: boolean;
}

/** A query that returns rows exactly when the test fails. */
export interface DataTest {
  readonly name: string;
  readonly sql: SourceText;
}

/** Runs the model's SQL on given rows instead of its inputs. */
export interface UnitTest {
  readonly name: string;
  /** Rows by the name of the input that they stand for. */
  readonly given: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
  readonly expect: readonly Readonly<Record<string, unknown>>[];
}
