import type { PipelinesErrorCode, StatementPosition } from "../../errors.js";
import type {
  Column,
  ParsedStatement,
  PartitionRecord,
  Publication,
  QueryResult,
  RefreshRequest,
  TableFacts,
} from "../engine.js";

/** How the child opens its database. */
export interface OpenRequest {
  readonly path: string;
  readonly settings: Readonly<Record<string, string>>;
  /** True if nobody has written to the file since our process last did. The stamps then need no check. */
  readonly isSealed: boolean;
}

/** The calls that the child answers, with their arguments and answers. Both are JSON. */
export interface Calls {
  open: { readonly args: OpenRequest; readonly answer: null };
  parse: { readonly args: readonly string[]; readonly answer: readonly ParsedStatement[] };
  describe: { readonly args: { readonly sql: string; readonly schema?: string }; readonly answer: readonly Column[] };
  query: {
    readonly args: { readonly sql: string; readonly schema?: string; readonly limit?: number };
    readonly answer: QueryResult;
  };
  publish: { readonly args: Publication; readonly answer: TableFacts };
  /** Facts of every table and view, stamped or not, and of every open request. */
  facts: { readonly args: null; readonly answer: readonly TableFacts[] };
  partitions: { readonly args: TableName; readonly answer: readonly PartitionRecord[] };
  savePartitions: {
    readonly args: TableName & { readonly records: readonly PartitionRecord[] };
    readonly answer: null;
  };
  rename: { readonly args: TableName & { readonly to: string }; readonly answer: null };
  drop: { readonly args: TableName; readonly answer: null };
  request: { readonly args: TableName & { readonly request: RefreshRequest }; readonly answer: null };
  dropSchema: { readonly args: { readonly schema: string }; readonly answer: null };
  /** Writes the log into the file. */
  checkpoint: { readonly args: null; readonly answer: null };
  close: { readonly args: null; readonly answer: null };
}

export interface TableName {
  readonly table: string;
  readonly schema?: string;
}

export type CallName = keyof Calls;

export type ToChild =
  | {
      readonly type: "call";
      readonly id: number;
      readonly name: CallName;
      readonly args: unknown;
      readonly progress: boolean;
    }
  | { readonly type: "abort"; readonly id: number }
  | { readonly type: "ping" };

export type FromChild =
  | { readonly type: "answer"; readonly id: number; readonly answer: unknown }
  | { readonly type: "failed"; readonly id: number; readonly error: WireError }
  | { readonly type: "progress"; readonly id: number; readonly share: number }
  | { readonly type: "pong" };

/** An error that the child sends to its parent. `aborted`: the call was interrupted on request. */
export interface WireError {
  readonly code: PipelinesErrorCode | "aborted" | "lock" | "broken";
  readonly message: string;
  readonly position?: StatementPosition;
  /** True if the database accepts no more statements until it is opened again. */
  readonly isFatal?: boolean;
}
