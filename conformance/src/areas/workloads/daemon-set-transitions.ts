import { systemClock } from "setpoint/clock";
import { area } from "../../case.js";
import type { Session } from "../../session.js";
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

/** For nodes that may have two pods, or pods on nodes that do not match: the case states the counts to wait for. */
const isCounted =
  (expected: Readonly<Record<string, number>>) =>
  ({ object: { status } }: WorkloadView): boolean =>
    Object.entries(expected).every(([name, count]) => counts(status[name], count));

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

async function begin(s: Session, spec: object, kind: WorkloadKind): Promise<ScriptedWorkload> {
  const { metadata, spec: pod } = labelled().template;
  const template = { metadata, spec: { ...pod, nodeSelector: ownNodes(s) } };
  return await ScriptedWorkload.begin(s, kind, { template, ...spec });
}

const uneven: WorkloadKind = { ...daemonSets, isAtRest: ({ object }) => isObserved(object) };

const surging = { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } };

const rolling = (maxUnavailable: number | string) => ({
  updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable } },
});

/** The older of two pods counts, by the second. */
const OLDER_MS = 1_100;

async function taint(s: Session, { name }: ReadyNode, taints: readonly object[] | null): Promise<void> {
  await s.patch("merge", `/api/v1/nodes/${name}`, { spec: { taints } }, { silent: true });
}

/** A case with so many nodes of its own, on which all pods of image `one` are ready. */
const onNodes =
  (
    count: number,
    spec: object,
    run: (set: ScriptedWorkload, s: Session, nodes: readonly ReadyNode[]) => Promise<void>,
    kind = daemonSets,
  ) =>
  async (s: Session): Promise<void> => {
    const nodes: ReadyNode[] = [];
    try {
      for (let index = 0; index < count; index++) nodes.push(await readyNode(s, `n${index}`));
      await using set = await begin(s, spec, kind);
      const all = { desiredNumberScheduled: count, currentNumberScheduled: count, updatedNumberScheduled: count };
      await set.rests("made", { one: [count, 0] }, isCounted(all));
      for (let ready = 1; ready <= count; ready++) {
        await set.ready("one");
        await set.rests(`${ready} ready`, { one: [count, ready] }, isCounted({ ...all, numberReady: ready }));
      }
      await run(set, s, nodes);
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
  "an update beside the old pods, one node at a time": onNodes(
    2,
    surging,
    async (set) => {
      await systemClock.sleep(OLDER_MS);
      await set.image("two");
      await set.rests(
        "begun",
        { one: [2, 2], two: [1, 0] },
        isCounted({ numberAvailable: 2, updatedNumberScheduled: 0 }),
      );
      await set.ready("two");
      await set.rests(
        "the other",
        { one: [1, 1], two: [2, 1] },
        isCounted({ numberAvailable: 2, updatedNumberScheduled: 1 }),
      );
      await set.ready("two");
      await set.rests("complete", { two: [2, 2] }, isCounted({ numberAvailable: 2, updatedNumberScheduled: 2 }));
    },
    uneven,
  ),
  "a broken revision beside the old pods is taken back": onNodes(
    2,
    surging,
    async (set) => {
      await systemClock.sleep(OLDER_MS);
      await set.image("two");
      await set.rests(
        "broken",
        { one: [2, 2], two: [1, 0] },
        isCounted({ numberAvailable: 2, updatedNumberScheduled: 0 }),
      );
      await set.image("one");
      await set.rests("back", { one: [2, 2] }, isCounted({ numberAvailable: 2, updatedNumberScheduled: 2 }));
    },
    uneven,
  ),
  "a node goes": onNodes(2, {}, async (set, _s, nodes) => {
    await nodes[0]![Symbol.asyncDispose]();
    await set.lookAgain("a node went");
    await set.rests("gone", { one: [1, 1] });
  }),
  "a node is tainted, and no longer": onNodes(
    2,
    {},
    async (set, s, nodes) => {
      const taints = [{ key: "mine", effect: "NoSchedule" }];
      await taint(s, nodes[0]!, taints);
      await set.lookAgain("tainted");
      await set.rests("its pod may stay", { one: [2, 2] }, isCounted({ numberMisscheduled: 1 }));
      await taint(s, nodes[0]!, null);
      await set.lookAgain("no longer tainted");
      await set.rests("as before", { one: [2, 2] }, isCounted({ numberAvailable: 2, numberMisscheduled: 0 }));
    },
    uneven,
  ),
  "a pod is deleted, another fails": onNodes(2, {}, async (set) => {
    const [first, second] = await set.podNames("one");
    await set.deletePod(first!);
    await set.rests("another for the deleted", { one: [2, 1] });
    await set.podStatus(second!, { phase: "Failed", conditions: [] });
    await set.rests("another for the failed", { one: [2, 0] });
  }),
  "pods must be ready for an hour": onNodes(2, { minReadySeconds: 3600 }, async (set) => {
    const [first, second] = await set.podNames("one");
    await set.readyPod(first!, "long ago");
    await set.rests("one is available", { one: [2, 2] });
    await set.readyPod(second!, "long ago");
    await set.rests("both are available", { one: [2, 2] });
  }),
});
