import type { Column } from "../engine/engine.js";
import type { ModelAction } from "./decide-model.js";

/** The visible state of a model. It caches what the database says; the model's own runs decide nothing by it. */
export interface ModelState {
  /** What the last run did, and why. */
  readonly action: ModelAction;
  readonly reason: string;
  /** The reason of the last run that did something. */
  readonly cause?: string;
  /** Name of the table or view. */
  readonly table: string;
  readonly type: "table" | "view" | "absent";
  /** Hash of the definition. Incremental and partitioned dependents include it in their own hash. */
  readonly specHash: string;
  /** The run that published the table. */
  readonly runId?: string;
  readonly builtOn?: number;
  readonly durationMs?: number;
  readonly rows?: number;
  readonly columns?: readonly Column[];
  readonly partitions?: PartitionCounts;
}

export interface PartitionCounts {
  readonly total: number;
  readonly pending: number;
  readonly failed: number;
  readonly skipped: number;
}
