import type { SourceStatus } from "../causes/controller-sources.js";

export type ControllerPhase = "starting" | "running" | "stopping" | "stopped";

export interface ControllerStatus {
  readonly name: string;
  readonly phase: ControllerPhase;
  /** Keys in the queue, delayed keys, and keys at their longest interval. */
  readonly queued: number;
  readonly delayed: number;
  readonly parked: readonly string[];
  readonly running: readonly string[];
  readonly informers: readonly SourceStatus[];
}
