import { parseTime } from "setpoint/kinds";
import { isFailed } from "./job-pods.js";
import { failureVerdict, metSuccessPolicy } from "./job-policy.js";
import { type JobView, restartsOf } from "./job-view.js";

/** The interim condition, with its reason, of a Job that is about to end but still has pods. */
export interface JobTarget {
  readonly type: "SuccessCriteriaMet" | "FailureTarget";
  readonly reason: string;
  readonly message: string;
}

export const COMPLETIONS_REACHED: JobTarget = {
  type: "SuccessCriteriaMet",
  reason: "CompletionsReached",
  message: "Reached expected number of succeeded pods",
};

/** Why a Job ends before it reaches its completions, if it does. A target from an earlier step stays. */
export function jobTarget(view: JobView): JobTarget | undefined {
  return earlierTarget(view) ?? failure(view) ?? indexTarget(view);
}

/** Time until the deadline; undefined without one, or if the Job is suspended. */
export function deadlineInMs({ spec, startTime, nowMs }: JobView): number | undefined {
  if (spec.activeDeadlineSeconds === undefined || spec.suspend || startTime === undefined) return undefined;
  return parseTime(startTime) + spec.activeDeadlineSeconds * 1_000 - nowMs;
}

function earlierTarget({ job }: JobView): JobTarget | undefined {
  for (const type of ["SuccessCriteriaMet", "FailureTarget"] as const) {
    const earlier = job.status?.conditions?.find((each) => each.type === type && each.status === "True");
    if (earlier) return { type, reason: earlier.reason ?? "", message: earlier.message ?? "" };
  }
  return undefined;
}

function failure(view: JobView): JobTarget | undefined {
  const { job, spec, pods, failed } = view;
  for (const pod of pods.filter((each) => isFailed(each, job))) {
    const { failsJob } = failureVerdict(job, pod);
    if (failsJob) return failing("PodFailurePolicy", failsJob);
  }
  const limit = spec.backoffLimit ?? 6;
  if (failed > limit || restartsOf(view) > Math.max(limit - 1, 0)) {
    return failing("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  }
  const leftMs = deadlineInMs(view);
  if (leftMs === undefined || leftMs > 0) return undefined;
  return failing("DeadlineExceeded", "Job was active longer than specified deadline");
}

function indexTarget({ job, spec, indexes, completions }: JobView): JobTarget | undefined {
  if (!indexes) return undefined;
  const { succeeded, failed } = indexes;
  if (spec.maxFailedIndexes !== undefined && failed.size > spec.maxFailedIndexes) {
    const message = "Job has exceeded the specified maximal number of failed indexes";
    return failing("MaxFailedIndexesExceeded", message);
  }
  if (failed.size > 0 && failed.size + succeeded.size >= completions) {
    return failing("FailedIndexes", "Job has failed indexes");
  }
  const message = metSuccessPolicy(job, succeeded);
  return message === undefined ? undefined : { type: "SuccessCriteriaMet", reason: "SuccessPolicy", message };
}

function failing(reason: string, message: string): JobTarget {
  return { type: "FailureTarget", reason, message };
}
