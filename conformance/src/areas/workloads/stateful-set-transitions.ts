import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import {
  counts,
  isAvailable,
  isObserved,
  isReady,
  ScriptedWorkload,
  sortedStatus,
  type WorkloadKind,
  type WorkloadView,
} from "./scripted-workload.js";

const hashOf = ({ metadata }: Body): string => metadata.labels["controller-revision-hash"];

function isAtRest({ object, pods }: WorkloadView): boolean {
  if (!isObserved(object)) return false;
  const { spec, status } = object;
  const available = pods.filter((pod) => isAvailable(pod, spec.minReadySeconds)).length;
  const ofRevision = (revision: string): number => pods.filter((pod) => hashOf(pod) === revision).length;
  const isCounted =
    counts(status.replicas, pods.length) &&
    counts(status.readyReplicas, pods.filter(isReady).length) &&
    counts(status.availableReplicas, available) &&
    counts(status.updatedReplicas, ofRevision(status.updateRevision)) &&
    counts(status.currentReplicas, ofRevision(status.currentRevision));
  const isComplete =
    spec.updateStrategy.type === "RollingUpdate" &&
    [status.updatedReplicas, status.replicas, status.readyReplicas].every((count) => counts(count, spec.replicas));
  return isCounted && (!isComplete || status.currentRevision === status.updateRevision);
}

const statefulSets: WorkloadKind = {
  plural: "statefulsets",
  between: "controllerrevisions",
  isAtRest,
  shown: ({ object, between, pods }) => ({
    generation: object.metadata.generation,
    status: sortedStatus(object),
    revisions: [...between]
      .sort((left, right) => left.revision - right.revision)
      .map(({ metadata, revision }) => `${revision}: ${metadata.name}`),
    pods: [...pods]
      .sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1))
      .map((pod) => `${pod.metadata.name} ${hashOf(pod)} ${isReady(pod) ? "ready" : "waits"}`),
  }),
  walked: ({ status = {} }) => ({
    observedGeneration: status.observedGeneration,
    currentRevision: status.currentRevision,
    updateRevision: status.updateRevision,
  }),
};

const parallel = { podManagementPolicy: "Parallel" };
const rolling = (rollingUpdate: object) => ({ updateStrategy: { type: "RollingUpdate", rollingUpdate } });
const begin = (s: Session, replicas: number, spec: object = {}): Promise<ScriptedWorkload> =>
  ScriptedWorkload.begin(s, statefulSets, { serviceName: "a", replicas, ...spec }, !("podManagementPolicy" in spec));

/** Of image `one`, all pods ready. */
async function complete(s: Session, replicas: number, spec: object = {}): Promise<ScriptedWorkload> {
  const set = await begin(s, replicas, spec);
  for (let ordinal = 0; ordinal < replicas; ordinal++) {
    const living = "podManagementPolicy" in spec ? replicas : ordinal + 1;
    await set.rests(`a-${ordinal} is made`, { one: [living, ordinal] });
    await set.readyPod(`a-${ordinal}`);
  }
  await set.rests("complete", { one: [replicas, replicas] });
  return set;
}

export const statefulSetTransitionCases = area("stateful set transitions", {
  "pods in their order": async (s) => {
    await using _ = await complete(s, 3);
  },
  "pods all at once": async (s) => {
    await using set = await begin(s, 3, parallel);
    await set.rests("made", { one: [3, 0] });
    for (const [index, ordinal] of [2, 0, 1].entries()) {
      await set.readyPod(`a-${ordinal}`);
      await set.rests(`a-${ordinal} is ready`, { one: [3, index + 1] });
    }
  },
  "a pod is ready no longer while others are to come": async (s) => {
    await using set = await begin(s, 3);
    await set.rests("made", { one: [1, 0] });
    await set.readyPod("a-0");
    await set.rests("a second", { one: [2, 1] });
    await set.readyPod("a-0", "no longer");
    await set.rests("none ready", { one: [2, 0] });
    await set.readyPod("a-1");
    await set.rests("the third waits for the first", { one: [2, 1] });
    await set.readyPod("a-0");
    await set.rests("the third", { one: [3, 2] });
  },
  "an update in reverse order": async (s) => {
    await using set = await complete(s, 3);
    await set.image("two");
    await set.rests("a-2 is replaced", { one: [2, 2], two: [1, 0] });
    await set.readyPod("a-2");
    await set.rests("a-1 is replaced", { one: [1, 1], two: [2, 1] });
    await set.readyPod("a-1");
    await set.rests("a-0 is replaced", { two: [3, 2] });
    await set.readyPod("a-0");
    await set.rests("complete", { two: [3, 3] });
  },
  "an update of pods that come all at once": async (s) => {
    await using set = await complete(s, 2, parallel);
    await set.image("two");
    await set.rests("a-1 is replaced", { one: [1, 1], two: [1, 0] });
    await set.readyPod("a-1");
    await set.rests("a-0 is replaced", { two: [2, 1] });
    await set.readyPod("a-0");
    await set.rests("complete", { two: [2, 2] });
  },
  "a partition that is lowered": async (s) => {
    await using set = await complete(s, 3, rolling({ partition: 2 }));
    await set.image("two");
    await set.rests("a-2 is replaced", { one: [2, 2], two: [1, 0] });
    await set.readyPod("a-2");
    await set.rests("held", { one: [2, 2], two: [1, 1] });
    await set.spec(rolling({ partition: 1 }));
    await set.rests("a-1 is replaced", { one: [1, 1], two: [2, 1] });
    await set.readyPod("a-1");
    await set.rests("held again", { one: [1, 1], two: [2, 2] });
    await set.spec(rolling({ partition: 0 }));
    await set.rests("a-0 is replaced", { two: [3, 2] });
    await set.readyPod("a-0");
    await set.rests("complete", { two: [3, 3] });
  },
  "a pod below the partition comes back as it was": async (s) => {
    await using set = await complete(s, 2, rolling({ partition: 1 }));
    await set.image("two");
    await set.rests("a-1 is replaced", { one: [1, 1], two: [1, 0] });
    await set.readyPod("a-1");
    await set.rests("held", { one: [1, 1], two: [1, 1] });
    await set.deletePod("a-0");
    await set.rests("a-0 is back", { one: [1, 0], two: [1, 1] });
    await set.readyPod("a-0");
    await set.rests("ready", { one: [1, 1], two: [1, 1] });
  },
  "an update on delete": async (s) => {
    await using set = await complete(s, 2, { updateStrategy: { type: "OnDelete" } });
    await set.image("two");
    await set.rests("waits", { one: [2, 2] });
    await set.deletePod("a-0");
    await set.rests("a-0 is replaced", { one: [1, 1], two: [1, 0] });
    await set.readyPod("a-0");
    await set.rests("a-0 is ready", { one: [1, 1], two: [1, 1] });
    await set.deletePod("a-1");
    await set.rests("a-1 is replaced", { two: [2, 1] });
    await set.readyPod("a-1");
    await set.rests("all are of the new revision", { two: [2, 2] });
  },
  "more than one unavailable, which is not served": async (s) => {
    await using set = await complete(s, 3, rolling({ maxUnavailable: 2 }));
    await set.image("two");
    await set.rests("a-2 is replaced", { one: [2, 2], two: [1, 0] });
    await set.readyPod("a-2");
    await set.rests("a-1 is replaced", { one: [1, 1], two: [2, 1] });
  },
  "scaled down in order": async (s) => {
    await using set = await complete(s, 3);
    await set.spec({ replicas: 1 });
    await set.rests("one is left", { one: [1, 1] });
  },
  "scaling down waits for pods that are not ready": async (s) => {
    await using set = await complete(s, 3);
    await set.readyPod("a-0", "no longer");
    await set.rests("a-0 is not ready", { one: [3, 2] });
    await set.spec({ replicas: 1 });
    await set.rests("waits", { one: [3, 2] });
    await set.readyPod("a-0");
    await set.rests("one is left", { one: [1, 1] });
  },
  "scaled down all at once": async (s) => {
    await using set = await complete(s, 3, parallel);
    await set.readyPod("a-0", "no longer");
    await set.rests("a-0 is not ready", { one: [3, 2] });
    await set.spec({ replicas: 1 });
    await set.rests("one is left", { one: [1, 0] });
  },
  "scaled up in the middle of an update": async (s) => {
    await using set = await complete(s, 2);
    await set.image("two");
    await set.rests("a-1 is replaced", { one: [1, 1], two: [1, 0] });
    await set.spec({ replicas: 3 });
    await set.rests("waits for a-1", { one: [1, 1], two: [1, 0] });
    await set.readyPod("a-1");
    await set.rests("a-2 is made", { one: [1, 1], two: [2, 1] });
    await set.readyPod("a-2");
    await set.rests("a-0 is replaced", { two: [3, 2] });
    await set.readyPod("a-0");
    await set.rests("complete", { two: [3, 3] });
  },
  "scaled to nothing and back": async (s) => {
    await using set = await complete(s, 2);
    await set.spec({ replicas: 0 });
    await set.rests("nothing", {});
    await set.spec({ replicas: 1 });
    await set.rests("a-0 is made", { one: [1, 0] });
    await set.readyPod("a-0");
    await set.rests("complete", { one: [1, 1] });
  },
  "a broken revision is taken back": async (s) => {
    await using set = await complete(s, 2);
    await set.image("two");
    await set.rests("a-1 is broken", { one: [1, 1], two: [1, 0] });
    await set.image("one");
    await set.rests("the broken pod stays", { one: [1, 1], two: [1, 0] });
    await set.deletePod("a-1");
    await set.rests("a-1 is as it was", { one: [2, 1] });
    await set.readyPod("a-1");
    await set.rests("complete", { one: [2, 2] });
  },
  "back to an older revision": async (s) => {
    await using set = await complete(s, 1);
    await set.image("two");
    await set.rests("second", { two: [1, 0] });
    await set.readyPod("a-0");
    await set.rests("second is ready", { two: [1, 1] });
    await set.image("one");
    await set.rests("first again", { one: [1, 0] });
    await set.readyPod("a-0");
    await set.rests("first is ready again", { one: [1, 1] });
  },
  "a third revision before the second is complete": async (s) => {
    await using set = await complete(s, 3);
    await set.image("two");
    await set.rests("a-2 is replaced", { one: [2, 2], two: [1, 0] });
    await set.readyPod("a-2");
    await set.rests("a-1 is replaced", { one: [1, 1], two: [2, 1] });
    await set.readyPod("a-1");
    await set.rests("a-0 is replaced", { two: [3, 2] });
    await set.image("three");
    await set.rests("waits for a-0", { two: [3, 2] });
    await set.readyPod("a-0");
    await set.rests("a-2 is replaced again", { two: [2, 2], three: [1, 0] });
  },
  "pods must be ready for an hour": async (s) => {
    await using set = await begin(s, 2, { minReadySeconds: 3600 });
    await set.rests("made", { one: [1, 0] });
    await set.readyPod("a-0");
    await set.rests("ready, not available", { one: [1, 1] });
    await set.readyPod("a-0", "long ago");
    await set.rests("a second", { one: [2, 1] });
    await set.readyPod("a-1", "long ago");
    await set.rests("available", { one: [2, 2] });
    await set.image("two");
    await set.rests("a-1 is replaced", { one: [1, 1], two: [1, 0] });
    await set.readyPod("a-1");
    await set.rests("held", { one: [1, 1], two: [1, 1] });
    await set.readyPod("a-1", "long ago");
    await set.rests("a-0 is replaced", { two: [2, 1] });
    await set.readyPod("a-0", "long ago");
    await set.rests("complete", { two: [2, 2] });
  },
  "a pod is deleted, another fails": async (s) => {
    await using set = await complete(s, 2);
    await set.deletePod("a-0");
    await set.rests("a-0 is made again", { one: [2, 1] });
    await set.readyPod("a-0");
    await set.rests("both are ready", { one: [2, 2] });
    await set.podStatus("a-1", { phase: "Failed", conditions: [] });
    await set.has({ one: [2, 1] });
    await set.readyPod("a-1");
    await set.rests("both are ready again", { one: [2, 2] });
  },
  "ordinals that begin later": async (s) => {
    await using set = await begin(s, 2, { ordinals: { start: 5 } });
    await set.rests("made", { one: [1, 0] });
    await set.readyPod("a-5");
    await set.rests("a second", { one: [2, 1] });
    await set.readyPod("a-6");
    await set.rests("complete", { one: [2, 2] });
    await set.image("two");
    await set.rests("a-6 is replaced", { one: [1, 1], two: [1, 0] });
  },
});
