import { formatTime, type NewObject, parseTime } from "setpoint";
import type { Job, JobCondition, JobStatus } from "setpoint/kinds/batch/v1";
import type { Pod } from "setpoint/kinds/v1";
import { isPodActive, isPodOver, isPodReady, isPodTerminating } from "../pod/pod-state.js";
import { formatIndexes, parseIndexes } from "./index-set.js";
import { finishedAtMs, indexOf, isFailed, isIndexed, isTracked, newPod } from "./job-pods.js";
import { failureVerdict, metSuccessPolicy } from "./job-policy.js";

const FIRST_BACKOFF_MS = 10_000;
const LONGEST_BACKOFF_MS = 600_000;
/** Pods made or deleted in one run. */
const MOST_PODS = 500;

export interface JobEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** What to do about a job. Pods to create and to delete are known before the status, which counts them as done. */
export interface JobPlan {
  readonly create: readonly NewObject<Pod>[];
  /** With the tracking finalizer, so that they are counted as failed; or without, where the job wants fewer pods. */
  readonly remove: readonly { readonly pod: Pod; readonly untrack: boolean }[];
  /** Whose end the stored status holds: their finalizer can go. */
  readonly untrack: readonly Pod[];
  readonly status: JobStatus;
  readonly events: readonly JobEvent[];
  /** The status must be stored before the next step; 0 means at once. */
  readonly nextMs: number | undefined;
}

export function isFinished({ status }: Job): boolean {
  return isTrue(status?.conditions, "Complete") || isTrue(status?.conditions, "Failed");
}

/**
 * One step of a job. A pod's end is counted in two: its uid goes into the stored status first (`uncountedTerminatedPods`),
 * then its finalizer goes and the counter grows. So a crash between any two writes counts no pod twice and misses none.
 */
export function planJob(job: Job, pods: readonly Pod[], nowMs: number): JobPlan {
  const progress = new JobProgress(job, pods, nowMs);
  return progress.plan();
}

/** A job as this step sees it; the fields grow into the plan. */
class JobProgress {
  readonly #job: Job;
  readonly #spec: NonNullable<Job["spec"]>;
  readonly #pods: readonly Pod[];
  readonly #nowMs: number;
  readonly #completions: number;
  /** Pods whose end the stored status holds, and which are still tracked. */
  readonly #settled: readonly Pod[];
  /** Tracked pods that have ended, and that no status knows of yet. */
  readonly #ended: readonly Pod[];
  readonly #conditions: JobCondition[];
  readonly #events: JobEvent[] = [];
  #create: NewObject<Pod>[] = [];
  #remove: { pod: Pod; untrack: boolean }[] = [];
  #nextMs: number | undefined;
  #startTime: string | undefined;

  constructor(job: Job, pods: readonly Pod[], nowMs: number) {
    this.#job = job;
    this.#spec = job.spec!;
    this.#pods = pods;
    this.#nowMs = nowMs;
    this.#completions = job.spec?.completions ?? 0;
    this.#conditions = [...(job.status?.conditions ?? [])];
    this.#startTime = job.status?.startTime;
    const known = this.#storedUids();
    const succeeded = isIndexed(job) ? parseIndexes(job.status?.completedIndexes, this.#completions) : undefined;
    const isKnown = (pod: Pod): boolean =>
      known.has(pod.metadata.uid) ||
      (pod.status?.phase === "Succeeded" && (succeeded?.has(indexOf(pod, this.#completions) ?? -1) ?? false)) ||
      (isFailed(pod, job) && !failureVerdict(job, pod).counts);
    const tracked = pods.filter(isTracked);
    this.#settled = tracked.filter(isKnown);
    this.#ended = tracked.filter((pod) => !isKnown(pod) && (pod.status?.phase === "Succeeded" || isFailed(pod, job)));
  }

  plan(): JobPlan {
    const { status: old = {} } = this.#job;
    const active = this.#pods.filter(isPodActive);
    const newlyFailed = this.#ended.filter((pod) => pod.status?.phase !== "Succeeded");
    const indexes = this.#indexes();
    const failed = (old.failed ?? 0) + (old.uncountedTerminatedPods?.failed?.length ?? 0) + newlyFailed.length;
    const succeeded = indexes
      ? indexes.succeeded.size
      : (old.succeeded ?? 0) +
        (old.uncountedTerminatedPods?.succeeded?.length ?? 0) +
        this.#ended.length -
        newlyFailed.length;
    const isSuspended = this.#spec.suspend === true;
    if (this.#startTime === undefined && !isSuspended) this.#startTime = formatTime(this.#nowMs);

    let target = this.#target(failed, indexes);
    if (target) this.#remove = active.map((pod) => ({ pod, untrack: false }));
    else if (this.#job.metadata.deletionTimestamp === undefined) this.#adjust(active, succeeded, indexes);
    const remaining = active.length + this.#create.length - this.#remove.length;
    if (!target) {
      const isComplete =
        remaining === 0 && (this.#spec.completions === undefined ? succeeded > 0 : succeeded >= this.#completions);
      if (isComplete) target = { type: "SuccessCriteriaMet", ...COMPLETIONS_REACHED };
      else this.#noteSuspension(isSuspended);
    }
    if (target) this.#condition(target.type, "True", target.reason, target.message);
    return this.#finish(target, active, remaining, indexes);
  }

  /** Why the job ends, if it does; what an earlier run decided holds. */
  #target(failed: number, indexes: Indexes | undefined): Target | undefined {
    for (const type of ["SuccessCriteriaMet", "FailureTarget"] as const) {
      const earlier = this.#conditions.find((condition) => condition.type === type && condition.status === "True");
      if (earlier) return { type, reason: earlier.reason ?? "", message: earlier.message ?? "" };
    }
    const failing = (reason: string, message: string): Target => ({ type: "FailureTarget", reason, message });
    for (const pod of this.#pods.filter((each) => isFailed(each, this.#job))) {
      const { failsJob } = failureVerdict(this.#job, pod);
      if (failsJob) return failing("PodFailurePolicy", failsJob);
    }
    const limit = this.#spec.backoffLimit ?? 6;
    if (failed > limit || this.#restarts() > Math.max(limit - 1, 0)) {
      return failing("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    }
    const { activeDeadlineSeconds, suspend } = this.#spec;
    if (activeDeadlineSeconds !== undefined && !suspend && this.#startTime) {
      const leftMs = parseTime(this.#startTime) + activeDeadlineSeconds * 1_000 - this.#nowMs;
      if (leftMs <= 0) return failing("DeadlineExceeded", "Job was active longer than specified deadline");
      this.#lookAgain(leftMs);
    }
    if (!indexes) return undefined;
    const { maxFailedIndexes } = this.#spec;
    if (maxFailedIndexes !== undefined && indexes.failed.size > maxFailedIndexes) {
      const message = "Job has exceeded the specified maximal number of failed indexes";
      return failing("MaxFailedIndexesExceeded", message);
    }
    if (indexes.failed.size > 0 && indexes.failed.size + indexes.succeeded.size >= this.#completions) {
      return failing("FailedIndexes", "Job has failed indexes");
    }
    const message = metSuccessPolicy(this.#job, indexes.succeeded);
    return message === undefined ? undefined : { type: "SuccessCriteriaMet", reason: "SuccessPolicy", message };
  }

  /** More pods, or fewer; never both in one step. */
  #adjust(active: readonly Pod[], succeeded: number, indexes: Indexes | undefined): void {
    const { parallelism = 1, completions, suspend, podReplacementPolicy } = this.#spec;
    const remaining = completions === undefined ? parallelism : Math.max(0, completions - succeeded);
    const wanted = suspend
      ? 0
      : completions === undefined && succeeded > 0
        ? active.length
        : Math.min(remaining, parallelism);
    const surplus = this.#surplus(active, indexes, Math.max(0, active.length - wanted));
    if (surplus.length > 0) {
      this.#remove = surplus.slice(0, MOST_PODS).map((pod) => ({ pod, untrack: true }));
      return;
    }
    const leaving = podReplacementPolicy === "Failed" ? this.#pods.filter(isPodTerminating).length : 0;
    const missing = Math.min(wanted - leaving - active.length, MOST_PODS);
    if (missing <= 0) return;
    const isPerIndex = this.#spec.backoffLimitPerIndex !== undefined;
    const waitMs = isPerIndex ? 0 : backoffMs(this.#failuresSinceSuccess(), this.#nowMs);
    if (waitMs > 0) this.#lookAgain(waitMs);
    else if (indexes) this.#createIndexes(active, indexes, missing);
    else this.#create = Array.from({ length: missing }, () => newPod(this.#job, undefined, 0));
  }

  #createIndexes(active: readonly Pod[], { succeeded, failed }: Indexes, missing: number): void {
    const taken = new Set(active.map((pod) => indexOf(pod, this.#completions)));
    const isPerIndex = this.#spec.backoffLimitPerIndex !== undefined;
    for (let index = 0; index < this.#completions && this.#create.length < missing; index++) {
      if (taken.has(index) || succeeded.has(index) || failed.has(index)) continue;
      const failures = this.#failuresOf(index);
      const waitMs = isPerIndex ? backoffMs(failures, this.#nowMs) : 0;
      if (waitMs > 0) this.#lookAgain(waitMs);
      else this.#create.push(newPod(this.#job, index, failures.length));
    }
  }

  /** Pods of an index that another has, or that the job has no use for; then those that have done the least. */
  #surplus(active: readonly Pod[], indexes: Indexes | undefined, least: number): readonly Pod[] {
    const ranked = [...active].sort(byUse);
    if (!indexes) return ranked.slice(0, least);
    const seen = new Set<number>();
    const useless = ranked.toReversed().filter((pod) => {
      const index = indexOf(pod, this.#completions);
      if (index === undefined || seen.has(index) || indexes.succeeded.has(index)) return true;
      seen.add(index);
      return false;
    });
    const others = ranked.filter((pod) => !useless.includes(pod));
    return [...useless, ...others.slice(0, Math.max(0, least - useless.length))];
  }

  #noteSuspension(isSuspended: boolean): void {
    const before = this.#conditions.find(({ type }) => type === "Suspended");
    if (isSuspended && before?.status !== "True") {
      this.#condition("Suspended", "True", "JobSuspended", "Job suspended");
      this.#events.push({ type: "Normal", reason: "Suspended", message: "Job suspended" });
      this.#startTime = undefined;
    } else if (!isSuspended && before?.status === "True") {
      this.#condition("Suspended", "False", "JobResumed", "Job resumed");
      this.#events.push({ type: "Normal", reason: "Resumed", message: "Job resumed" });
      this.#startTime = formatTime(this.#nowMs);
    }
  }

  #finish(
    target: Target | undefined,
    active: readonly Pod[],
    remaining: number,
    indexes: Indexes | undefined,
  ): JobPlan {
    const { status: old = {} } = this.#job;
    const isOver = target !== undefined || this.#job.metadata.deletionTimestamp !== undefined;
    const removed = new Set(this.#remove.map(({ pod }) => pod.metadata.uid));
    // A job that fails counts what still ran as failed; one that has succeeded just lets it go.
    const hasSucceeded = target?.type === "SuccessCriteriaMet";
    const ended = this.#ended.filter((pod) => !hasSucceeded || isPodOver(pod));
    const isNoted = (pod: Pod): boolean => this.#settled.includes(pod) || ended.includes(pod);
    const cut = isOver ? this.#pods.filter((pod) => isTracked(pod) && !isNoted(pod)) : [];
    const counted = target?.type === "FailureTarget" ? [...ended, ...cut] : ended;
    const uncounted = {
      succeeded: indexes ? [] : uids(counted.filter(({ status }) => status?.phase === "Succeeded")),
      failed: uids(counted.filter((pod) => pod.status?.phase !== "Succeeded" && failureVerdict(this.#job, pod).counts)),
    };
    const stored = old.uncountedTerminatedPods;
    const isStored = counted.length === 0;
    const untrack = isStored ? [...this.#settled, ...(target?.type === "FailureTarget" ? [] : cut)] : this.#settled;
    const terminating = this.#pods.filter(isPodTerminating).length + this.#remove.length;
    // What changed by itself is told before the end is.
    const isTold = this.#settled.length > 0 || (old.terminating ?? 0) === terminating;
    const isEnding = target !== undefined && isStored && isTold && terminating === 0;
    if (isEnding) this.#end(target);
    if (!isStored || (target && !isEnding && terminating === 0)) this.#lookAgain(0);
    const completed = isEnding && target.type === "SuccessCriteriaMet";
    const status: JobStatus = {
      ...(this.#conditions.length > 0 && { conditions: this.#conditions }),
      ...(this.#startTime !== undefined && { startTime: this.#startTime }),
      ...(completed && { completionTime: formatTime(this.#nowMs) }),
      active: remaining,
      ready: active.filter((pod) => isPodReady(pod) && !removed.has(pod.metadata.uid)).length,
      terminating,
      succeeded: indexes ? indexes.succeeded.size : (old.succeeded ?? 0) + (stored?.succeeded?.length ?? 0),
      failed: (old.failed ?? 0) + (stored?.failed?.length ?? 0),
      ...(indexes && { completedIndexes: formatIndexes(indexes.succeeded) }),
      ...(this.#spec.backoffLimitPerIndex !== undefined && indexes && { failedIndexes: formatIndexes(indexes.failed) }),
      uncountedTerminatedPods: {
        ...(uncounted.succeeded.length > 0 && { succeeded: uncounted.succeeded }),
        ...(uncounted.failed.length > 0 && { failed: uncounted.failed }),
      },
    };
    return { create: this.#create, remove: this.#remove, untrack, status, events: this.#events, nextMs: this.#nextMs };
  }

  #end({ type, reason, message }: Target): void {
    if (type === "SuccessCriteriaMet") {
      this.#condition("Complete", "True", reason, message);
      this.#events.push({ type: "Normal", reason: "Completed", message: "Job completed" });
    } else {
      this.#condition("Failed", "True", reason, message);
      this.#events.push({ type: "Warning", reason, message });
    }
  }

  #storedUids(): ReadonlySet<string> {
    const { succeeded = [], failed = [] } = this.#job.status?.uncountedTerminatedPods ?? {};
    return new Set([...succeeded, ...failed]);
  }

  #indexes(): Indexes | undefined {
    if (!isIndexed(this.#job)) return undefined;
    const succeeded = new Set(parseIndexes(this.#job.status?.completedIndexes, this.#completions));
    for (const pod of this.#pods) {
      const index = indexOf(pod, this.#completions);
      if (index !== undefined && pod.status?.phase === "Succeeded") succeeded.add(index);
    }
    const limit = this.#spec.backoffLimitPerIndex;
    const failed = new Set(limit === undefined ? [] : parseIndexes(this.#job.status?.failedIndexes, this.#completions));
    for (let index = 0; limit !== undefined && index < this.#completions; index++) {
      if (succeeded.has(index)) continue;
      const failures = this.#failuresOf(index);
      if (failures.length > limit || failures.some((pod) => failureVerdict(this.#job, pod).failsIndex))
        failed.add(index);
    }
    return { succeeded, failed };
  }

  #failuresOf(index: number): readonly Pod[] {
    const ofIndex = this.#pods.filter((pod) => indexOf(pod, this.#completions) === index && isFailed(pod, this.#job));
    return ofIndex.filter((pod) => failureVerdict(this.#job, pod).counts);
  }

  #failuresSinceSuccess(): readonly Pod[] {
    const successes = this.#pods.filter(({ status }) => status?.phase === "Succeeded").map(finishedAtMs);
    const lastMs = Math.max(Number.NEGATIVE_INFINITY, ...successes);
    return this.#pods.filter((pod) => pod.status?.phase === "Failed" && finishedAtMs(pod) > lastMs);
  }

  /** Containers that were started again in place count against the limit, too. */
  #restarts(): number {
    if (this.#spec.template.spec?.restartPolicy !== "OnFailure") return 0;
    const living = this.#pods.filter(({ status }) => status?.phase === "Running" || status?.phase === "Pending");
    const statuses = living.flatMap(({ status }) => [
      ...(status?.initContainerStatuses ?? []),
      ...(status?.containerStatuses ?? []),
    ]);
    return statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  }

  #condition(type: string, status: "True" | "False", reason: string, message: string): void {
    const at = this.#conditions.findIndex((condition) => condition.type === type);
    if (this.#conditions[at]?.status === status) return;
    const time = formatTime(this.#nowMs);
    const condition = { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message };
    if (at < 0) this.#conditions.push(condition);
    else this.#conditions[at] = condition;
  }

  #lookAgain(afterMs: number): void {
    this.#nextMs = Math.min(this.#nextMs ?? afterMs, afterMs);
  }
}

interface Indexes {
  readonly succeeded: ReadonlySet<number>;
  readonly failed: ReadonlySet<number>;
}

interface Target {
  readonly type: "SuccessCriteriaMet" | "FailureTarget";
  readonly reason: string;
  readonly message: string;
}

const COMPLETIONS_REACHED = {
  reason: "CompletionsReached",
  message: "Reached expected number of succeeded pods",
} as const;

/** How long until another pod may follow these failures: 10 seconds, doubling up to 10 minutes. */
function backoffMs(failures: readonly Pod[], nowMs: number): number {
  if (failures.length === 0) return 0;
  const delayMs = Math.min(FIRST_BACKOFF_MS * 2 ** (failures.length - 1), LONGEST_BACKOFF_MS);
  return Math.max(0, Math.max(...failures.map(finishedAtMs)) + delayMs - nowMs);
}

function isTrue(conditions: readonly JobCondition[] | undefined, type: string): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
}

/** Those without a node first, then those that are not ready, then the youngest. */
function byUse(left: Pod, right: Pod): number {
  const rank = (pod: Pod): number => (pod.spec?.nodeName ? 2 : 0) + (isPodReady(pod) ? 1 : 0);
  const age = (pod: Pod): number => -parseTime(pod.metadata.creationTimestamp!);
  return rank(left) - rank(right) || age(left) - age(right);
}

function uids(pods: readonly Pod[]): readonly string[] {
  return pods.map(({ metadata }) => metadata.uid);
}
