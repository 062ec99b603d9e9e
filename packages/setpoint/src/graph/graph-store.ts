import type { Key } from "./resource.js";
import type { Effect, GraphRecord } from "./state.js";

export type StoreWrite = Extract<Effect, { type: "put" | "remove" }>;

/** Where resources outlive the process. Every implementation passes `graph-store.contract.ts`. */
export interface GraphStore {
  /** Fences off the process that had the store open: its next commit fails with `GRAPH_FENCED`. */
  open(): GraphSession | Promise<GraphSession>;
}

/** One process's turn with a store. */
export interface GraphSession extends Disposable {
  /** All that is stored, in no promised order. */
  records(): Iterable<{ readonly id: Key; readonly record: GraphRecord }>;
  /**
   * Makes all writes durable, or none of them. In the same transaction checks that nobody has taken this one's place
   * (`GRAPH_FENCED`), and that each record still has the version that the write expects (`GRAPH_CONFLICT`).
   */
  commit(writes: readonly StoreWrite[]): void | Promise<void>;
}
