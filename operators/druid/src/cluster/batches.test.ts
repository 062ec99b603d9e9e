import { StatefulSet } from "setpoint/kinds/apps/v1";
import { StorageClass } from "setpoint/kinds/storage.k8s.io/v1";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { DruidWorld, type DruidWorldOptions, scriptedDruid } from "../druid-world.testing.js";
import { sampleDruid } from "../sample.testing.js";

const here = { namespace: "default" };
const OLD = "apache/druid:30.0.0";
const NEW = "apache/druid:31.0.0";
const find = (world: DruidWorld, key: string) => world.env.client.get(StatefulSet, `druid-tiny-${key}`, here);
const images = async (world: DruidWorld, component: string) =>
  (await world.env.client.list(Pod, { ...here, labelSelector: `component=${component}` })).items.map(
    ({ spec }) => spec?.containers[0]?.image,
  );
const claims = (storage: string) => [
  {
    metadata: { name: "data" },
    spec: {
      storageClassName: "grows",
      accessModes: ["ReadWriteOnce" as const],
      resources: { requests: { storage } },
    },
  },
];

/** A cluster at rest, with a scripted number of missing segments and running tasks. */
async function resting(nodes: Parameters<typeof sampleDruid>[0], options: DruidWorldOptions = {}, spec: object = {}) {
  const state = { segments: 0, tasks: [] as string[] };
  const druid = scriptedDruid((_method, path) =>
    path.endsWith("/tasks") ? state.tasks : path.includes("loadstatus") ? { wiki: state.segments } : {},
  );
  const world = await DruidWorld.create({ simulate: true, call: druid.call, ...options });
  await world.env.client.create(StorageClass, {
    metadata: { name: "grows" },
    provisioner: "simulated",
    allowVolumeExpansion: true,
  });
  await world.create(sampleDruid({ ...nodes, routers: { nodeType: "router" } }, spec));
  await world.env.advance("2m");
  return { world, state, sent: druid.sent, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

describe("a rollout in batches", { timeout: 240_000 }, () => {
  it("does not mistake its own steps for drift", async () => {
    await using at = await resting(
      {
        historicals: { nodeType: "historical", replicas: 3 },
        middlemanagers: { nodeType: "middleManager", replicas: 2 },
      },
      { drift: "report" },
    );
    const nodes = { middlemanagers: { replicas: 1 } };
    await at.world.patch("tiny", { spec: { image: NEW, nodes } });
    await at.world.env.advance("4m");
    expect((await at.world.events("tiny")).filter((event) => event.startsWith("DruidDrift"))).toEqual([]);
    expect(await images(at.world, "historical")).toEqual([NEW, NEW, NEW]);
    expect(await images(at.world, "middleManager")).toEqual([NEW]);
  });

  it.each([
    ["a larger volume", { volumeClaimTemplates: claims("2Gi") }],
    ["another selector", { podLabels: { team: "b" } }],
  ])("checks segments before each pod, also if the StatefulSet is recreated for %s", async (_why, change) => {
    const podLabels = { team: "a" };
    await using at = await resting(
      {
        historicals: { nodeType: "historical", replicas: 2, podLabels, volumeClaimTemplates: claims("1Gi") },
      },
      { immutableChanges: "recreate" },
      { scalePvcSts: true },
    );
    const { uid } = (await find(at.world, "historicals")).metadata;
    at.state.segments = 4;
    await at.world.patch("tiny", { spec: { image: NEW, nodes: { historicals: change } } });
    await at.world.env.advance("4m");
    expect((await find(at.world, "historicals")).metadata.uid).not.toBe(uid);
    expect(await images(at.world, "historical")).toEqual([OLD, NEW]);
    const { status } = await at.world.druid("tiny");
    expect(status?.conditions?.find(({ type }) => type === "Progressing")?.message).toContain(
      "segments to load: wiki 4",
    );
    at.state.segments = 0;
    await at.world.env.advance("4m");
    expect(await images(at.world, "historical")).toEqual([NEW, NEW]);
    expect((await find(at.world, "historicals")).spec?.updateStrategy?.rollingUpdate?.partition ?? 0).toBe(0);
    expect((await at.world.druid("tiny")).status?.nodeGroups?.every(({ phase }) => phase === "Ready")).toBe(true);
  });

  it("drains no middle manager that is not replaced: neither for an annotation nor for a larger volume", async () => {
    await using at = await resting(
      { middlemanagers: { nodeType: "middleManager", replicas: 2, volumeClaimTemplates: claims("1Gi") } },
      {},
      { scalePvcSts: true },
    );
    const nodes = { middlemanagers: { workloadAnnotations: { a: "b" }, volumeClaimTemplates: claims("2Gi") } };
    await at.world.patch("tiny", { spec: { nodes } });
    await at.world.env.advance("4m");
    const { metadata, spec } = await find(at.world, "middlemanagers");
    expect([metadata.annotations?.a, spec?.updateStrategy?.rollingUpdate?.partition ?? 0]).toEqual(["b", 0]);
    const { items } = await at.world.env.client.list(PersistentVolumeClaim, here);
    expect(items.map((claim) => claim.spec?.resources?.requests?.storage)).toEqual(["2Gi", "2Gi"]);
    expect(at.sent.filter((request) => request.includes("/worker/"))).toEqual([]);
    expect((await at.world.druid("tiny")).status?.nodeGroups?.every(({ phase }) => phase === "Ready")).toBe(true);
  });

  it("drains middle managers again if another change follows right after they were replaced", async () => {
    await using at = await resting({ middlemanagers: { nodeType: "middleManager", replicas: 2 } });
    await at.world.patch("tiny", { spec: { image: NEW } });
    const isFirstReplaced = async () => (await images(at.world, "middleManager"))[1] === NEW;
    while (!(await isFirstReplaced())) await at.world.env.advance("5s");
    await at.world.env.advance("30s");
    at.state.tasks = ["index_wiki"];
    await at.world.patch("tiny", { spec: { image: "apache/druid:32.0.0" } });
    await at.world.env.advance("4m");
    expect((await images(at.world, "middleManager"))[1]).toBe(NEW);
    at.state.tasks = [];
    await at.world.env.advance("4m");
    expect(await images(at.world, "middleManager")).toEqual(["apache/druid:32.0.0", "apache/druid:32.0.0"]);
  });

  it("replaces a pod that never becomes ready, although it is not its turn yet", async () => {
    const never = { "simulation.setpoint.dev/failure": "never-ready" };
    await using at = await resting({ historicals: { nodeType: "historical", replicas: 2, podAnnotations: never } });
    await at.world.patch("tiny", { spec: { nodes: { historicals: { podAnnotations: null } } } });
    await at.world.env.advance("4m");
    expect((await find(at.world, "historicals")).status).toMatchObject({ readyReplicas: 2, updatedReplicas: 2 });
  });

  it("has batches of maxUnavailable, also for groups that need none", async () => {
    const never = { "simulation.setpoint.dev/failure": "never-ready" };
    await using at = await resting({ brokers: { nodeType: "broker", replicas: 5, maxUnavailable: 2 } });
    await at.world.patch("tiny", { spec: { image: NEW, nodes: { brokers: { podAnnotations: never } } } });
    await at.world.env.advance("5m");
    expect((await find(at.world, "brokers")).spec?.updateStrategy?.rollingUpdate).toMatchObject({ partition: 3 });
    expect(at.sent.filter((request) => request.includes("/worker/"))).toEqual([]);
  });

  it("keeps the replicas of an autoscaler if the StatefulSet is recreated", async () => {
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "StatefulSet", name: "druid-tiny-brokers" };
    const brokers = { nodeType: "broker", podLabels: { team: "a" } } as const;
    await using at = await resting(
      { brokers: { ...brokers, hpAutoscaler: { minReplicas: 4, maxReplicas: 6, scaleTargetRef } } },
      { immutableChanges: "recreate" },
    );
    const replicas = async () => (await find(at.world, "brokers")).spec?.replicas;
    await at.world.env.advance("5m");
    expect(await replicas()).toBe(4);
    await at.world.patch("tiny", { spec: { nodes: { brokers: { podLabels: { team: "b" } } } } });
    const pods = new Set<number>();
    for (let step = 0; step < 60; step++) {
      await at.world.env.advance("5s");
      pods.add((await images(at.world, "broker")).length);
    }
    expect((await find(at.world, "brokers")).spec?.selector.matchLabels?.team).toBe("b");
    expect([await replicas(), Math.min(...pods) >= 3]).toEqual([4, true]);
  });
});
