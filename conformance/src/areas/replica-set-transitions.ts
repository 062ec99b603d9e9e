import { area } from "../case.js";
import type { Body, Session } from "../session.js";
import {
  counts,
  isAvailable,
  isObserved,
  isReady,
  ScriptedWorkload,
  sortedStatus,
  type WorkloadKind,
} from "./scripted-workload.js";

/** Whether a ReplicaSet has the pods that it asks for, and has counted them. Without nodes, pods go at once. */
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
});
