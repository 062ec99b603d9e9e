import { parseTime } from "setpoint/kinds";
import type { Node, Pod, Taint, Toleration } from "setpoint/kinds/v1";

/** When the node's NoExecute taints evict a pod; undefined if they do not. */
export function evictedAtMs(pod: Pod, { spec }: Node, nowMs: number): number | undefined {
  let earliest: number | undefined;
  for (const taint of spec?.taints ?? []) {
    if (taint.effect !== "NoExecute") continue;
    const tolerations = (pod.spec.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
    const seconds = Math.min(
      ...tolerations.map(({ tolerationSeconds = Number.POSITIVE_INFINITY }) => tolerationSeconds),
    );
    const sinceMs = taint.timeAdded ? parseTime(taint.timeAdded) : nowMs;
    const atMs = tolerations.length === 0 ? sinceMs : sinceMs + Math.max(0, seconds) * 1_000;
    if (Number.isFinite(atMs)) earliest = Math.min(earliest ?? atMs, atMs);
  }
  return earliest;
}

export function tolerates({ key = "", operator = "Equal", value = "", effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (key === "") return operator === "Exists";
  return operator === "Exists" || value === (taint.value ?? "");
}
