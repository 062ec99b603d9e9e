import type { NewObject } from "setpoint";
import { parseTime } from "setpoint/kinds";
import { Job } from "setpoint/kinds/batch/v1";
import type { Pod } from "setpoint/kinds/v1";
import { controllerReference } from "../owner-claims.js";

/** Keeps a pod until the Job has counted it. */
const TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking";
const INDEX = "batch.kubernetes.io/job-completion-index";
const INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count";

export const isIndexed = ({ spec }: Job): boolean => spec?.completionMode === "Indexed";

/** A patch that removes the tracking finalizer. */
export function untracked({ metadata: { uid } }: Pod) {
  const body = { metadata: { uid, "$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER] } };
  return { type: "strategic", body: body as never } as const;
}

export const isTracked = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(TRACKING_FINALIZER) ?? false;

/** The completion index of a pod; undefined if it has none or one beyond `completions`. */
export function indexOf(pod: Pod, completions: number): number | undefined {
  const text = pod.metadata.annotations?.[INDEX] ?? "";
  const index = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return index < completions ? index : undefined;
}

/**
 * Whether a pod failed. A pod that is deleted before it succeeds also counts as failed, except with
 * `podReplacementPolicy: Failed`.
 */
export function isFailed(pod: Pod, { spec }: Job): boolean {
  if (pod.status?.phase === "Failed") return true;
  if (spec?.podReplacementPolicy === "Failed") return false;
  return pod.metadata.deletionTimestamp !== undefined && pod.status?.phase !== "Succeeded";
}

/** When a pod ended: the latest end of its containers, otherwise when it became unready, was deleted or was created. */
export function finishedAtMs(pod: Pod): number {
  const ends = (pod.status?.containerStatuses ?? []).map(({ state }) => state?.terminated?.finishedAt);
  if (ends.length > 0 && ends.every((end) => end !== undefined)) return Math.max(...ends.map((end) => parseTime(end!)));
  const unready = pod.status?.conditions?.find(({ type, status }) => type === "Ready" && status === "False");
  if (unready?.lastTransitionTime) return parseTime(unready.lastTransitionTime);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata;
  if (deletionTimestamp) return parseTime(deletionTimestamp) - deletionGracePeriodSeconds * 1_000;
  return parseTime(creationTimestamp!);
}

/** A pod from the Job's template, for an index if the Job is Indexed. `failures` counts failures of that index. */
export function newPod(job: Job, index: number | undefined, failures: number): NewObject<Pod> {
  const { metadata = {}, spec = { containers: [] } } = job.spec!.template;
  const { name, namespace } = job.metadata;
  const common = {
    namespace: namespace!,
    labels: { ...metadata.labels },
    annotations: { ...metadata.annotations },
    finalizers: [...(metadata.finalizers ?? []), TRACKING_FINALIZER],
    ownerReferences: [controllerReference(Job, job)],
  };
  if (index === undefined) return { metadata: { ...common, generateName: `${name}-` }, spec } as NewObject<Pod>;
  const value = String(index);
  const perIndex = job.spec?.backoffLimitPerIndex === undefined ? {} : { [INDEX_FAILURES]: String(failures) };
  return {
    metadata: {
      ...common,
      generateName: `${name}-${index}-`,
      labels: { ...common.labels, [INDEX]: value },
      annotations: { ...common.annotations, [INDEX]: value, ...perIndex },
    },
    spec: {
      ...spec,
      hostname: `${name}-${index}`,
      containers: withIndex(spec.containers),
      ...(spec.initContainers && { initContainers: withIndex(spec.initContainers) }),
    },
  } as NewObject<Pod>;
}

type Containers = NonNullable<NonNullable<Pod["spec"]>["containers"]>;

function withIndex(containers: Containers): Containers {
  const fieldPath = `metadata.labels['${INDEX}']`;
  const variable = { name: "JOB_COMPLETION_INDEX", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath } } };
  return containers.map((container) => {
    const env = container.env ?? [];
    return env.some(({ name }) => name === variable.name) ? container : { ...container, env: [...env, variable] };
  }) as Containers;
}
