import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { controlPlane } from "@setpoint/control-plane";
import { connect } from "setpoint";
import type { Transport } from "setpoint/client";
import { installCrd, untypedKind } from "setpoint/kinds";
import { StatefulSet } from "setpoint/kinds/apps/v1";
import { Namespace, PersistentVolumeClaim, ServiceAccount } from "setpoint/kinds/v1";
import { Manager, rbacManifests, rbacRules } from "setpoint/manager";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { Druid } from "./druid.js";
import { DruidIngestion } from "./druid-ingestion.js";
import { druidControllers } from "./druid-operator.js";
import { druidOperator } from "./operator.js";
import { sampleDruid } from "./sample.testing.js";

const [name, namespace] = ["druid", "setpoint-system"];
const here = { namespace: "default" };

it("does all of its work, including deletion, with the permissions that setpoint rbac druid prints", {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "druid-access-"));
  await using plane = await controlPlane({ listen: {}, workloads: true });
  const admin = plane.client;
  for (const kind of [Druid, DruidIngestion]) await installCrd(admin, kind.crd());
  await admin.create(Namespace, { metadata: { name: namespace } });
  for (const manifest of rbacManifests(rbacRules(await druidOperator.loops(false)), { name, namespace })) {
    const { apiVersion, kind: title } = manifest as { apiVersion: string; kind: string };
    const scope = title.startsWith("Cluster") ? "Cluster" : "Namespaced";
    const kind = untypedKind(`${apiVersion}/${title}`, { scope });
    await admin.apply(kind, manifest as never, { force: true });
  }
  const { status } = await admin.createSubresource<{ status: { token: string } }>(ServiceAccount, name, {
    subresource: "token",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
    namespace,
  });
  const config = parse(plane.kubeconfig!);
  config.users = config.users.map((each: { name: string }) => ({ name: each.name, user: { token: status.token } }));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, stringify(config), { mode: 0o600 });
  const refused: string[] = [];
  const wrap = (transport: Transport): Transport => ({
    async request(request) {
      const answer = await transport.request(request);
      if (answer.status === 403) refused.push(`${request.method} ${request.path}`);
      return answer;
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  });
  await using client = await connect({ kubeconfig, wrap });
  await using manager = new Manager({ client, grace: "1s" });
  for (const loop of druidControllers()) manager.add(loop);
  await manager.start();
  const resources = { requests: { storage: "1Gi" } };
  const claims = [
    {
      metadata: { name: "data" },
      spec: { storageClassName: "standard", accessModes: ["ReadWriteOnce" as const], resources },
    },
  ];
  const nodes = {
    historicals: { nodeType: "historical", volumeClaimTemplates: claims },
    routers: { nodeType: "router", kind: "Deployment" },
  } as const;
  await admin.create(Druid, sampleDruid(nodes));
  const claimsThere = async () => (await admin.list(PersistentVolumeClaim, here)).items.length;
  await expect.poll(claimsThere).toBe(1);
  await expect.poll(async () => (await admin.get(Druid, "tiny", here)).status?.observedGeneration).toBe(1);
  await admin.patch(Druid, "tiny", { type: "merge", body: { spec: { nodes: { routers: null } } } as never }, here);
  await expect.poll(async () => (await admin.get(Druid, "tiny", here)).status?.deployments).toEqual([]);
  await admin.delete(Druid, "tiny", here);
  await expect.poll(() => admin.find(Druid, "tiny", here)).toBeUndefined();
  expect(await admin.find(StatefulSet, "druid-tiny-historicals", here)).toBeUndefined();
  await expect.poll(claimsThere).toBe(0);
  expect(refused).toEqual([]);
  rmSync(folder, { recursive: true });
});
