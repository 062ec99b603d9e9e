import type { SourceText } from "../project/source-text.js";

/**
 * A model or source as its file declares it. Each `SourceText` is a template, rendered at each run with the state, the
 * partition and the variables of that run.
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
  /**
   * What to do when the definition changes: `reset` rebuilds, `manual` waits for a full refresh, `patch` keeps what was
   * loaded.
   */
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
  /** True if the file declares a source. Affects only messages. */
  readonly isSource: boolean;
  /**
   * Hash of everything that the table's content depends on, except refs and files: rendered and parsed SQL, the values
   * of used variables, output options. Ignores comments and formatting. Holds no secret.
   */
  readonly specHash: string;
  /** Hash of the tests. */
  readonly testHash: string;
  /** Hash of the files' text. A moved file keeps it, even if the text still names the old table. */
  readonly textHash: string;
  /** Local files that the model reads, with a fingerprint of their content when the project was parsed. */
  readonly files: readonly { readonly pattern: string; readonly fingerprint: string }[];
}

export type ModelInput =
  | { readonly type: "sql"; readonly connector: string; readonly sql: SourceText }
  /** Local files: a path or a glob, relative to the project's folder unless absolute. */
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
  /** A query that runs on the connector's server. */
  | { readonly type: "postgres"; readonly connector: string; readonly sql: SourceText };

export type FileFormat = "csv" | "json" | "parquet";

export interface ModelOutput {
  readonly connector: string;
  /** Name of the table or view. */
  readonly table: string;
  /** If undefined, SQL in the same engine becomes a view, any other input a table. */
  readonly materialize?: boolean;
  readonly strategy: "append" | "merge" | "partition_overwrite";
  readonly uniqueKey: readonly string[];
  /** A column or expression. A run replaces all rows that have one of the values that it writes. */
  readonly partitionBy?: string;
}

export type ModelPartitions = {
  /** A column of the partition. When its value grows, the partition is loaded again. */
  readonly watermark?: string;
  readonly concurrency: number;
} & (
  | { readonly type: "sql"; readonly sql: SourceText }
  | {
      readonly type: "glob";
      readonly path: SourceText;
      /** `hive`: one partition for each directory, with the `key=value` parts of its path as columns. */
      readonly by: "file" | "directory" | "hive";
      readonly transformSql?: SourceText;
    }
);

export interface RefreshSchedule {
  readonly cron?: string;
  readonly everyMs?: number;
  /** An IANA name; UTC by default. */
  readonly timeZone?: string;
  /** Whether the model runs when a ref has new output. */
  readonly onRefs: boolean;
  /** If true, the model does not run and its table stays as it is. */
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
  /** Rows that replace an input, by the name of the input. */
  readonly given: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
  readonly expect: readonly Readonly<Record<string, unknown>>[];
}
