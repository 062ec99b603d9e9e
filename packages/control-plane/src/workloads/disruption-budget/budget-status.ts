import { setCondition } from "setpoint";
import { parseTime, scaledValue } from "setpoint/kinds";
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from "setpoint/kinds/policy/v1";
import type { Pod } from "setpoint/kinds/v1";
import { isPodOver, isPodReady } from "../pod/pod-state.js";

/** How long a pod may take from its eviction until it has a deletionTimestamp. */
const EVICTION_MS = 120_000;

/** The number of pods that a budget expects: the existing pods, or the replicas of their controllers. */
export type ExpectedPods = { readonly count: number } | { readonly problem: string };

export interface BudgetStep {
  readonly status: PodDisruptionBudgetStatus;
  /** When the oldest eviction that did not lead to a deletion is forgotten. */
  readonly nextMs: number | undefined;
}

/** Whether a budget counts the replicas of controllers rather than existing pods. */
export function needsScale({ spec }: PodDisruptionBudget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === "string";
}

/** The status of a budget, given the pods that it selects. */
export function budgetStatus(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  expected: ExpectedPods,
  nowMs: number,
): BudgetStep {
  const { generation = 0 } = budget.metadata;
  if ("problem" in expected) {
    const status = { ...emptyStatus(budget), disruptionsAllowed: 0, observedGeneration: generation };
    return { status: withAllowed(status, budget, "SyncFailed", expected.problem, nowMs), nextMs: undefined };
  }
  const desired = desiredHealthy(budget, expected.count);
  const { disrupted, nextMs } = pendingEvictions(budget, pods, nowMs);
  const isHealthy = (pod: Pod): boolean =>
    isPodReady(pod) && !isPodOver(pod) && !pod.metadata.deletionTimestamp && disrupted[pod.metadata.name] === undefined;
  const healthy = pods.filter(isHealthy).length;
  const allowed = expected.count <= 0 ? 0 : Math.max(0, healthy - desired);
  const status: PodDisruptionBudgetStatus = {
    ...(Object.keys(disrupted).length > 0 && { disruptedPods: disrupted }),
    disruptionsAllowed: allowed,
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected.count,
    observedGeneration: generation,
    ...(budget.status?.conditions && { conditions: budget.status.conditions }),
  };
  return {
    status: withAllowed(status, budget, allowed > 0 ? "SufficientPods" : "InsufficientPods", "", nowMs),
    nextMs,
  };
}

function emptyStatus({ status }: PodDisruptionBudget): PodDisruptionBudgetStatus {
  return { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, disruptionsAllowed: 0, ...status };
}

function desiredHealthy({ spec }: PodDisruptionBudget, expected: number): number {
  if (spec?.maxUnavailable !== undefined)
    return Math.max(0, expected - scaledValue(spec.maxUnavailable, expected, "up"));
  if (spec?.minAvailable !== undefined) return scaledValue(spec.minAvailable, expected, "up");
  return 0;
}

/** Evictions that the API server granted, whose pods have no deletionTimestamp yet. */
function pendingEvictions(
  { status }: PodDisruptionBudget,
  pods: readonly Pod[],
  nowMs: number,
): { readonly disrupted: Readonly<Record<string, string>>; readonly nextMs: number | undefined } {
  const pending = Object.entries(status?.disruptedPods ?? {}).filter(([name, since]) => {
    const pod = pods.find(({ metadata }) => metadata.name === name);
    return pod && !pod.metadata.deletionTimestamp && parseTime(since) + EVICTION_MS > nowMs;
  });
  const ends = pending.map(([, since]) => parseTime(since) + EVICTION_MS);
  return { disrupted: Object.fromEntries(pending), nextMs: ends.length === 0 ? undefined : Math.min(...ends) };
}

function withAllowed(
  status: PodDisruptionBudgetStatus,
  budget: PodDisruptionBudget,
  reason: string,
  message: string,
  nowMs: number,
): PodDisruptionBudgetStatus {
  const known = (budget.status?.conditions ?? []) as Parameters<typeof setCondition>[0];
  const state = reason === "SufficientPods" ? "True" : "False";
  const observedGeneration = budget.metadata.generation ?? 0;
  const conditions = setCondition(
    known,
    { type: "DisruptionAllowed", status: state, reason, message, observedGeneration },
    nowMs,
  );
  return { ...status, conditions };
}
