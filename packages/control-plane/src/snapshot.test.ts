import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigMap } from "setpoint/kinds/v1";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlPlane, controlPlane } from "./control-plane.js";
import { ControlPlaneSnapshot } from "./snapshot.js";

let plane: ControlPlane;
beforeEach(async () => {
  plane = await controlPlane();
});
afterEach(() => plane.stop());

const config = (name: string, value: string) => ({ metadata: { name, namespace: "default" }, data: { value } });
const read = (from: ControlPlane, name: string) => from.client.get(ConfigMap, name, { namespace: "default" });

describe("a fork", () => {
  it("starts with the objects, their uids and resourceVersions", async () => {
    const made = await plane.client.create(ConfigMap, config("a", "1"));
    const { revision } = plane;
    await using fork = await plane.fork();
    expect((await read(fork, "a")).metadata).toEqual(made.metadata);
    expect(fork.revision).toBeGreaterThanOrEqual(revision);
  });

  it("and its origin do not see each other's writes", async () => {
    await plane.client.create(ConfigMap, config("a", "1"));
    await using fork = await plane.fork();
    await fork.client.create(ConfigMap, config("b", "2"));
    await plane.client.create(ConfigMap, config("c", "3"));
    const namesOf = async (of: ControlPlane) =>
      (await of.client.list(ConfigMap, { namespace: "default" })).items.map(({ metadata }) => metadata.name);
    expect(await namesOf(fork)).toEqual(expect.arrayContaining(["a", "b"]));
    expect(await namesOf(fork)).not.toContain("c");
    expect(await namesOf(plane)).not.toContain("b");
  });

  it("lets a watch continue from the snapshot, and refuses one from before", async () => {
    const made = await plane.client.create(ConfigMap, config("a", "1"));
    const taken = plane.snapshot();
    await using fork = await controlPlane({ from: taken });
    /** The events of a watch until the wanted one, or until its end. */
    const watched = async (revision: number, timeoutSeconds: number, wanted?: string) => {
      const response = await fork.transport.request({
        method: "GET",
        path: `/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=${timeoutSeconds}&resourceVersion=${revision}`,
        headers: {},
      });
      let text = "";
      for await (const chunk of response.body) {
        text += Buffer.from(chunk).toString("utf8");
        if (wanted !== undefined && text.includes(wanted)) break;
      }
      return text;
    };
    const changed = watched(taken.revision, 30, '"name":"b"');
    await fork.client.create(ConfigMap, config("b", "2"));
    expect(await changed).toContain('"name":"b"');
    expect(await watched(fork.revision, 1)).not.toContain('"name":"b"');
    expect(await watched(Number(made.metadata.resourceVersion) - 1, 1)).toContain('"reason":"Expired"');
  });

  it("garbage-collects the children of an owner that is older than the fork", async () => {
    const owner = await plane.client.create(ConfigMap, config("owner", "1"));
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid }];
    const child = config("child", "2");
    await plane.client.create(ConfigMap, { ...child, metadata: { ...child.metadata, ownerReferences } });
    await using fork = await plane.fork();
    await fork.client.delete(ConfigMap, "owner", { namespace: "default" });
    await expect.poll(() => fork.client.find(ConfigMap, "child", { namespace: "default" })).toBeUndefined();
    expect((await read(plane, "child")).metadata.name).toBe("child");
  });
});

describe("a snapshot file", () => {
  it("is read back unchanged, and is readable by its owner only", async () => {
    const folder = mkdtempSync(join(tmpdir(), "setpoint-snapshot-"));
    try {
      const file = join(folder, "cluster.snapshot");
      const made = await plane.client.create(ConfigMap, config("a", "1"));
      await plane.snapshot().save(file);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      await using restored = await controlPlane({ from: await ControlPlaneSnapshot.load(file) });
      expect(await read(restored, "a")).toEqual(made);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("is restored only into an empty data directory, which keeps it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "setpoint-snapshot-"));
    try {
      const file = join(folder, "cluster.snapshot");
      const dataDir = join(folder, "data");
      const made = await plane.client.create(ConfigMap, config("a", "1"));
      await plane.snapshot().save(file);
      const from = await ControlPlaneSnapshot.load(file);
      let changed: ConfigMap;
      {
        await using restored = await controlPlane({ dataDir, from });
        expect(await read(restored, "a")).toEqual(made);
        changed = await restored.client.patch(
          ConfigMap,
          "a",
          { type: "merge", body: { data: { value: "2" } } },
          { namespace: "default" },
        );
        expect(Number(changed.metadata.resourceVersion)).toBeGreaterThan(from.revision);
      }
      {
        await using again = await controlPlane({ dataDir });
        expect(await read(again, "a")).toEqual(changed);
      }
      await expect(controlPlane({ dataDir, from })).rejects.toMatchObject({ code: "STORAGE_NOT_EMPTY" });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("that is invalid is refused by name", async () => {
    await expect(ControlPlaneSnapshot.load("/no/such.snapshot")).rejects.toThrow("/no/such.snapshot");
  });
});
