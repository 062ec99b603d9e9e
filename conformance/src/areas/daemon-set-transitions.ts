import { area } from "../case.js";
import type { Session } from "../session.js";
import { ownNodes, type ReadyNode, readyNode } from "./ready-node.js";
import {
  counts,
  imageOf,
  isAvailable,
  isObserved,
  isReady,
  ScriptedWorkload,
  sortedStatus,
  type WorkloadKind,
  type WorkloadView,
} from "./scripted-workload.js";
import { labelled } from "./settled-workloads.js";

function isAtRest({ object, pods }: WorkloadView): boolean {
  if (!isObserved(object)) return false;
  const { spec, status } = object;
  const image = imageOf(spec.template);
  return (
    counts(status.currentNumberScheduled, pods.length) &&
    counts(status.desiredNumberScheduled, pods.length) &&
    counts(status.numberReady, pods.filter(isReady).length) &&
    counts(status.numberAvailable, pods.filter((pod) => isAvailable(pod, spec.minReadySeconds)).length) &&
    counts(status.updatedNumberScheduled, pods.filter((pod) => imageOf(pod) === image).length)
  );
}

const daemonSets: WorkloadKind = {
  plural: "daemonsets",
  between: "controllerrevisions",
  isAtRest,
  shown: ({ object, between }) => ({
    generation: object.metadata.generation,
    status: sortedStatus(object),
    revisions: between.map(({ revision }) => revision).sort(),
  }),
  walked: ({ status = {} }) => ({ observedGeneration: status.observedGeneration }),
};

async function begin(s: Session, spec: object = {}): Promise<ScriptedWorkload> {
  const { metadata, spec: pod } = labelled().template;
  const template = { metadata, spec: { ...pod, nodeSelector: ownNodes(s) } };
  return await ScriptedWorkload.begin(s, daemonSets, { template, ...spec });
}

const rolling = (maxUnavailable: number | string) => ({
  updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable } },
});

/** A case with so many nodes of its own, and all pods of image `one` ready on them. */
const onNodes =
  (count: number, spec: object, run: (set: ScriptedWorkload, s: Session) => Promise<void>) =>
  async (s: Session): Promise<void> => {
    const nodes: ReadyNode[] = [];
    try {
      for (let index = 0; index < count; index++) nodes.push(await readyNode(s, `n${index}`));
      await using set = await begin(s, spec);
      await set.rests("made", { one: [count, 0] });
      for (let ready = 1; ready <= count; ready++) {
        await set.ready("one");
        await set.rests(`${ready} ready`, { one: [count, ready] });
      }
      await run(set, s);
    } finally {
      for (const node of nodes) await node[Symbol.asyncDispose]();
    }
  };

export const daemonSetTransitionCases = area("daemon set transitions", {
  "an update, one node at a time": onNodes(2, rolling(1), async (set) => {
    await set.image("two");
    await set.rests("begun", { one: [1, 1], two: [1, 0] });
    await set.ready("two");
    await set.rests("the other", { two: [2, 1] });
    await set.ready("two");
    await set.rests("complete", { two: [2, 2] });
  }),
  "an update, all nodes at once": onNodes(2, rolling("100%"), async (set) => {
    await set.image("two");
    await set.rests("begun", { two: [2, 0] });
    await set.ready("two");
    await set.rests("1 ready", { two: [2, 1] });
    await set.ready("two");
    await set.rests("complete", { two: [2, 2] });
  }),
  "an update on delete": onNodes(2, { updateStrategy: { type: "OnDelete" } }, async (set) => {
    await set.image("two");
    await set.rests("waits", { one: [2, 2] });
    const [name] = await set.podNames("one");
    await set.deletePod(name!);
    await set.rests("one is replaced", { one: [1, 1], two: [1, 0] });
    await set.ready("two");
    await set.rests("ready", { one: [1, 1], two: [1, 1] });
  }),
  "a broken revision is taken back": onNodes(2, rolling(1), async (set) => {
    await set.image("two");
    await set.rests("broken", { one: [1, 1], two: [1, 0] });
    await set.image("one");
    await set.rests("back", { one: [2, 1] });
    await set.ready("one");
    await set.rests("complete", { one: [2, 2] });
  }),
  "a node comes": onNodes(1, {}, async (set, s) => {
    await using _ = await readyNode(s, "new");
    await set.rests("made", { one: [2, 1] });
    await set.ready("one");
    await set.rests("ready", { one: [2, 2] });
    const [name] = await set.podNames("one");
    await set.readyPod(name!, "no longer");
    await set.rests("ready no longer", { one: [2, 1] });
  }),
});
