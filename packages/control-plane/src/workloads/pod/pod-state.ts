import { parseTime } from "setpoint/kinds";
import type { Pod, PodCondition } from "setpoint/kinds/v1";

export function podCondition(pod: Pod, type: string): PodCondition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

export function isPodReady(pod: Pod): boolean {
  return podCondition(pod, "Ready")?.status === "True";
}

/** Whether a pod has been ready for `minReadySeconds`. */
export function isPodAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  if (!isPodReady(pod)) return false;
  return minReadySeconds === 0 || availableAtMs(pod, minReadySeconds) <= nowMs;
}

/** Time until the next of these pods becomes available; undefined if none is ready and waiting. */
export function nextAvailableInMs(pods: readonly Pod[], minReadySeconds: number, nowMs: number): number | undefined {
  const waits = pods
    .filter((pod) => isPodReady(pod) && !isPodAvailable(pod, minReadySeconds, nowMs))
    .map((pod) => availableAtMs(pod, minReadySeconds) - nowMs);
  return waits.length === 0 ? undefined : Math.max(0, Math.min(...waits));
}

function availableAtMs(pod: Pod, minReadySeconds: number): number {
  return (readySinceMs(pod) ?? Number.POSITIVE_INFINITY) + minReadySeconds * 1_000;
}

export function readySinceMs(pod: Pod): number | undefined {
  const ready = podCondition(pod, "Ready");
  return ready?.status === "True" && ready.lastTransitionTime ? parseTime(ready.lastTransitionTime) : undefined;
}

/** Whether the pod's containers have ended for good. */
export function isPodOver({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Whether a pod is neither over nor being deleted. */
export function isPodActive(pod: Pod): boolean {
  return !isPodOver(pod) && pod.metadata.deletionTimestamp === undefined;
}

export function isPodTerminating(pod: Pod): boolean {
  return !isPodOver(pod) && pod.metadata.deletionTimestamp !== undefined;
}
