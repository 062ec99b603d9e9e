import type { NewObject } from "setpoint";
import { formatTime } from "setpoint/kinds";
import type { Job, JobCondition, JobStatus } from "setpoint/kinds/batch/v1";
import type { Pod } from "setpoint/kinds/v1";
import { isPodOver, isPodReady, isPodTerminating } from "../pod/pod-state.js";
import { isTracked } from "./job-pods.js";
import { failureVerdict } from "./job-policy.js";
import { COMPLETIONS_REACHED, deadlineInMs, type JobTarget, jobTarget } from "./job-target.js";
import { hasSucceeded, type JobView, viewJob } from "./job-view.js";
import { NO_CHANGES, podChanges } from "./pod-changes.js";

export interface JobEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** The next step of a Job. Its status already counts the pods to create and to remove. */
export interface JobPlan {
  readonly create: readonly NewObject<Pod>[];
  /**
   * Pods to delete. `untrack` removes the finalizer first, if the Job just needs fewer pods. Pods that count as
   * failed, or whose Job has ended, keep it.
   */
  readonly remove: readonly { readonly pod: Pod; readonly untrack: boolean }[];
  /** Pods whose end is in the stored status, so their finalizer can go. */
  readonly untrack: readonly Pod[];
  readonly status: JobStatus;
  readonly events: readonly JobEvent[];
  /** When to reconcile again; 0 if the status must be stored before the next step. */
  readonly nextMs: number | undefined;
}

export function isFinished({ status }: Job): boolean {
  return status?.conditions?.some(({ type, status }) => /^(Complete|Failed)$/.test(type) && status === "True") ?? false;
}

/**
 * Plans one step of a Job. Counting a pod's end takes two writes. First its uid goes into the stored status
 * (`uncountedTerminatedPods`). Then its finalizer goes and the counter grows. So a crash between any two writes
 * neither counts a pod twice nor misses one.
 */
export function planJob(job: Job, pods: readonly Pod[], nowMs: number): JobPlan {
  const view = viewJob(job, pods, nowMs);
  const { spec, active } = view;
  const early = jobTarget(view);
  const isLeaving = job.metadata.deletionTimestamp !== undefined;
  const changes = early || isLeaving ? NO_CHANGES : podChanges(view);
  const remove = early
    ? active.map((pod) => ({ pod, untrack: false }))
    : changes.remove.map((pod) => ({ pod, untrack: true }));
  const remaining = active.length + changes.create.length - remove.length;
  const isComplete =
    remaining === 0 && (spec.completions === undefined ? view.succeeded > 0 : view.succeeded >= spec.completions);
  const target = early ?? (isComplete ? COMPLETIONS_REACHED : undefined);
  const suspension = target ? undefined : changedSuspension(view);
  const ends = endsOf(view, target, remove.length);

  const conditions = new ConditionList(job.status?.conditions ?? [], nowMs);
  if (target) conditions.set(target.type, "True", target.reason, target.message);
  if (suspension) conditions.set("Suspended", suspension.status, suspension.reason, suspension.message);
  if (ends.isLast) conditions.set(ends.hasSucceeded ? "Complete" : "Failed", "True", target!.reason, target!.message);
  const removed = new Set(remove.map(({ pod }) => pod));
  const startTime = suspension ? (suspension.status === "True" ? undefined : formatTime(nowMs)) : view.startTime;
  return {
    create: changes.create,
    remove,
    untrack: ends.untrack,
    events: [...(suspension ? [suspension.event] : []), ...(ends.isLast ? [endEvent(target!)] : [])],
    nextMs: soonest(ends.isNextDue ? 0 : undefined, target ? undefined : deadlineInMs(view), changes.waitMs),
    status: {
      ...(conditions.all.length > 0 && { conditions: conditions.all }),
      ...(startTime !== undefined && { startTime }),
      ...(ends.isLast && ends.hasSucceeded && { completionTime: formatTime(nowMs) }),
      active: remaining,
      ready: active.filter((pod) => isPodReady(pod) && !removed.has(pod)).length,
      terminating: ends.terminating,
      ...countsOf(view),
      uncountedTerminatedPods: ends.uncounted,
    },
  };
}

/** The counters after the finalizers of the pods in the stored status are removed. */
function countsOf({ job, spec, indexes }: JobView): JobStatus {
  const { succeeded = 0, failed = 0, uncountedTerminatedPods: stored } = job.status ?? {};
  return {
    succeeded: indexes?.succeeded.size ?? succeeded + (stored?.succeeded?.length ?? 0),
    failed: failed + (stored?.failed?.length ?? 0),
    ...(indexes && { completedIndexes: String(indexes.succeeded) }),
    ...(indexes && spec.backoffLimitPerIndex !== undefined && { failedIndexes: String(indexes.failed) }),
  };
}

interface Ends {
  readonly hasSucceeded: boolean;
  readonly untrack: readonly Pod[];
  readonly uncounted: NonNullable<JobStatus["uncountedTerminatedPods"]>;
  readonly terminating: number;
  /** Whether the Job ends with this step. */
  readonly isLast: boolean;
  /** Whether another step must follow at once. */
  readonly isNextDue: boolean;
}

function endsOf(view: JobView, target: JobTarget | undefined, removedCount: number): Ends {
  const { job, pods, settled, indexes } = view;
  const isSuccess = target?.type === "SuccessCriteriaMet";
  const isOver = target !== undefined || job.metadata.deletionTimestamp !== undefined;
  // A failing Job counts its running pods as failed. A Job that succeeded just releases them.
  const ended = view.ended.filter((pod) => !isSuccess || isPodOver(pod));
  const seen = new Set([...settled, ...ended]);
  const cut = isOver ? pods.filter((pod) => isTracked(pod) && !seen.has(pod)) : [];
  const counted = target?.type === "FailureTarget" ? [...ended, ...cut] : ended;
  const isStored = counted.length === 0;
  const terminating = pods.filter(isPodTerminating).length + removedCount;
  // Report other changes before the end of the Job.
  const isTold = settled.length > 0 || (job.status?.terminating ?? 0) === terminating;
  const isLast = target !== undefined && isStored && isTold && terminating === 0;
  const succeeded = indexes ? [] : counted.filter(hasSucceeded);
  const failed = counted.filter((pod) => !hasSucceeded(pod) && failureVerdict(job, pod).counts);
  return {
    hasSucceeded: isSuccess,
    untrack: isStored && target?.type !== "FailureTarget" ? [...settled, ...cut] : settled,
    uncounted: {
      ...(succeeded.length > 0 && { succeeded: uids(succeeded) }),
      ...(failed.length > 0 && { failed: uids(failed) }),
    },
    terminating,
    isLast,
    isNextDue: !isStored || (target !== undefined && !isLast && terminating === 0),
  };
}

/** The condition for a Job that was just suspended or resumed. */
function changedSuspension({ job, spec }: JobView) {
  const before = job.status?.conditions?.find(({ type }) => type === "Suspended")?.status;
  if (spec.suspend && before !== "True") return suspensionOf("True", "Suspended", "Job suspended");
  return !spec.suspend && before === "True" ? suspensionOf("False", "Resumed", "Job resumed") : undefined;
}

function suspensionOf(status: "True" | "False", what: string, message: string) {
  const event: JobEvent = { type: "Normal", reason: what, message };
  return { status, reason: `Job${what}`, message, event };
}

function endEvent({ type, reason, message }: JobTarget): JobEvent {
  if (type === "FailureTarget") return { type: "Warning", reason, message };
  return { type: "Normal", reason: "Completed", message: "Job completed" };
}

/** Conditions whose lastTransitionTime moves only with their status. */
class ConditionList {
  readonly #conditions: JobCondition[];
  readonly #now: string;

  constructor(conditions: readonly JobCondition[], nowMs: number) {
    this.#conditions = [...conditions];
    this.#now = formatTime(nowMs);
  }

  get all(): readonly JobCondition[] {
    return this.#conditions;
  }

  set(type: string, status: "True" | "False", reason: string, message: string): void {
    const at = this.#conditions.findIndex((condition) => condition.type === type);
    if (this.#conditions[at]?.status === status) return;
    const condition = { type, status, lastProbeTime: this.#now, lastTransitionTime: this.#now, reason, message };
    if (at < 0) this.#conditions.push(condition);
    else this.#conditions[at] = condition;
  }
}

function soonest(...waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter((wait) => wait !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}

function uids(pods: readonly Pod[]): readonly string[] {
  return pods.map(({ metadata }) => metadata.uid);
}
