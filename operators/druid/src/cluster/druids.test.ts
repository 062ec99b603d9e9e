import { Deployment, StatefulSet } from "setpoint/kinds/apps/v1";
import { ConfigMap, PersistentVolumeClaim, Pod, Service } from "setpoint/kinds/v1";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DruidNode } from "../druid.js";
import { IGNORED_ANNOTATION } from "../druid-operator.js";
import { DruidWorld } from "../druid-world.testing.js";
import { hasFixtures, storedFixture, WITHOUT } from "../fixtures.testing.js";
import { sampleDruid, sevenGroups } from "../sample.testing.js";
import { FINALIZER } from "./druids.js";

const here = { namespace: "default" };
const two = sampleDruid({ brokers: { nodeType: "broker", replicas: 2 }, routers: { nodeType: "router" } });

describe.runIf(hasFixtures)(`the smoke test's cluster${WITHOUT}`, { timeout: 120_000 }, () => {
  let world: DruidWorld;
  beforeAll(async () => {
    world = await DruidWorld.create();
    await world.create(storedFixture("inputs/druid-smoke-test-cluster.yaml"));
    await world.env.idle();
  }, 120_000);
  afterAll(() => world[Symbol.asyncDispose]());

  it("has every child after one pass, and lists them sorted in the status [D6]", async () => {
    const group = (key: string): string => `druid-smoke-test-${key}`;
    expect((await world.druid("smoke-test")).status).toMatchObject({
      statefulSets: [group("coordinators"), group("historicals"), group("routers")],
      deployments: [group("brokers")],
      services: ["brokers", "coordinators", "historicals", "routers"].map(group),
      configMaps: [
        ...["brokers", "coordinators", "historicals", "routers"].map((key) => `${group(key)}-config`),
        "smoke-test-druid-common-config",
      ],
      podDisruptionBudgets: [group("brokers")],
      ingress: [group("routers")],
      hpAutoscalers: [group("brokers")],
    });
    const children = world.env.operator.writes.filter((write) => !write.includes("/druids/"));
    expect(children).toHaveLength(16);
    expect(
      (await world.events("smoke-test")).filter((event) => event.startsWith("DruidOperatorCreateSuccess")),
    ).toHaveLength(1);
  });

  it("needs no write in a second pass, and none after a restart [D7]", async () => {
    const before = world.env.operator.writes.length;
    await world.patch("smoke-test", { metadata: { annotations: { "setpoint.dev/reconcile-now": "1" } } });
    await world.env.advance("1h");
    expect(world.env.operator.writes.slice(before)).toEqual([]);
    await world.restart();
    await world.env.advance("10m");
    expect(childWrites(world)).toEqual([]);
  });
});

/** The operator's writes, except the status of the Druid itself, where the runtime sets `Reconciled`. */
const childWrites = (world: DruidWorld): readonly string[] =>
  world.env.operator.writes.filter((write) => !write.endsWith("/druids/tiny/status"));

describe("the children of a cluster", { timeout: 120_000 }, () => {
  it("are not touched while the spec is invalid, and an event and a condition name the field [D15]", async () => {
    await using world = await DruidWorld.create();
    await world.create(sampleDruid({ brokers: { nodeType: "broker" } }, { image: undefined }));
    await world.env.advance("10m");
    expect(world.env.operator.writes.filter((write) => !write.endsWith("/status"))).toEqual([]);
    const { status } = await world.druid("tiny");
    expect(status?.conditions?.find(({ type }) => type === "SpecValid")).toMatchObject({
      status: "False",
      message: "spec.nodes.brokers.image: Image missing from Druid Cluster Spec",
    });
    expect(await world.events("tiny")).toEqual([
      "DruidOperatorInvalidSpec: invalid DruidSpec[Druid:tiny] due to [spec.nodes.brokers.image: Image missing from Druid Cluster Spec]",
    ]);
    await world.patch("tiny", { spec: { image: "apache/druid:30.0.0" } });
    await world.env.idle();
    expect(await world.env.client.find(StatefulSet, "druid-tiny-brokers", here)).toBeDefined();
  });

  it("are named if the server does not know one of their fields, and the others are created", async () => {
    await using world = await DruidWorld.create();
    const livenessProbe = { httpget: { path: "/status" } } as never;
    await world.create(
      sampleDruid({ brokers: { nodeType: "broker", livenessProbe }, routers: { nodeType: "router" } }),
    );
    await world.env.advance("1m");
    expect((await world.druid("tiny")).status?.conditions?.find(({ type }) => type === "Degraded")).toMatchObject({
      status: "True",
      reason: "ChildRefused",
      message: expect.stringContaining("livenessProbe.httpget: field not declared in schema"),
    });
    expect(await world.env.client.find(StatefulSet, "druid-tiny-routers", here)).toBeDefined();
  });

  it("include the keys of extra ConfigMaps, also when those appear or change later; a missing one is named [D21]", async () => {
    await using world = await DruidWorld.create();
    await world.create(
      sampleDruid(
        { brokers: { nodeType: "broker" } },
        { extraCommonConfig: [{ name: "extra", namespace: "default" }] },
      ),
    );
    await world.env.idle();
    expect((await world.druid("tiny")).status?.conditions?.find(({ type }) => type === "Degraded")).toMatchObject({
      status: "True",
      reason: "ExtraConfigMissing",
      message: "spec.extraCommonConfig: there is no ConfigMap default/extra",
    });
    const common = async () => (await world.env.client.get(ConfigMap, "tiny-druid-common-config", here)).data;
    await world.env.client.create(ConfigMap, {
      metadata: { name: "extra", ...here },
      data: { "test.txt": "This Is Test" },
    });
    await world.env.idle();
    expect(await common()).toMatchObject({ "test.txt": "This Is Test" });
    await world.env.client.patch(ConfigMap, "extra", { type: "merge", body: { data: { "test.yaml": "YAML" } } }, here);
    await world.env.idle();
    expect(await common()).toMatchObject({ "test.txt": "This Is Test", "test.yaml": "YAML" });
  });

  it("are deleted when their group leaves the spec, and nothing else is [D28] [D29]", async () => {
    await using world = await DruidWorld.create({ simulate: true });
    await world.create(two);
    const labels = { app: "druid", druid_cr: "tiny" };
    await world.env.client.create(ConfigMap, { metadata: { name: "foreign", ...here, labels }, data: {} });
    await world.env.advance("1m");
    await world.patch("tiny", { spec: { nodes: { routers: null } } });
    await world.env.advance("1m");
    const gone = await Promise.all([
      world.env.client.find(StatefulSet, "druid-tiny-routers", here),
      world.env.client.find(Service, "druid-tiny-routers", here),
      world.env.client.find(ConfigMap, "druid-tiny-routers-config", here),
    ]);
    expect(gone).toEqual([undefined, undefined, undefined]);
    expect(await world.env.client.find(ConfigMap, "foreign", here)).toBeDefined();
    const { status } = await world.druid("tiny");
    expect([status?.statefulSets, status?.services, status?.pods]).toEqual([
      ["druid-tiny-brokers"],
      ["druid-tiny-brokers"],
      ["druid-tiny-brokers-0", "druid-tiny-brokers-1"],
    ]);
  });

  it("keep the replicas of an autoscaler through other changes [D51]", async () => {
    await using world = await DruidWorld.create();
    const hpAutoscaler = {
      maxReplicas: 6,
      minReplicas: 1,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "StatefulSet", name: "druid-tiny-brokers" },
    };
    await world.create(sampleDruid({ brokers: { nodeType: "broker", replicas: 2, hpAutoscaler } }));
    await world.env.idle();
    const scale = { type: "merge", body: { spec: { replicas: 5 } } } as const;
    await world.env.client.patch(StatefulSet, "druid-tiny-brokers", scale, {
      ...here,
      subresource: "scale",
      fieldManager: "autoscaler",
    });
    await world.env.idle();
    await world.patch("tiny", { spec: { nodes: { brokers: { podAnnotations: { a: "b" } } } } });
    await world.env.idle();
    const { spec } = await world.env.client.get(StatefulSet, "druid-tiny-brokers", here);
    expect([spec?.replicas, spec?.template.metadata?.annotations?.a]).toEqual([5, "b"]);
  });

  it.each(["revert", "report"] as const)("that were changed by hand are reported, with %s [D52]", async (drift) => {
    await using world = await DruidWorld.create({ drift });
    await world.create(two);
    await world.env.idle();
    const containers = [{ name: "druid-tiny-brokers", image: "evil:1" }];
    const patch = { type: "strategic", body: { spec: { template: { spec: { containers } } } } } as never;
    await world.env.client.patch(StatefulSet, "druid-tiny-brokers", patch, here);
    await world.env.idle();
    const { spec } = await world.env.client.get(StatefulSet, "druid-tiny-brokers", here);
    expect(spec?.template.spec?.containers[0]?.image).toBe(drift === "revert" ? "apache/druid:30.0.0" : "evil:1");
    expect((await world.events("tiny")).filter((event) => event.startsWith("DruidDrift"))).toEqual([
      `DruidDrift: changed by others${drift === "revert" ? "; reverted" : ""}: StatefulSet druid-tiny-brokers: spec.template.spec.containers[0].image`,
    ]);
  });

  it("are left alone while the object is ignored, also if that is set later, and reconciled again afterwards [D39]", async () => {
    await using world = await DruidWorld.create();
    const ignored = (value: string | null) => ({ metadata: { annotations: { [IGNORED_ANNOTATION]: value } } });
    await world.create({ ...two, metadata: { ...two.metadata, ...ignored("true").metadata } } as typeof two);
    await world.env.advance("10m");
    expect(world.env.operator.writes).toEqual([]);
    await world.patch("tiny", ignored(null));
    await world.env.idle();
    const replicas = async () => (await world.env.client.get(StatefulSet, "druid-tiny-brokers", here)).spec?.replicas;
    expect(await replicas()).toBe(2);
    await world.patch("tiny", { ...ignored("true"), spec: { nodes: { brokers: { replicas: 3 } } } });
    const before = world.env.operator.writes.length;
    await world.env.advance("10m");
    expect(await replicas()).toBe(2);
    await world.env.client.delete(StatefulSet, "druid-tiny-routers", here);
    await world.env.advance("10m");
    expect(world.env.operator.writes.slice(before)).toEqual([]);
    await world.patch("tiny", ignored(null));
    await world.env.idle();
    expect(await replicas()).toBe(3);
  });

  it("are not created in a denied namespace [D40]", async () => {
    await using world = await DruidWorld.create({ denied: ["default"] });
    await world.create(two);
    await world.env.advance("10m");
    expect(world.env.operator.writes).toEqual([]);
  });
});

describe("the volumes of a deleted cluster", { timeout: 120_000 }, () => {
  const claims = [
    {
      metadata: { name: "data" },
      spec: {
        storageClassName: "standard",
        accessModes: ["ReadWriteOnce" as const],
        resources: { requests: { storage: "1Gi" } },
      },
    },
  ];
  const stored = sampleDruid({ historicals: { nodeType: "historical", replicas: 2, volumeClaimTemplates: claims } });

  it("are deleted with it, after its StatefulSets [D35]", async () => {
    await using world = await DruidWorld.create({ simulate: true });
    await world.create(stored);
    await world.env.advance("1m");
    expect((await world.druid("tiny")).metadata.finalizers).toEqual([FINALIZER]);
    expect((await world.env.client.list(PersistentVolumeClaim, here)).items).toHaveLength(2);
    await world.patch("tiny", { spec: { disablePVCDeletionFinalizer: true } });
    await world.env.idle();
    expect((await world.druid("tiny")).metadata.finalizers ?? []).toEqual([]);
    await world.patch("tiny", { spec: { disablePVCDeletionFinalizer: false } });
    await world.env.idle();
    await world.delete("tiny");
    await world.env.advance("5m");
    expect((await world.env.client.list(PersistentVolumeClaim, here)).items).toEqual([]);
    const deletes = world.env.operator.writes.filter((write) => write.startsWith("DELETE"));
    expect(deletes.map((write) => write.split("/").at(-2))).toEqual([
      "statefulsets",
      "persistentvolumeclaims",
      "persistentvolumeclaims",
    ]);
    await expect(world.druid("tiny")).rejects.toThrow("not found");
  });

  it("are deleted alone: a StatefulSet and claims of others stay, although they carry its labels [D35]", async () => {
    await using world = await DruidWorld.create({ simulate: true });
    await world.create(stored);
    const labels = { app: "druid", druid_cr: "tiny" };
    const metadata = { name: "foreign", ...here, labels };
    const template = { metadata: { labels }, spec: { containers: [{ name: "a", image: "a" }] } };
    const spec = {
      replicas: 1,
      selector: { matchLabels: labels },
      serviceName: "",
      volumeClaimTemplates: claims,
      template,
    };
    await world.env.client.create(StatefulSet, { metadata, spec: spec as never });
    await world.env.advance("1m");
    await world.delete("tiny");
    await world.env.advance("5m");
    const { items } = await world.env.client.list(PersistentVolumeClaim, here);
    expect(items.map((claim) => claim.metadata.name)).toEqual(["data-foreign-0"]);
    expect(await world.env.client.find(StatefulSet, "foreign", here)).toBeDefined();
    await expect(world.druid("tiny")).rejects.toThrow("not found");
  });

  it("stay if that is switched off, even right before the deletion [D36]", async () => {
    await using world = await DruidWorld.create({ simulate: true });
    await world.create(stored);
    await world.env.advance("1m");
    using _cut = world.env.operator.cut();
    await world.patch("tiny", { spec: { disablePVCDeletionFinalizer: true } });
    await world.delete("tiny");
    _cut[Symbol.dispose]();
    await world.env.advance("5m");
    expect((await world.env.client.list(PersistentVolumeClaim, here)).items).toHaveLength(2);
    await expect(world.druid("tiny")).rejects.toThrow("not found");
  });
});

describe("the status", { timeout: 120_000 }, () => {
  it("names a pod that is not ready, and why [D27]", async () => {
    await using world = await DruidWorld.create({ simulate: true });
    const podAnnotations = { "simulation.setpoint.dev/failure": "crash-loop" };
    await world.create(
      sampleDruid({ brokers: { nodeType: "broker", podAnnotations }, routers: { nodeType: "router" } }),
    );
    await world.env.advance("2m");
    const { status } = await world.druid("tiny");
    expect(status?.druidNodeStatus).toMatchObject({
      druidNode: "druid-tiny-brokers-0",
      druidNodeConditionType: "DruidNodeErrorState",
      reason: "ContainersNotReady",
    });
    expect(status?.conditions?.find(({ type }) => type === "Degraded")).toMatchObject({
      status: "True",
      message: expect.stringMatching(/^pod druid-tiny-brokers-0: container druid-tiny-brokers: CrashLoopBackOff/),
    });
    expect(status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("False");
  });

  it("is written every few seconds while pods start one by one, and lists all of them in the end", async () => {
    await using world = await DruidWorld.create({ simulate: true });
    const brokers = { nodeType: "broker", replicas: 20, podManagementPolicy: "OrderedReady" } as const;
    await world.create(sampleDruid({ brokers }));
    await world.env.advance("5m");
    expect((await world.druid("tiny")).status).toMatchObject({
      nodeGroups: [{ ready: 20, phase: "Ready" }],
      pods: expect.objectContaining({ length: 20 }),
    });
    const writes = world.env.operator.writes.filter((write) => write.endsWith("/druids/tiny/status"));
    expect(writes.length).toBeLessThan(15);
  });

  it("lists each group in a table, in rollout order", async () => {
    await using world = await DruidWorld.create({ simulate: true });
    await world.create(sevenGroups());
    await world.env.advance("2m");
    const { status } = await world.druid("tiny");
    expect(status?.nodeGroups?.map(({ name, ready, phase }) => `${name} ${ready} ${phase}`)).toEqual(
      ["historicals", "middlemanagers", "indexers", "brokers", "coordinators", "overlords", "routers"].map(
        (name) => `${name} 1 Ready`,
      ),
    );
    expect(status?.druidNodeStatus?.druidNodeConditionType).toBe("DruidClusterReady");
    expect(status?.conditions?.map(({ type, status: is }) => `${type}=${is}`).sort()).toEqual([
      "ConfigSynced=True",
      "Degraded=False",
      "Progressing=False",
      "Ready=True",
      "Reconciled=True",
      "SpecValid=True",
    ]);
  });
});

describe("failing pods of an ordered StatefulSet", { timeout: 120_000 }, () => {
  it.each([
    ["OrderedReady", true, true],
    ["Parallel", true, false],
    ["OrderedReady", false, false],
  ])(
    "with %s, and the flag %s, are deleted: %s [D30]",
    async (podManagementPolicy, forceDeleteStsPodOnError, isDeleted) => {
      await using world = await DruidWorld.create({ simulate: true });
      const podAnnotations = { "simulation.setpoint.dev/failure": "crash-loop" };
      await world.create(
        sampleDruid(
          { brokers: { nodeType: "broker", podManagementPolicy, podAnnotations } },
          { forceDeleteStsPodOnError },
        ),
      );
      await world.env.advance("8m");
      const deletes = world.env.operator.writes.filter(
        (write) => write.startsWith("DELETE") && write.includes("/pods/"),
      );
      expect(deletes.length > 0).toBe(isDeleted);
      // With back-off, up to five minutes.
      expect(deletes.length).toBeLessThan(7);
      expect(await world.env.client.find(Pod, "druid-tiny-brokers-0", here)).toBeDefined();
      expect(await world.env.client.find(Deployment, "druid-tiny-brokers", here)).toBeUndefined();
    },
  );
});

describe("claims that no pod needs", { timeout: 120_000 }, () => {
  const claims = [
    {
      metadata: { name: "data" },
      spec: {
        storageClassName: "standard",
        accessModes: ["ReadWriteOnce" as const],
        resources: { requests: { storage: "1Gi" } },
      },
    },
  ];
  const stored = (replicas: number, more: Partial<DruidNode> = {}) =>
    sampleDruid({
      brokers: { nodeType: "broker" },
      historicals: { nodeType: "historical", replicas, volumeClaimTemplates: claims, ...more },
    });
  const ordinals = async (world: DruidWorld) =>
    (await world.env.client.list(PersistentVolumeClaim, here)).items.map(({ metadata }) => metadata.name.at(-1));
  const labelsOf = async (world: DruidWorld, ordinal: number) =>
    (await world.env.client.get(PersistentVolumeClaim, `data-druid-tiny-historicals-${ordinal}`, here)).metadata.labels;
  const scale = (world: DruidWorld, replicas: number) =>
    world.patch("tiny", { spec: { nodes: { historicals: { replicas } } } });

  it("are marked when the group shrinks, spared when it grows again, and deleted after the grace period [D31]", async () => {
    await using world = await DruidWorld.create({ simulate: true, orphanGrace: "10m" });
    await world.create(stored(4));
    await world.env.advance("2m");
    await scale(world, 2);
    await world.env.advance("2m");
    expect(await labelsOf(world, 3)).toMatchObject({ toBeDeleted: "yes", deletionTS: expect.stringMatching(/^\d+$/) });
    expect(await labelsOf(world, 1)).not.toHaveProperty("toBeDeleted");
    await scale(world, 3);
    await world.env.advance("2m");
    expect(await labelsOf(world, 2)).not.toHaveProperty("toBeDeleted");
    await world.env.advance("10m");
    expect(await ordinals(world)).toEqual(["0", "1", "2"]);
    expect((await world.events("tiny")).filter((event) => event.includes("PersistentVolumeClaim"))).toEqual([
      "DruidOperatorDeleteSuccess: deleted PersistentVolumeClaim data-druid-tiny-historicals-3: no pod has needed it for 10m",
    ]);
  });

  it("are kept while a pod is pending, and if a cluster has no pods at all [D32] [D33]", async () => {
    await using world = await DruidWorld.create({ simulate: true });
    await world.create(stored(3));
    await world.env.advance("2m");
    const never = { "simulation.setpoint.dev/failure": "never-ready" };
    await world.patch("tiny", {
      spec: { nodes: { brokers: { podAnnotations: never }, historicals: { replicas: 1 } } },
    });
    await world.env.advance("20m");
    expect(await ordinals(world)).toEqual(["0", "1", "2"]);
    await world.patch("tiny", {
      spec: { nodes: { brokers: { replicas: 0, podAnnotations: null }, historicals: { replicas: 0 } } },
    });
    await world.env.advance("20m");
    expect((await world.druid("tiny")).status?.pods).toEqual([]);
    expect(await ordinals(world)).toEqual(["0", "1", "2"]);
  });

  it("are kept if the cluster says so", async () => {
    await using world = await DruidWorld.create({ simulate: true });
    const { spec, ...given } = stored(2);
    await world.create({ ...given, spec: { ...spec, deleteOrphanPvc: false } });
    await world.env.advance("1m");
    await scale(world, 1);
    await world.env.advance("5m");
    expect(await labelsOf(world, 1)).not.toHaveProperty("toBeDeleted");
  });

  it("get a new mark if theirs is malformed, with an event, and the rest goes on [D34]", async () => {
    await using world = await DruidWorld.create({ simulate: true, orphanGrace: "10m" });
    await world.create(stored(2));
    await world.env.advance("2m");
    await scale(world, 1);
    await world.env.advance("1m");
    const labels = { toBeDeleted: "yes", deletionTS: "abc" };
    await world.env.client.patch(
      PersistentVolumeClaim,
      "data-druid-tiny-historicals-1",
      { type: "merge", body: { metadata: { labels } } },
      here,
    );
    await world.patch("tiny", { spec: { nodes: { brokers: { replicas: 2 } } } });
    await world.env.advance("2m");
    expect(await labelsOf(world, 1)).toMatchObject({ deletionTS: expect.stringMatching(/^\d+$/) });
    expect((await world.events("tiny")).join()).toContain("its label deletionTS was not a time, and is set again");
    expect((await world.druid("tiny")).status?.pods).toContain("druid-tiny-brokers-1");
    await world.env.advance("11m");
    expect(await ordinals(world)).toEqual(["0"]);
  });
});

it("an unknown dependency type is named, and no workload changes [D22]", { timeout: 60_000 }, async () => {
  await using world = await DruidWorld.create();
  await world.create(two);
  await world.env.idle();
  const before = world.env.operator.writes.length;
  await world.patch("tiny", {
    spec: { image: "apache/druid:31.0.0", zookeeper: { type: "foo", spec: { properties: "" } } },
  });
  await world.env.advance("10m");
  expect(world.env.operator.writes.slice(before).filter((write) => !write.endsWith("/druids/tiny/status"))).toEqual([]);
  const { status } = await world.druid("tiny");
  expect(status?.conditions?.find(({ type }) => type === "SpecValid")?.message).toBe(
    "spec.zookeeper.type: Can't find type[foo] for Zookeeper Mgmt.",
  );
});
