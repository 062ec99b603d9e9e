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
  /** Whether nobody has written to the file since our process last did: what the stamps say then needs no proof. */
  readonly isSealed: boolean;
}

/** What the child can be asked: arguments and answer of each call. Both are JSON. */
export interface Calls {
  open: { readonly args: OpenRequest; readonly answer: null };
  parse: { readonly args: readonly string[]; readonly answer: readonly ParsedStatement[] };
  describe: { readonly args: { readonly sql: string; readonly schema?: string }; readonly answer: readonly Column[] };
  query: {
    readonly args: { readonly sql: string; readonly schema?: string; readonly limit?: number };
    readonly answer: QueryResult;
  };
  publish: { readonly args: Publication; readonly answer: TableFacts };
  /** Of every table and view, stamped or not, and of what was asked for. */
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
  /** Brings everything from the log into the file. */
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

/** An error between the processes. `aborted`: the call was interrupted, as it was asked to. */
export interface WireError {
  readonly code: PipelinesErrorCode | "aborted" | "lock" | "broken";
  readonly message: string;
  readonly position?: StatementPosition;
  /** The database takes no more statements until it is opened again. */
  readonly isFatal?: boolean;
}
