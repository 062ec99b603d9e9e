import type { Outcome } from "../../loop/outcome.js";
import type { WriteRecord } from "../timeline/timeline.js";

/** What a run of one object would do. */
export interface PlannedRun {
  readonly controller: string;
  readonly kind: string;
  readonly key: string;
  /** In order. The server has validated each and stored none. */
  readonly writes: readonly Pick<WriteRecord, "verb" | "kind" | "key" | "paths">[];
  /** The names of effects outside Kubernetes. */
  readonly effects: readonly string[];
  readonly outcome: Outcome["type"] | "paused" | "unknown";
  /** Why it would wait or fail, or why the plan ends here. */
  readonly reason?: string;
}

/** A planned run as text, one line for each action; empty if there is none. */
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
