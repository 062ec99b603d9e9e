// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";
import type { LabelSelector } from "../../selector/label-selector.js";
import type * as core from "../v1.js";

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#cronjob-v1-batch */
export interface CronJob extends KubeObject {
  readonly apiVersion: "batch/v1";
  readonly kind: "CronJob";
  readonly metadata: ObjectMeta;
  readonly spec: CronJobSpec;
  readonly status?: CronJobStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#cronjob-v1-batch */
export const CronJob: Kind<CronJob, "Namespaced"> = {
  group: "batch",
  version: "v1",
  kind: "CronJob",
  apiVersion: "batch/v1",
  plural: "cronjobs",
  scope: "Namespaced",
};

export interface CronJobSpec {
  readonly concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
  readonly failedJobsHistoryLimit?: number;
  readonly jobTemplate: JobTemplateSpec;
  readonly schedule: string;
  readonly startingDeadlineSeconds?: number;
  readonly successfulJobsHistoryLimit?: number;
  readonly suspend?: boolean;
  readonly timeZone?: string;
}

export interface CronJobStatus {
  readonly active?: readonly core.ObjectReference[];
  readonly lastScheduleTime?: string;
  readonly lastSuccessfulTime?: string;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#job-v1-batch */
export interface Job extends KubeObject {
  readonly apiVersion: "batch/v1";
  readonly kind: "Job";
  readonly metadata: ObjectMeta;
  readonly spec: JobSpec;
  readonly status?: JobStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#job-v1-batch */
export const Job: Kind<Job, "Namespaced"> = {
  group: "batch",
  version: "v1",
  kind: "Job",
  apiVersion: "batch/v1",
  plural: "jobs",
  scope: "Namespaced",
};

export interface JobCondition {
  readonly lastProbeTime?: string;
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface JobSpec {
  readonly activeDeadlineSeconds?: number;
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly completionMode?: "Indexed" | "NonIndexed";
  readonly completions?: number;
  readonly managedBy?: string;
  readonly manualSelector?: boolean;
  readonly maxFailedIndexes?: number;
  readonly parallelism?: number;
  readonly podFailurePolicy?: PodFailurePolicy;
  readonly podReplacementPolicy?: "Failed" | "TerminatingOrFailed";
  readonly selector?: LabelSelector;
  readonly successPolicy?: SuccessPolicy;
  readonly suspend?: boolean;
  readonly template: core.PodTemplateSpec;
  readonly ttlSecondsAfterFinished?: number;
}

export interface JobStatus {
  readonly active?: number;
  readonly completedIndexes?: string;
  readonly completionTime?: string;
  readonly conditions?: readonly JobCondition[];
  readonly failed?: number;
  readonly failedIndexes?: string;
  readonly ready?: number;
  readonly startTime?: string;
  readonly succeeded?: number;
  readonly terminating?: number;
  readonly uncountedTerminatedPods?: UncountedTerminatedPods;
}

export interface JobTemplateSpec {
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec: JobSpec;
}

export interface PodFailurePolicy {
  readonly rules: readonly PodFailurePolicyRule[];
}

export interface PodFailurePolicyOnExitCodesRequirement {
  readonly containerName?: string;
  readonly operator: "In" | "NotIn";
  readonly values: readonly number[];
}

export interface PodFailurePolicyOnPodConditionsPattern {
  readonly status?: string;
  readonly type: string;
}

export interface PodFailurePolicyRule {
  readonly action: "Count" | "FailIndex" | "FailJob" | "Ignore";
  readonly onExitCodes?: PodFailurePolicyOnExitCodesRequirement;
  readonly onPodConditions?: readonly PodFailurePolicyOnPodConditionsPattern[];
}

export interface SuccessPolicy {
  readonly rules: readonly SuccessPolicyRule[];
}

export interface SuccessPolicyRule {
  readonly succeededCount?: number;
  readonly succeededIndexes?: string;
}

export interface UncountedTerminatedPods {
  readonly failed?: readonly string[];
  readonly succeeded?: readonly string[];
}
