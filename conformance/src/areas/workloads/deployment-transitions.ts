import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import { isSetAtRest } from "./replica-set-transitions.js";
import {
  conditionOf,
  counts,
  imageOf,
  isObserved,
  type PodCounts,
  ScriptedWorkload,
  sortedStatus,
  type WorkloadKind,
  type WorkloadView,
} from "./scripted-workload.js";

const REVISION = "deployment.kubernetes.io/revision";
const revisionOf = ({ metadata }: Body): number => Number(metadata.annotations?.[REVISION] ?? 0);
const templateImage = ({ spec }: Body): string => imageOf(spec.template);
const progress = ({ object }: WorkloadView): string => conditionOf(object, "Progressing").reason;
const isProgress =
  (reason: string) =>
  (view: WorkloadView): boolean =>
    progress(view) === reason;

/** The sums that a Deployment computes over its ReplicaSets. */
const SUMS = ["replicas", "readyReplicas", "availableReplicas", "terminatingReplicas"];

function isAtRest({ object, between, pods }: WorkloadView): boolean {
  if (!isObserved(object) || !between.every((set) => isSetAtRest(set, pods))) return false;
  const newest = between.find((set) => templateImage(set) === templateImage(object));
  const sum = (field: string): number => between.reduce((total, { status }) => total + (status[field] ?? 0), 0);
  const { spec, status } = object;
  const isCounted =
    SUMS.every((field) => counts(status[field], sum(field))) &&
    counts(status.updatedReplicas, newest?.status.replicas ?? 0) &&
    (!newest || revisionOf(newest) === revisionOf(object));
  if (!isCounted || spec.paused) return isCounted;
  const isComplete = [status.updatedReplicas, status.replicas, status.availableReplicas].every((count) =>
    counts(count, spec.replicas),
  );
  return !isComplete || conditionOf(object, "Progressing").reason === "NewReplicaSetAvailable";
}

/**
 * The write that reports a new ReplicaSet conflicts with the one that updates counts. Whether the next reconcile finds
 * its pods already counted, which is no progress then, is random.
 */
const BEGUN = ["NewReplicaSetCreated", "ReplicaSetUpdated"] as const;

function shownStatus({ object, between }: WorkloadView): Body {
  const status = sortedStatus(object);
  const newest = between.find((set) => templateImage(set) === templateImage(object));
  if (between.length === 1 || newest?.status.readyReplicas > 0) return status;
  const conditions = status.conditions.map((condition: Body) =>
    BEGUN.includes(condition.reason) ? { ...condition, reason: BEGUN.join(" or "), message: "" } : condition,
  );
  return { ...status, conditions };
}

const deployments: WorkloadKind = {
  plural: "deployments",
  between: "replicasets",
  isAtRest,
  shown: (view, s) => {
    const { object, between } = view;
    const sets = [...between].sort((left, right) => revisionOf(left) - revisionOf(right));
    for (const { metadata } of sets) s.generated(metadata.labels["pod-template-hash"]);
    return {
      revision: revisionOf(object),
      generation: object.metadata.generation,
      status: shownStatus(view),
      sets: sets.map(({ metadata, spec, status }) => ({
        annotations: metadata.annotations,
        replicas: spec.replicas,
        status,
      })),
    };
  },
  walked: (object) => ({
    observedGeneration: object.status?.observedGeneration,
    revision: revisionOf(object),
    ...Object.fromEntries(
      ["Available", "Progressing"].map((type) => {
        const { status, reason } = conditionOf(object, type);
        return [type, status && `${status} ${reason}`];
      }),
    ),
  }),
  isChance: (before, value) => before === `True ${BEGUN[0]}` && value === `True ${BEGUN[1]}`,
};

const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  strategy: { rollingUpdate: { maxSurge, maxUnavailable } },
});

/** Of image `one`, complete. */
async function complete(s: Session, replicas: number, spec: object = {}): Promise<ScriptedWorkload> {
  const deployment = await ScriptedWorkload.begin(s, deployments, { replicas, ...spec });
  await deployment.rests("made", { one: [replicas, 0] });
  await deployment.ready("one", replicas);
  await deployment.rests("complete", { one: [replicas, replicas] });
  return deployment;
}

/**
 * A case that rolls out image `two`: its first resting state, then the one after each pod of `two` that becomes ready.
 */
const rollout =
  (replicas: number, spec: object, first: PodCounts, ...next: readonly PodCounts[]) =>
  async (s: Session): Promise<void> => {
    await using deployment = await complete(s, replicas, spec);
    await deployment.image("two");
    await deployment.rests("begun", first);
    for (const [index, pods] of next.entries()) {
      await deployment.ready("two");
      await deployment.rests(`${index + 1} ready`, pods);
    }
  };

export const deploymentTransitionCases = area("deployment transitions", {
  "pods become ready, one by one": async (s) => {
    await using deployment = await ScriptedWorkload.begin(s, deployments, { replicas: 4 });
    await deployment.rests("made", { one: [4, 0] });
    for (const ready of [1, 2, 3, 4]) {
      await deployment.ready("one");
      await deployment.rests(`${ready} ready`, { one: [4, ready] });
    }
  },
  "a pod is ready no longer, then again": async (s) => {
    await using deployment = await complete(s, 2, rolling(1, 0));
    const [name] = await deployment.podNames("one");
    await deployment.readyPod(name!, "no longer");
    await deployment.rests("one left", { one: [2, 1] });
    await deployment.readyPod(name!);
    await deployment.rests("both", { one: [2, 2] });
  },
  "a pod is deleted": async (s) => {
    await using deployment = await complete(s, 2);
    const [name] = await deployment.podNames("one");
    await deployment.deletePod(name!);
    await deployment.rests("another", { one: [2, 1] });
    await deployment.ready("one");
    await deployment.rests("ready", { one: [2, 2] });
  },
  "rollout, a quarter more and a quarter less": rollout(
    4,
    {},
    { one: [3, 3], two: [2, 0] },
    { one: [2, 2], two: [3, 1] },
    { one: [1, 1], two: [4, 2] },
    { two: [4, 3] },
    { two: [4, 4] },
  ),
  "rollout, one more and none less": rollout(
    2,
    rolling(1, 0),
    { one: [2, 2], two: [1, 0] },
    { one: [1, 1], two: [2, 1] },
    { two: [2, 2] },
  ),
  "rollout, none more and one less": rollout(
    3,
    rolling(0, 1),
    { one: [2, 2], two: [1, 0] },
    { one: [1, 1], two: [2, 1] },
    { two: [3, 2] },
    { two: [3, 3] },
  ),
  "rollout, all more and none less": rollout(
    2,
    rolling("100%", 0),
    { one: [2, 2], two: [2, 0] },
    { one: [1, 1], two: [2, 1] },
    { two: [2, 2] },
  ),
  "rollout, none more and all less": rollout(2, rolling(0, "100%"), { two: [2, 0] }, { two: [2, 1] }, { two: [2, 2] }),
  "rollout, two more and one less": rollout(
    4,
    rolling(2, 1),
    { one: [3, 3], two: [3, 0] },
    { one: [2, 2], two: [4, 1] },
    { one: [1, 1], two: [4, 2] },
    { two: [4, 3] },
    { two: [4, 4] },
  ),
  "rollout, halves that are rounded": rollout(
    3,
    rolling("50%", "50%"),
    { one: [2, 2], two: [3, 0] },
    { one: [1, 1], two: [3, 1] },
    { two: [3, 2] },
    { two: [3, 3] },
  ),
  "rollout that recreates": rollout(
    2,
    { strategy: { type: "Recreate" } },
    { two: [2, 0] },
    { two: [2, 1] },
    { two: [2, 2] },
  ),
  "paused, changed and resumed": async (s) => {
    await using deployment = await complete(s, 2, rolling(1, 0));
    await deployment.spec({ paused: true });
    await deployment.rests("paused", { one: [2, 2] }, isProgress("DeploymentPaused"));
    await deployment.image("two");
    await deployment.rests("changed", { one: [2, 2] });
    await deployment.spec({ paused: false });
    await deployment.rests("resumed", { one: [2, 2], two: [1, 0] });
    await deployment.ready("two");
    await deployment.rests("1 ready", { one: [1, 1], two: [2, 1] });
    await deployment.ready("two");
    await deployment.rests("2 ready", { two: [2, 2] });
  },
  "paused in the middle of a rollout": async (s) => {
    await using deployment = await complete(s, 2, rolling(1, 0));
    await deployment.image("two");
    await deployment.rests("begun", { one: [2, 2], two: [1, 0] });
    await deployment.spec({ paused: true });
    await deployment.rests("paused", { one: [2, 2], two: [1, 0] }, isProgress("DeploymentPaused"));
    await deployment.ready("two");
    await deployment.rests("ready", { one: [2, 2], two: [1, 1] });
    await deployment.spec({ paused: false });
    await deployment.rests("resumed", { one: [1, 1], two: [2, 1] }, isProgress("ReplicaSetUpdated"));
    await deployment.ready("two");
    await deployment.rests("complete", { two: [2, 2] });
  },
  "scaled while paused": async (s) => {
    await using deployment = await complete(s, 1);
    await deployment.spec({ paused: true });
    await deployment.rests("paused", { one: [1, 1] }, isProgress("DeploymentPaused"));
    await deployment.spec({ replicas: 3 });
    await deployment.rests("scaled", { one: [3, 1] });
    await deployment.ready("one", 2);
    await deployment.rests("ready", { one: [3, 3] });
    await deployment.spec({ paused: false });
    await deployment.rests("resumed", { one: [3, 3] });
  },
  "back to an older revision": async (s) => {
    await using deployment = await complete(s, 1, rolling(1, 0));
    await deployment.image("two");
    await deployment.rests("second", { one: [1, 1], two: [1, 0] });
    await deployment.ready("two");
    await deployment.rests("second is ready", { two: [1, 1] });
    await deployment.image("three");
    await deployment.rests("third", { two: [1, 1], three: [1, 0] });
    await deployment.ready("three");
    await deployment.rests("third is ready", { three: [1, 1] });
    await deployment.image("one");
    await deployment.rests("first again", { three: [1, 1], one: [1, 0] });
    await deployment.ready("one");
    await deployment.rests("first is ready again", { one: [1, 1] });
  },
  "a broken revision is taken back": async (s) => {
    await using deployment = await complete(s, 3, rolling(1, 0));
    await deployment.image("two");
    await deployment.rests("broken", { one: [3, 3], two: [1, 0] });
    await deployment.image("one");
    await deployment.rests("back", { one: [3, 3] });
  },
  "a broken revision with pods less is taken back": async (s) => {
    await using deployment = await complete(s, 3, rolling(0, 2));
    await deployment.image("two");
    await deployment.rests("broken", { one: [1, 1], two: [2, 0] });
    await deployment.image("one");
    await deployment.rests("back", { one: [3, 1] });
    await deployment.ready("one");
    await deployment.rests("one more", { one: [3, 2] });
    await deployment.ready("one");
    await deployment.rests("whole", { one: [3, 3] });
  },
  "a third revision before the second is complete": async (s) => {
    await using deployment = await complete(s, 3, rolling(1, 0));
    await deployment.image("two");
    await deployment.rests("second", { one: [3, 3], two: [1, 0] });
    await deployment.ready("two");
    await deployment.rests("second has a pod", { one: [2, 2], two: [2, 1] });
    await deployment.image("three");
    await deployment.rests("third", { one: [2, 2], two: [1, 1], three: [1, 0] });
  },
  "scaled up in the middle of a rollout": async (s) => {
    await using deployment = await complete(s, 4);
    await deployment.image("two");
    await deployment.rests("begun", { one: [3, 3], two: [2, 0] });
    await deployment.spec({ replicas: 8 });
    await deployment.rests("scaled", { one: [6, 3], two: [4, 0] });
  },
  "scaled down in the middle of a rollout": async (s) => {
    await using deployment = await complete(s, 4);
    await deployment.image("two");
    await deployment.rests("begun", { one: [3, 3], two: [2, 0] });
    await deployment.spec({ replicas: 2 });
    await deployment.rests("scaled", { one: [2, 2], two: [1, 0] });
    await deployment.ready("two");
    await deployment.rests("1 ready", { one: [1, 1], two: [2, 1] });
    await deployment.ready("two");
    await deployment.rests("2 ready", { two: [2, 2] });
  },
  "scaled to nothing and back": async (s) => {
    await using deployment = await complete(s, 2);
    await deployment.spec({ replicas: 0 });
    await deployment.rests("nothing", {});
    await deployment.spec({ replicas: 2 });
    await deployment.rests("back", { one: [2, 0] });
    await deployment.ready("one");
    await deployment.rests("1 ready", { one: [2, 1] });
    await deployment.ready("one");
    await deployment.rests("2 ready", { one: [2, 2] });
  },
  "late, then complete after all": async (s) => {
    await using deployment = await complete(s, 1, { ...rolling(1, 0), progressDeadlineSeconds: 8 });
    await deployment.image("two");
    await deployment.rests("late", { one: [1, 1], two: [1, 0] }, isProgress("ProgressDeadlineExceeded"));
    await deployment.ready("two");
    await deployment.rests("complete", { two: [1, 1] });
  },
  "late, then taken back": async (s) => {
    await using deployment = await complete(s, 2, { ...rolling(1, 0), progressDeadlineSeconds: 8 });
    await deployment.image("two");
    await deployment.rests("late", { one: [2, 2], two: [1, 0] }, isProgress("ProgressDeadlineExceeded"));
    await deployment.image("one");
    await deployment.rests("back", { one: [2, 2] });
  },
  "pods must be ready for an hour": async (s) => {
    await using deployment = await ScriptedWorkload.begin(s, deployments, {
      replicas: 1,
      minReadySeconds: 3600,
      progressDeadlineSeconds: 7200,
      ...rolling(1, 0),
    });
    await deployment.rests("made", { one: [1, 0] });
    await deployment.ready("one");
    await deployment.rests("ready", { one: [1, 1] });
    const [first] = await deployment.podNames("one");
    await deployment.readyPod(first!, "long ago");
    await deployment.rests("available", { one: [1, 1] }, isProgress("NewReplicaSetAvailable"));
    await deployment.image("two");
    await deployment.rests("begun", { one: [1, 1], two: [1, 0] });
    await deployment.ready("two");
    await deployment.rests("held", { one: [1, 1], two: [1, 1] });
    const [second] = await deployment.podNames("two");
    await deployment.readyPod(second!, "long ago");
    await deployment.rests("complete", { two: [1, 1] });
  },
});
