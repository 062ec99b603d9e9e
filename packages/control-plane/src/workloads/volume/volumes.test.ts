import { StorageClass } from "setpoint/kinds/storage.k8s.io/v1";
import { PersistentVolume, PersistentVolumeClaim, Pod } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { Simulation } from "../simulation.testing.js";

const claim = (name: string, storage: string, more: object = {}) => ({
  metadata: { name, namespace: "default" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...more },
});

const volume = (name: string, storage: string) => ({
  metadata: { name },
  spec: {
    capacity: { storage },
    accessModes: ["ReadWriteOnce"],
    persistentVolumeReclaimPolicy: "Retain",
    storageClassName: "manual",
    hostPath: { path: "/data" },
  },
});

describe("a claim", () => {
  it("gets a volume of the default class, grows, and deletes it", async () => {
    await using simulation = await Simulation.start();
    const { client } = simulation;
    await client.create(PersistentVolumeClaim, claim("data", "1Gi") as never);
    await simulation.advance(1);
    const bound = await simulation.get(PersistentVolumeClaim, "data");
    expect(bound.status).toEqual({ phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } });
    const { volumeName = "" } = bound.spec ?? {};
    expect(volumeName).toBe(`pvc-${bound.metadata.uid}`);
    expect((await simulation.get(PersistentVolume, volumeName)).status?.phase).toBe("Bound");
    await simulation.change(PersistentVolumeClaim, "data", { spec: { resources: { requests: { storage: "3Gi" } } } });
    await simulation.advance(1);
    expect((await simulation.get(PersistentVolumeClaim, "data")).status?.capacity).toEqual({ storage: "3Gi" });
    await client.delete(PersistentVolumeClaim, "data", { namespace: "default" });
    await simulation.advance(1);
    expect(await simulation.find(PersistentVolumeClaim, "data")).toBeUndefined();
    expect(await simulation.find(PersistentVolume, volumeName)).toBeUndefined();
  });

  it("waits for a foreign provisioner to expand its volume", async () => {
    await using simulation = await Simulation.start();
    const { client } = simulation;
    const provisioner = "example.com/disks";
    await client.create(StorageClass, { metadata: { name: "manual" }, provisioner, allowVolumeExpansion: true });
    await client.create(PersistentVolume, volume("disk", "1Gi") as never);
    await client.create(PersistentVolumeClaim, claim("data", "1Gi", { storageClassName: "manual" }) as never);
    await simulation.advance(1);
    await simulation.change(PersistentVolumeClaim, "data", { spec: { resources: { requests: { storage: "2Gi" } } } });
    await simulation.advance(1);
    expect(await simulation.events("data")).toContain(
      "ExternalExpanding: waiting for an external controller to expand this PVC",
    );
    expect((await simulation.get(PersistentVolumeClaim, "data")).status?.capacity).toEqual({ storage: "1Gi" });
    await simulation.change(PersistentVolume, "disk", { spec: { capacity: { storage: "2Gi" } } });
    const conditions = [{ type: "FileSystemResizePending", status: "True" }];
    const body = { status: { conditions } };
    const place = { namespace: "default", subresource: "status" };
    await client.patch(PersistentVolumeClaim, "data", { type: "merge", body }, place);
    await simulation.advance(1);
    const { status } = await simulation.get(PersistentVolumeClaim, "data");
    expect(status).toMatchObject({ phase: "Bound", capacity: { storage: "1Gi" }, conditions });
  });

  it("does not bind a volume that it names, or that is reserved for it, if that is too small", async () => {
    await using simulation = await Simulation.start();
    const { client } = simulation;
    await client.create(PersistentVolume, volume("named", "1Gi") as never);
    const kept = volume("kept", "1Gi");
    const claimRef = { namespace: "default", name: "second" };
    await client.create(PersistentVolume, { ...kept, spec: { ...kept.spec, claimRef } } as never);
    const manual = { storageClassName: "manual" };
    await client.create(PersistentVolumeClaim, claim("first", "2Gi", { ...manual, volumeName: "named" }) as never);
    await client.create(PersistentVolumeClaim, claim("second", "2Gi", manual) as never);
    await simulation.advance(1);
    expect((await simulation.get(PersistentVolumeClaim, "first")).status).toEqual({ phase: "Pending" });
    expect((await simulation.get(PersistentVolumeClaim, "second")).status).toEqual({ phase: "Pending" });
    expect(await simulation.events("first")).toContain(
      'VolumeMismatch: Cannot bind to requested volume "named": requested PV is too small',
    );
  });

  it("binds the smallest fitting volume, which stays when the claim is deleted and retained", async () => {
    await using simulation = await Simulation.start();
    const { client } = simulation;
    for (const [name, size] of [
      ["large", "10Gi"],
      ["right", "2Gi"],
      ["small", "1Gi"],
    ] as const) {
      await client.create(PersistentVolume, volume(name, size) as never);
    }
    await client.create(PersistentVolumeClaim, claim("data", "1500Mi", { storageClassName: "manual" }) as never);
    await simulation.advance(1);
    const { metadata, spec, status } = await simulation.get(PersistentVolumeClaim, "data");
    expect([spec?.volumeName, status?.phase, status?.capacity?.storage]).toEqual(["right", "Bound", "2Gi"]);
    expect(metadata.annotations).toMatchObject({ "pv.kubernetes.io/bind-completed": "yes" });
    expect((await simulation.get(PersistentVolume, "large")).status?.phase).toBe("Available");
    await client.delete(PersistentVolumeClaim, "data", { namespace: "default" });
    await simulation.advance(1);
    expect((await simulation.get(PersistentVolume, "right")).status?.phase).toBe("Released");
  });

  it("reports why it waits: a missing class, or no consumer yet", async () => {
    await using simulation = await Simulation.start();
    const { client } = simulation;
    await client.create(StorageClass, {
      metadata: { name: "lazy" },
      provisioner: "example.com/disks",
      volumeBindingMode: "WaitForFirstConsumer",
    });
    await client.create(PersistentVolumeClaim, claim("none", "1Gi", { storageClassName: "nowhere" }) as never);
    await client.create(PersistentVolumeClaim, claim("lazy", "1Gi", { storageClassName: "lazy" }) as never);
    await simulation.advance(2);
    expect(await simulation.events("none")).toEqual([
      'ProvisioningFailed: storageclass.storage.k8s.io "nowhere" not found',
    ]);
    expect((await simulation.get(PersistentVolumeClaim, "lazy")).status?.phase).toBe("Pending");
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "lazy" } }];
    await simulation.createPod("user", {}, { volumes });
    await simulation.advance(2);
    expect((await simulation.get(PersistentVolumeClaim, "lazy")).status?.phase).toBe("Bound");
    await client.delete(PersistentVolumeClaim, "lazy", { namespace: "default" });
    await simulation.advance(2);
    expect((await simulation.find(PersistentVolumeClaim, "lazy"))?.metadata.deletionTimestamp).toBeDefined();
    await client.delete(Pod, "user", { namespace: "default", gracePeriodSeconds: 0 });
    await simulation.advance(2);
    expect(await simulation.find(PersistentVolumeClaim, "lazy")).toBeUndefined();
  });

  it("is lost with its volume, and gets no other", async () => {
    await using simulation = await Simulation.start();
    const { client } = simulation;
    for (const name of ["one", "other"]) await client.create(PersistentVolume, volume(name, "1Gi") as never);
    const wanted = { storageClassName: "manual", volumeName: "one" };
    await client.create(PersistentVolumeClaim, claim("data", "1Gi", wanted) as never);
    await simulation.advance(1);
    const body = { metadata: { finalizers: null } } as never;
    await client.delete(PersistentVolume, "one");
    await client.patch(PersistentVolume, "one", { type: "merge", body });
    await simulation.advance(1);
    expect((await simulation.get(PersistentVolumeClaim, "data")).status).toEqual({ phase: "Lost" });
    expect(await simulation.events("data")).toContain(
      "ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!",
    );
  });

  it("of an ephemeral volume is created and deleted with the pod", async () => {
    await using simulation = await Simulation.start();
    const { spec } = claim("", "1Gi");
    const volumes = [
      { name: "scratch", ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: "b" } }, spec } } },
    ];
    await simulation.createPod("p", {}, { volumes: volumes as never });
    await simulation.advance(2);
    const made = await simulation.get(PersistentVolumeClaim, "p-scratch");
    expect(made.metadata).toMatchObject({ labels: { a: "b" }, ownerReferences: [{ kind: "Pod", name: "p" }] });
    expect(made.status?.phase).toBe("Bound");
    await simulation.client.delete(Pod, "p", { namespace: "default", gracePeriodSeconds: 0 });
    await simulation.advance(2);
    expect(await simulation.find(PersistentVolumeClaim, "p-scratch")).toBeUndefined();
  });
});
