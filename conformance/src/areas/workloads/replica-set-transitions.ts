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
} from "./scripted-workload.js";

/** Whether a ReplicaSet has the desired pods and has counted them. Without nodes, pods are deleted at once. */
export function isSetAtRest(set: Body, pods: readonly Body[]): boolean {
  const own = pods.filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === set.metadata.uid);
  return (
    isObserved(set) &&
    own.length === set.spec.replicas &&
    counts(set.status.replicas, own.length) &&
    counts(set.status.terminatingReplicas, 0) &&
    counts(set.status.readyReplicas, own.filter(isReady).length) &&
    counts(set.status.availableReplicas, own.filter((pod) => isAvailable(pod, set.spec.minReadySeconds)).length)
  );
}

const replicaSets: WorkloadKind = {
  plural: "replicasets",
  isAtRest: ({ object, pods }) => isSetAtRest(object, pods),
  shown: ({ object }) => ({ generation: object.metadata.generation, status: sortedStatus(object) }),
  walked: ({ status }) => ({ observedGeneration: status?.observedGeneration }),
};

async function complete(s: Session, replicas: number, spec: object = {}): Promise<ScriptedWorkload> {
  const set = await ScriptedWorkload.begin(s, replicaSets, { replicas, ...spec });
  await set.rests("made", { one: [replicas, 0] });
  for (let ready = 1; ready <= replicas; ready++) {
    await set.ready("one");
    await set.rests(`${ready} ready`, { one: [replicas, ready] });
  }
  return set;
}

export const replicaSetTransitionCases = area("replica set transitions", {
  "scaled up and down": async (s) => {
    await using set = await complete(s, 2);
    await set.spec({ replicas: 3 });
    await set.rests("up", { one: [3, 2] });
    await set.ready("one");
    await set.rests("ready", { one: [3, 3] });
    await set.spec({ replicas: 1 });
    await set.rests("down", { one: [1, 1] });
    await set.spec({ replicas: 0 });
    await set.rests("none", {});
  },
  "the pod that is not ready goes first": async (s) => {
    await using set = await complete(s, 3);
    const [name] = await set.podNames("one");
    await set.readyPod(name!, "no longer");
    await set.rests("one is not ready", { one: [3, 2] });
    await set.spec({ replicas: 2 });
    await set.rests("down", { one: [2, 2] });
  },
  "a pod is deleted, another fails": async (s) => {
    await using set = await complete(s, 2);
    const [first, second] = await set.podNames("one");
    await set.deletePod(first!);
    await set.rests("another for the deleted", { one: [2, 1] });
    await set.podStatus(second!, { phase: "Failed", conditions: [] });
    await set.rests("another for the failed", { one: [2, 0] });
  },
  "pods must be ready for an hour": async (s) => {
    await using set = await complete(s, 2, { minReadySeconds: 3600 });
    const [first, second] = await set.podNames("one");
    await set.readyPod(first!, "long ago");
    await set.rests("one is available", { one: [2, 2] });
    await set.readyPod(second!, "long ago");
    await set.rests("both are available", { one: [2, 2] });
  },
  "to nothing and back": async (s) => {
    await using set = await complete(s, 2);
    await set.spec({ replicas: 0 });
    await set.rests("nothing", {});
    await set.spec({ replicas: 2 });
    await set.rests("back", { one: [2, 0] });
    await set.ready("one", 2);
    await set.rests("ready", { one: [2, 2] });
  },
  "a template that changes is for pods to come": async (s) => {
    await using set = await complete(s, 2);
    await set.image("two");
    await set.rests("nothing happens", { one: [2, 2] });
    await set.spec({ replicas: 3 });
    await set.rests("up", { one: [2, 2], two: [1, 0] });
    const [first] = await set.podNames("one");
    await set.deletePod(first!);
    await set.rests("another for the deleted", { one: [1, 1], two: [2, 0] });
  },
  "more labels in the template than pods have": async (s) => {
    await using set = await complete(s, 2);
    await set.spec({ template: { metadata: { labels: { more: "labels" } } } });
    await set.rests("none has them all", { one: [2, 2] }, ({ object }) => !object.status.fullyLabeledReplicas);
    const [first] = await set.podNames("one");
    await set.podLabels(first!, { more: "labels" });
    await set.rests("one has", { one: [2, 2] }, ({ object }) => object.status.fullyLabeledReplicas === 1);
  },
  "a pod is let go of": async (s) => {
    await using set = await complete(s, 2);
    const [first] = await set.podNames("one");
    await set.podLabels(first!, { app: "b" });
    await set.rests("another for it", { one: [3, 2] });
    await set.podLabels(first!, { app: "a" });
    await set.rests("it is back: one too many", { one: [2, 2] });
  },
  "those that became ready last go first": async (s) => {
    await using set = await complete(s, 3);
    const [first, second, third] = await set.podNames("one");
    await set.readyPod(first!, "long ago");
    await set.readyPod(third!, "long ago");
    await set.rests("two are old", { one: [3, 3] });
    await set.spec({ replicas: 2 });
    await set.rests("down", { one: [2, 2] });
    s.note("the young one is gone", !(await set.podNames("one")).includes(second!));
  },
  "a time to be ready that grows and shrinks": async (s) => {
    await using set = await complete(s, 2);
    await set.spec({ minReadySeconds: 3600 });
    await set.rests("available no longer", { one: [2, 2] });
    await set.spec({ minReadySeconds: 0 });
    await set.rests("available again", { one: [2, 2] });
  },
});
