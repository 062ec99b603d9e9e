import type { Column } from "../engine/engine.js";
import type { ModelAction } from "./decide-model.js";

/** What is shown of a model. A cache of what the database says: nothing is decided by it. */
export interface ModelState {
  /** What the last run did, and why. */
  readonly action: ModelAction;
  readonly reason: string;
  /** Why the last run that did something did it. */
  readonly cause?: string;
  /** Name of the table or view. */
  readonly table: string;
  readonly type: "table" | "view" | "absent";
  /** Of the definition that the table was built from; dependents that add to their table compare it. */
  readonly specHash: string;
  /** Of the run that made what is published. */
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
