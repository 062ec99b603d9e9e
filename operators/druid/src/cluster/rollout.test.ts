import { StatefulSet } from "setpoint/kinds/apps/v1";
import { StorageClass } from "setpoint/kinds/storage.k8s.io/v1";
import { Event, PersistentVolumeClaim, Pod, Service } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import type { DruidNode } from "../druid.js";
import { DruidWorld, scriptedDruid } from "../druid-world.testing.js";
import { sampleDruid, sevenGroups } from "../sample.testing.js";
import { progressOf } from "./rollout.js";

const here = { namespace: "default" };
const set = (world: DruidWorld, key: string) => world.env.client.get(StatefulSet, `druid-tiny-${key}`, here);
const condition = async (world: DruidWorld, type: string) =>
  (await world.druid("tiny")).status?.conditions?.find((each) => each.type === type);
const imageOf = async (world: DruidWorld, key: string) =>
  (await set(world, key)).spec?.template.spec?.containers[0]?.image;
const claims = (storage: string, storageClassName = "grows") => [
  {
    metadata: { name: "data" },
    spec: { storageClassName, accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage } } },
  },
];

/** Pods with this annotation never become ready. */
const NEVER = { "simulation.setpoint.dev/failure": "never-ready" };

describe("a rollout", { timeout: 240_000 }, () => {
  it("updates a group once those before it have one revision and are ready [D23] [D26]", async () => {
    await using world = await DruidWorld.create({ simulate: true, batch: 0 });
    await world.create(sevenGroups());
    await world.env.advance("1m");
    await world.patch("tiny", {
      spec: { image: "apache/druid:31.0.0", nodes: { middlemanagers: { podAnnotations: NEVER } } },
    });
    await world.env.advance("5m");
    const images = async () => {
      const keys = ["historicals", "middlemanagers", "indexers", "brokers", "coordinators", "overlords", "routers"];
      return Promise.all(keys.map(async (key) => (await imageOf(world, key))!.split(":")[1]));
    };
    expect(await images()).toEqual(["31.0.0", "31.0.0", "30.0.0", "30.0.0", "30.0.0", "30.0.0", "30.0.0"]);
    const { currentRevision, updateRevision } = (await set(world, "middlemanagers")).status!;
    expect(await condition(world, "Progressing")).toMatchObject({
      status: "True",
      message: expect.stringContaining(
        `middlemanagers: Rolling, 1/1 updated, 0/1 ready (${currentRevision} to ${updateRevision})`,
      ),
    });
    expect((await condition(world, "Progressing"))?.message).toContain(
      "indexers: Waiting, its update waits for druid-tiny-middlemanagers",
    );
    expect((await condition(world, "Ready"))?.status).toBe("False");
    expect((await world.druid("tiny")).status?.druidNodeStatus?.druidNodeConditionType).toBe("DruidNodeRollingUpdate");
    await world.patch("tiny", { spec: { nodes: { middlemanagers: { podAnnotations: null } } } });
    await world.env.client.delete(Pod, "druid-tiny-middlemanagers-0", here);
    await world.env.advance("5m");
    expect(new Set(await images())).toEqual(new Set(["31.0.0"]));
    expect((await condition(world, "Ready"))?.status).toBe("True");
  });

  it("ignores a status that is older than the newest generation [D24]", () => {
    const status = {
      observedGeneration: 1,
      readyReplicas: 1,
      updatedReplicas: 1,
      currentRevision: "a",
      updateRevision: "a",
      replicas: 1,
    };
    const live = { kind: "StatefulSet", metadata: { generation: 2 }, spec: { replicas: 1 }, status } as never;
    expect(progressOf(live)).toMatchObject({ isDone: false });
    expect(progressOf({ ...(live as object), status: { ...status, observedGeneration: 2 } } as never)).toMatchObject({
      isDone: true,
    });
  });

  it("creates groups although earlier ones never become ready [D25]", async () => {
    await using world = await DruidWorld.create({ simulate: true });
    await world.create(sampleDruid({ historicals: { nodeType: "historical", podAnnotations: NEVER } }));
    await world.env.advance("1m");
    await world.patch("tiny", {
      spec: {
        nodes: sampleDruid({ coordinators: { nodeType: "coordinator" }, routers: { nodeType: "router" } }).spec.nodes,
      },
    });
    await world.env.advance("1m");
    expect([await imageOf(world, "coordinators"), await imageOf(world, "routers")]).toEqual([
      "apache/druid:30.0.0",
      "apache/druid:30.0.0",
    ]);
  });

  it("updates all groups at once without rollingDeploy", async () => {
    await using world = await DruidWorld.create({ simulate: true });
    const nodes = { historicals: { nodeType: "historical", replicas: 2 }, routers: { nodeType: "router" } } as const;
    await world.create(sampleDruid(nodes, { rollingDeploy: false }));
    await world.env.advance("1m");
    await world.patch("tiny", {
      spec: { image: "apache/druid:31.0.0", nodes: { historicals: { podAnnotations: NEVER } } },
    });
    await world.env.advance("1m");
    expect(await imageOf(world, "routers")).toBe("apache/druid:31.0.0");
    expect((await set(world, "historicals")).spec?.updateStrategy?.rollingUpdate?.partition ?? 0).toBe(0);
  });

  it("goes backwards for a downgrade", async () => {
    await using world = await DruidWorld.create({ simulate: true, batch: 0 });
    await world.create(sampleDruid({ historicals: { nodeType: "historical" }, routers: { nodeType: "router" } }));
    await world.env.advance("1m");
    await world.patch("tiny", {
      spec: { image: "apache/druid:29.0.0", nodes: { routers: { podAnnotations: NEVER } } },
    });
    await world.env.advance("2m");
    expect([await imageOf(world, "routers"), await imageOf(world, "historicals")]).toEqual([
      "apache/druid:29.0.0",
      "apache/druid:30.0.0",
    ]);
  });

  it("replaces historicals one by one, each when the segments of the last one are loaded", async () => {
    let missing = 0;
    const druid = scriptedDruid(() => ({ wiki: missing }));
    await using world = await DruidWorld.create({ simulate: true, call: druid.call });
    await world.create(
      sampleDruid({ historicals: { nodeType: "historical", replicas: 3 }, routers: { nodeType: "router" } }),
    );
    await world.env.advance("2m");
    missing = 4;
    await world.patch("tiny", { spec: { image: "apache/druid:31.0.0" } });
    const updated = async () => (await set(world, "historicals")).status?.updatedReplicas;
    await world.env.advance("10m");
    expect(await updated()).toBe(1);
    expect((await condition(world, "Progressing"))?.message).toContain("segments to load: wiki 4");
    expect(await imageOf(world, "routers")).toBe("apache/druid:30.0.0");
    missing = 0;
    await world.env.advance("10m");
    expect([await updated(), await imageOf(world, "routers")]).toEqual([3, "apache/druid:31.0.0"]);
    expect((await set(world, "historicals")).spec?.updateStrategy?.rollingUpdate?.partition ?? 0).toBe(0);
    expect((await condition(world, "Ready"))?.status).toBe("True");
  });

  it("continues after a while if Druid is unreachable, and says so", async () => {
    await using world = await DruidWorld.create({ simulate: true });
    await world.create(
      sampleDruid({ historicals: { nodeType: "historical", replicas: 2 }, routers: { nodeType: "router" } }),
    );
    await world.env.advance("2m");
    await world.patch("tiny", { spec: { image: "apache/druid:31.0.0" } });
    await world.env.advance("20m");
    expect(await imageOf(world, "routers")).toBe("apache/druid:31.0.0");
    expect((await condition(world, "Ready"))?.status).toBe("True");
    const { items } = await world.env.client.list(Event, here);
    expect(items.map(({ reason }) => reason)).toContain("DruidNodeRollingDeployWait");
  });

  it("lets middle managers finish their tasks before they are replaced", async () => {
    let tasks = ["index_wiki"];
    const druid = scriptedDruid((_method, path) => (path.endsWith("/tasks") ? tasks : {}));
    await using world = await DruidWorld.create({ simulate: true, call: druid.call });
    await world.create(
      sampleDruid({ middlemanagers: { nodeType: "middleManager", replicas: 2 }, routers: { nodeType: "router" } }),
    );
    await world.env.advance("2m");
    await world.patch("tiny", { spec: { nodes: { middlemanagers: { replicas: 1 } } } });
    await world.env.advance("5m");
    expect((await set(world, "middlemanagers")).spec?.replicas).toBe(2);
    expect(druid.sent).toContain("POST /druid/worker/v1/disable");
    expect((await condition(world, "Progressing"))?.message).toContain(
      "druid-tiny-middlemanagers-1 still runs index_wiki",
    );
    tasks = [];
    await world.env.advance("1m");
    expect((await set(world, "middlemanagers")).spec?.replicas).toBe(1);
  });
});

describe("a change that a StatefulSet does not allow", { timeout: 240_000 }, () => {
  const labelled = (podLabels: Record<string, string>, more: Partial<DruidNode> = {}) =>
    sampleDruid({ brokers: { nodeType: "broker", replicas: 2, podLabels, ...more }, routers: { nodeType: "router" } });

  it("is refused with a condition, and Services keep selecting the pods [D53]", async () => {
    await using world = await DruidWorld.create({ simulate: true });
    await world.create(labelled({ team: "a" }));
    await world.env.advance("1m");
    await world.patch("tiny", { spec: { nodes: { brokers: { podLabels: { team: "b" } } } } });
    await world.env.advance("2m");
    expect(await condition(world, "Degraded")).toMatchObject({
      status: "True",
      reason: "ChangeRefused",
      message: expect.stringContaining("StatefulSet druid-tiny-brokers cannot change its selector"),
    });
    expect((await world.env.client.get(Service, "druid-tiny-brokers", here)).spec?.selector?.team).toBe("a");
  });

  it.each([
    ["selector", { podLabels: null }],
    ["volumeClaimTemplates", { volumeClaimTemplates: null }],
    ["serviceName", { services: [] }],
  ])("is detected beforehand even if its %s only loses something [D53]", async (field, change) => {
    await using world = await DruidWorld.create({ simulate: true });
    await world.create(labelled({ team: "a" }, { volumeClaimTemplates: claims("1Gi") }));
    await world.env.advance("1m");
    await world.patch("tiny", { spec: { nodes: { brokers: change } } });
    await world.env.advance("2m");
    expect(await condition(world, "Degraded")).toMatchObject({
      reason: "ChangeRefused",
      message: expect.stringContaining(`StatefulSet druid-tiny-brokers cannot change its ${field};`),
    });
  });

  it("recreates the StatefulSet around its pods if the policy says so [D53]", async () => {
    await using world = await DruidWorld.create({ simulate: true, immutableChanges: "recreate" });
    await world.create(labelled({ team: "a" }));
    await world.env.advance("1m");
    const { uid } = (await set(world, "brokers")).metadata;
    await world.patch("tiny", { spec: { nodes: { brokers: { podLabels: { team: "b" } } } } });
    await world.env.advance("5m");
    const made = await set(world, "brokers");
    expect([made.metadata.uid === uid, made.spec?.selector.matchLabels?.team, made.status?.readyReplicas]).toEqual([
      false,
      "b",
      2,
    ]);
    expect((await world.env.client.get(Service, "druid-tiny-brokers", here)).spec?.selector?.team).toBe("b");
    expect((await condition(world, "Ready"))?.status).toBe("True");
  });

  it("does not include added labels: the selector stays, and the pods are replaced", async () => {
    await using world = await DruidWorld.create({ simulate: true });
    await world.create(labelled({ team: "a" }));
    await world.env.advance("1m");
    await world.patch("tiny", { spec: { nodes: { brokers: { podLabels: { more: "b" } } } } });
    await world.env.advance("5m");
    const { items } = await world.env.client.list(Pod, { ...here, labelSelector: "component=broker" });
    expect(items.map(({ metadata }) => metadata.labels?.more)).toEqual(["b", "b"]);
    expect((await condition(world, "Ready"))?.status).toBe("True");
  });
});

describe("volumes", { timeout: 240_000 }, () => {
  const world = async (allowVolumeExpansion: boolean, storage: string, more: object = {}) => {
    const made = await DruidWorld.create({ simulate: true });
    const metadata = { name: "grows" };
    await made.env.client.create(StorageClass, { metadata, provisioner: "simulated", allowVolumeExpansion });
    await made.create(
      sampleDruid(
        {
          historicals: { nodeType: "historical", replicas: 2, volumeClaimTemplates: claims(storage) },
          routers: { nodeType: "router" },
        },
        { scalePvcSts: true, ...more },
      ),
    );
    await made.env.advance("1m");
    return made;
  };
  const resize = (made: DruidWorld, storage: string) =>
    made.patch("tiny", { spec: { nodes: { historicals: { volumeClaimTemplates: claims(storage) } } } });
  const sizes = async (made: DruidWorld) =>
    (await made.env.client.list(PersistentVolumeClaim, here)).items.map(
      ({ spec }) => spec?.resources?.requests?.storage,
    );

  it("grow, and their StatefulSet is recreated while the pods keep running [D37]", async () => {
    await using made = await world(true, "10Gi");
    const pods = async () =>
      (await made.env.client.list(Pod, { ...here, labelSelector: "component=historical" })).items.map(
        ({ metadata }) => metadata.uid,
      );
    const [before, { uid }] = [await pods(), (await set(made, "historicals")).metadata];
    await resize(made, "11Gi");
    await made.env.advance("2m");
    expect(await sizes(made)).toEqual(["11Gi", "11Gi"]);
    const after = await set(made, "historicals");
    expect([
      after.metadata.uid === uid,
      after.spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.storage,
    ]).toEqual([false, "11Gi"]);
    expect(await pods()).toEqual(before);
    const events = await made.events("tiny");
    for (const reason of ["DruidOperatorPvcReSizeDetected", "DruidOperatorStsOrphaned"])
      expect(events.some((event) => event.startsWith(reason))).toBe(true);
    expect((await condition(made, "Ready"))?.status).toBe("True");
  });

  it.each([
    [false, "10Gi", "11Gi", "does not allow volume expansion"],
    [true, "11Gi", "10Gi", "Shrinking"],
    [true, "2.3Ti", "2300Gi", "Shrinking"],
  ])(
    "do not grow if not allowed, and do not shrink [D38] (expandable %s, %s to %s)",
    async (isExpandable, from, to, why) => {
      await using made = await world(isExpandable, from);
      await resize(made, to);
      await made.env.advance("2m");
      expect(await condition(made, "Degraded")).toMatchObject({
        status: "True",
        message: expect.stringContaining(why),
      });
      expect((await made.events("tiny")).some((event) => event.startsWith("DruidOperatorPvcReSizeFail"))).toBe(true);
      expect(new Set(await sizes(made))).toEqual(new Set([from === "2.3Ti" ? (await sizes(made))[0] : from]));
    },
  );

  it("compare by amount: 2.2Ti is less than 2300Gi [D38]", async () => {
    await using made = await world(true, "2.2Ti");
    await resize(made, "2300Gi");
    await made.env.advance("2m");
    expect(await sizes(made)).toEqual(["2300Gi", "2300Gi"]);
  });
});
