import type { Outcome } from "../../loop/outcome.js";
import type { WriteRecord } from "../timeline/timeline.js";

/** What a run of one object would do. */
export interface PlannedRun {
  readonly controller: string;
  readonly kind: string;
  readonly key: string;
  /** In their order; the server has checked each, and kept none. */
  readonly writes: readonly Pick<WriteRecord, "verb" | "kind" | "key" | "paths">[];
  /** What would be done outside Kubernetes, by name. */
  readonly effects: readonly string[];
  readonly outcome: Outcome["type"] | "paused" | "unknown";
  /** Why it would wait or fail, or why no more is known. */
  readonly reason?: string;
}

/** A planned run as people read it, one line for each thing that it would do; empty where that is nothing. */
export function describePlan({ kind, key, writes, effects, outcome, reason }: PlannedRun): readonly string[] {
  const lines = [
    ...writes.map((write) => `  ${write.verb} ${write.kind} ${write.key}${shown(write.paths)}`),
    ...effects.map((effect) => `  effect ${effect}`),
    ...(outcome === "done" || outcome === "requeueAfter" ? [] : [`  ${outcome}${reason ? `: ${reason}` : ""}`]),
  ];
  return lines.length === 0 ? [] : [`${kind} ${key}`, ...lines];
}

function shown(paths: readonly string[]): string {
  return paths.length === 0 ? "" : `: ${paths.join(", ")}`;
}
