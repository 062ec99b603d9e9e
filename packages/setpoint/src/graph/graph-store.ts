import type { Key } from "./resource.js";
import type { Effect, GraphRecord } from "./state.js";

export type StoreWrite = Extract<Effect, { type: "put" | "remove" }>;

/** Keeps resources beyond the life of the process. Every implementation passes `graph-store.contract.ts`. */
export interface GraphStore {
  /** Fences off the process that had the store open: its next commit fails with `GRAPH_FENCED`. */
  open(): GraphSession | Promise<GraphSession>;
}

/** One process's session with a store. */
export interface GraphSession extends Disposable {
  /** All records, in no particular order. */
  records(): Iterable<{ readonly id: Key; readonly record: GraphRecord }>;
  /**
   * Makes all writes durable, or none. In the same transaction checks that no other process has opened the store
   * (`GRAPH_FENCED`), and that each record still has the expected version (`GRAPH_CONFLICT`).
   */
  commit(writes: readonly StoreWrite[]): void | Promise<void>;
}
