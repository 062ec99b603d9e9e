import { parseTime } from "setpoint/kinds";
import type { ContainerState, Pod } from "setpoint/kinds/v1";

/** One line of a simulated container's log. */
export interface LogLine {
  readonly time: string;
  readonly text: string;
}

/**
 * The log of a container: when it started, became ready and ended. `isPrevious` selects the run before the last
 * restart.
 */
export function containerLog(pod: Pod, container: string, isPrevious: boolean): readonly LogLine[] {
  const all = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const status = all.find(({ name }) => name === container);
  const state = isPrevious ? status?.lastState : runOf(status?.state, status?.lastState);
  if (!status || !state) return [];
  const { running, terminated } = state;
  const startedAt = running?.startedAt ?? terminated?.startedAt;
  const lines: LogLine[] = [];
  if (startedAt) lines.push({ time: startedAt, text: `${container}: started, image ${status.image} (simulated)` });
  const ready = pod.status?.conditions?.find(({ type }) => type === "ContainersReady");
  if (running && ready?.status === "True" && ready.lastTransitionTime) {
    lines.push({ time: ready.lastTransitionTime, text: `${container}: ready` });
  }
  if (terminated?.finishedAt) {
    const text = `${container}: ended with exit code ${terminated.exitCode}, ${terminated.reason ?? "Error"}`;
    lines.push({ time: terminated.finishedAt, text });
  }
  return lines;
}

/** A container that waits for a restart shows its last run. */
function runOf(state: ContainerState | undefined, last: ContainerState | undefined): ContainerState | undefined {
  return state?.running || state?.terminated ? state : last;
}

export interface LogSelection {
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly sinceMs: number | undefined;
}

/** Formats the requested lines. */
export function formatLog(lines: readonly LogLine[], { timestamps, tailLines, sinceMs }: LogSelection): string {
  const recent = lines.filter(({ time }) => sinceMs === undefined || parseTime(time) >= sinceMs);
  const shown = tailLines === undefined ? recent : recent.slice(Math.max(0, recent.length - tailLines));
  return shown.map(({ time, text }) => `${timestamps ? `${time} ` : ""}${text}\n`).join("");
}

/** Whether the log is complete, because the pod has ended. */
export function isLogComplete(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}
