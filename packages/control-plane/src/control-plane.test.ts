import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClusterRole } from "setpoint/kinds/rbac.authorization.k8s.io/v1";
import { ConfigMap } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { controlPlane } from "./control-plane.js";

const configMap = (name: string) => ({ metadata: { name, namespace: "default" } });

describe("controlPlane", () => {
  it("answers in-process, with the objects of a first start, and many at once", async () => {
    const planes = await Promise.all(Array.from({ length: 5 }, () => controlPlane()));
    for (const [index, plane] of planes.entries()) await plane.client.create(ConfigMap, configMap(`c-${index}`));
    for (const [index, plane] of planes.entries()) {
      const { items } = await plane.client.list(ConfigMap, { namespace: "default" });
      const names = items.map(({ metadata }) => metadata.name);
      expect(names.filter((name) => name.startsWith("c-"))).toEqual([`c-${index}`]);
      expect((await plane.client.get(ClusterRole, "cluster-admin")).rules).toHaveLength(2);
      expect(plane.url).toBeUndefined();
    }
    await Promise.all(planes.map((plane) => plane.stop()));
    await expect(planes[0]!.client.list(ConfigMap)).rejects.toMatchObject({ code: "TRANSPORT_REFUSED" });
  });

  it("keeps objects, revisions and credentials in a folder, for its user only", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "setpoint-plane-"));
    try {
      let revision: number;
      let uid: string;
      {
        await using plane = await controlPlane({ dataDir });
        uid = (await plane.client.create(ConfigMap, configMap("kept"))).metadata.uid;
        revision = plane.revision;
      }
      expect(statSync(join(dataDir, "credentials.json")).mode & 0o777).toBe(0o600);
      await using plane = await controlPlane({ dataDir });
      expect(plane.revision).toBeGreaterThanOrEqual(revision);
      expect((await plane.client.get(ConfigMap, "kept", { namespace: "default" })).metadata.uid).toBe(uid);
      await expect(controlPlane({ dataDir })).rejects.toMatchObject({ code: "STORAGE_LOCKED" });
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
