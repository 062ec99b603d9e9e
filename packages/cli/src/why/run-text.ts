import { describeCause, type RunRecord, type WriteRecord } from "setpoint/controller";
import { visible } from "../visible.js";

/** One run as text: when and why, what it read and wrote, how it ended. */
export function runText(run: RunRecord): string {
  const causes = run.causes.map(describeCause).join(", ") || "no known cause";
  const attempt = run.attempt > 0 ? `, try ${run.attempt + 1}` : "";
  const lines = [
    `${run.startedAt}  ${causes}`,
    ...run.reads.map((read) => `  read     ${read}`),
    ...run.writes.map((write) => `  wrote    ${writeText(write)}`),
    ...run.effects.map((effect) => `  effect   ${effect}`),
    `  outcome  ${run.outcome}${run.reason ? `: ${run.reason}` : ""} (${Math.round(run.durationMs)} ms${attempt})`,
  ];
  return lines.map(visible).join("\n");
}

function writeText({ verb, kind, key, paths, rival }: WriteRecord): string {
  const fields = paths.length > 0 ? `: ${paths.join(", ")}` : "";
  return `${verb} ${kind} ${key}${fields}${rival ? ` (also written by ${rival})` : ""}`;
}

/** What an object waits for after its last run. */
export function nowText(run: RunRecord): string {
  return visible(nowSentence(run));
}

function nowSentence({ outcome, reason, reads, parked }: RunRecord): string {
  const changes = reads.length > 0 ? "it, or something that it read, changes" : "it changes";
  const because = reason ? `: ${reason}` : "";
  switch (outcome) {
    case "done":
      return `nothing to do until ${changes}`;
    case "waitFor":
      return `waits${because ? ` for ${reason}` : ""}; runs again when ${changes}, and at every recheck`;
    case "requeueAfter":
      return `runs again after its delay, and when ${changes}`;
    case "retry":
      return parked
        ? `failed too often${because}; runs again at the longest interval, and when ${changes}`
        : `failed${because}; runs again after its back-off, and when ${changes}`;
    case "terminal":
      return `gave up${because}; runs again when ${changes}`;
    case "paused":
      return "its annotation pauses it";
    case "held":
      return `held back by its refs${because}`;
    case "gone":
      return "the object is gone";
    case "aborted":
      return "the last run was aborted; the next leader runs it again";
  }
}
