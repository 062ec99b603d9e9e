import type { HorizontalPodAutoscaler, HPAScalingRules } from "setpoint/kinds/autoscaling/v2";

/** Recent recommendations and scalings of an autoscaler. Kept only in memory, as in kube-controller-manager. */
export interface ScalingHistory {
  readonly recommendations: readonly { readonly atMs: number; readonly replicas: number }[];
  /** Positive for added replicas, negative for removed ones. */
  readonly changes: readonly { readonly atMs: number; readonly by: number }[];
}

export interface Reason {
  readonly reason: string;
  readonly message: string;
}

export interface Scaling {
  readonly replicas: number;
  /** For the condition AbleToScale. */
  readonly able: Reason;
  /** For the condition ScalingLimited. */
  readonly limit: Reason & { readonly isLimited: boolean };
}

const DOWN_WINDOW_MS = 300_000;
const READY: Reason = { reason: "ReadyForNewScale", message: "recommended size matches current size" };
const IN_RANGE: Reason = { reason: "DesiredWithinRange", message: "the desired count is within the acceptable range" };

/** Limits a recommendation by the stabilization window, the scaling policies and the bounds of an autoscaler. */
export function scaled(
  { spec }: HorizontalPodAutoscaler,
  current: number,
  recommended: number,
  history: ScalingHistory,
  nowMs: number,
): Scaling {
  const { behavior, minReplicas = 1, maxReplicas } = spec;
  const { scaleUp, scaleDown } = behavior ?? {};
  const upWindowMs = (scaleUp?.stabilizationWindowSeconds ?? 0) * 1_000;
  const downWindowMs =
    behavior && scaleDown?.stabilizationWindowSeconds !== undefined
      ? scaleDown.stabilizationWindowSeconds * 1_000
      : DOWN_WINDOW_MS;
  const within = (windowMs: number): readonly number[] =>
    history.recommendations.filter(({ atMs }) => atMs > nowMs - windowMs).map(({ replicas }) => replicas);
  const lowest = Math.min(recommended, ...within(upWindowMs));
  const highest = Math.max(recommended, ...within(downWindowMs));
  const stable = Math.min(Math.max(current, lowest), highest);
  const able = stable === recommended ? READY : stabilized(recommended >= current);
  const limits = behavior
    ? { most: upLimit(current, scaleUp, history, nowMs), least: downLimit(current, scaleDown, history, nowMs) }
    : { most: Math.max(2 * current, 4), least: 0 };
  const most = Math.min(maxReplicas, Math.max(limits.most, behavior ? current : 0));
  const least = Math.max(minReplicas, Math.min(limits.least, current));
  if (stable > most && (stable > current || !behavior)) return limited(most, able, upReason(most < maxReplicas));
  if (stable < least && (stable < current || !behavior)) return limited(least, able, downReason(least > minReplicas));
  return { replicas: stable, able, limit: { ...IN_RANGE, isLimited: false } };
}

/** Adds the current recommendation and scaling to the history, and drops entries that no window reaches. */
export function remembered(history: ScalingHistory, recommended: number, by: number, nowMs: number): ScalingHistory {
  const isRecent = ({ atMs }: { readonly atMs: number }): boolean => atMs > nowMs - 3_600_000;
  return {
    recommendations: [...history.recommendations.filter(isRecent), { atMs: nowMs, replicas: recommended }],
    changes: [...history.changes.filter(isRecent), ...(by === 0 ? [] : [{ atMs: nowMs, by }])],
  };
}

function limited(replicas: number, able: Reason, reason: Reason): Scaling {
  return { replicas, able, limit: { ...reason, isLimited: true } };
}

function stabilized(isUp: boolean): Reason {
  return isUp
    ? {
        reason: "ScaleUpStabilized",
        message: "recent recommendations were lower than current one, applying the lowest recent recommendation",
      }
    : {
        reason: "ScaleDownStabilized",
        message: "recent recommendations were higher than current one, applying the highest recent recommendation",
      };
}

function upReason(isByRate: boolean): Reason {
  return isByRate
    ? { reason: "ScaleUpLimit", message: "the desired replica count is increasing faster than the maximum scale rate" }
    : { reason: "TooManyReplicas", message: "the desired replica count is more than the maximum replica count" };
}

function downReason(isByRate: boolean): Reason {
  return isByRate
    ? {
        reason: "ScaleDownLimit",
        message: "the desired replica count is decreasing faster than the maximum scale rate",
      }
    : { reason: "TooFewReplicas", message: "the desired replica count is less than the minimum replica count" };
}

function upLimit(current: number, rules: HPAScalingRules | undefined, history: ScalingHistory, nowMs: number): number {
  if (rules?.selectPolicy === "Disabled") return current;
  const proposals = (rules?.policies ?? []).map(({ type, value, periodSeconds }) => {
    const start = periodStart(current, history, periodSeconds, nowMs);
    return type === "Pods" ? start + value : Math.ceil(start * (1 + value / 100));
  });
  if (proposals.length === 0) return Number.POSITIVE_INFINITY;
  return rules?.selectPolicy === "Min" ? Math.min(...proposals) : Math.max(...proposals);
}

function downLimit(
  current: number,
  rules: HPAScalingRules | undefined,
  history: ScalingHistory,
  nowMs: number,
): number {
  if (rules?.selectPolicy === "Disabled") return current;
  const proposals = (rules?.policies ?? []).map(({ type, value, periodSeconds }) => {
    const start = periodStart(current, history, periodSeconds, nowMs);
    return type === "Pods" ? start - value : Math.trunc(start * (1 - value / 100));
  });
  if (proposals.length === 0) return 0;
  return rules?.selectPolicy === "Min" ? Math.max(...proposals) : Math.min(...proposals);
}

/** The number of replicas when a policy's period began. */
function periodStart(current: number, { changes }: ScalingHistory, periodSeconds: number, nowMs: number): number {
  const recent = changes.filter(({ atMs }) => atMs > nowMs - periodSeconds * 1_000);
  return current - recent.reduce((sum, { by }) => sum + by, 0);
}
