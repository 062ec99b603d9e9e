import { networkInterfaces } from "node:os";
import { connect, controller } from "setpoint";
import { systemClock } from "setpoint/clock";
import { ClusterRole, ClusterRoleBinding } from "setpoint/kinds/rbac.authorization.k8s.io/v1";
import { ConfigMap, Pod, ServiceAccount } from "setpoint/kinds/v1";
import { Manager } from "setpoint/manager";
import { expect, it } from "vitest";
import { startKubernetes } from "../../../../tools/kubernetes/start.mjs";
import { runMain } from "../testing/command-line.js";

/** An API server does not proxy to loopback addresses. */
const address = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

it.skipIf(address === undefined)(
  "asks a pod through the API server, with a token that may read the timeline (needs a non-loopback address)",
  { timeout: 120_000 },
  async () => {
    await using cluster = await startKubernetes({});
    const { kubeconfig } = cluster;
    await using client = await connect({ kubeconfig });
    await using manager = new Manager({ client, metrics: { host: "0.0.0.0", port: 0 }, metricsAccess: "rbac" });
    manager.add(controller(ConfigMap, { name: "lookers", namespaces: ["default"], reconcile: () => undefined }));
    await manager.start();
    const namespace = "default";
    await client.create(ConfigMap, { metadata: { name: "seen", namespace } });
    while ([...manager.timeline.runs({ key: "default/seen" })].length === 0) await systemClock.sleep(20);
    await pretendPod(Number(new URL(manager.metricsUrl!).port));
    await client.create(ServiceAccount, { metadata: { name: "viewer", namespace } });
    const rules = [{ nonResourceURLs: ["/timeline"], verbs: ["get"] }];
    await client.create(ClusterRole, { metadata: { name: "viewer" }, rules });
    await client.create(ClusterRoleBinding, {
      metadata: { name: "viewer" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "viewer" },
      subjects: [{ kind: "ServiceAccount", name: "viewer", namespace }],
    });

    const why = ["why", "configmap", "seen", "--kubeconfig", kubeconfig];
    const refused = await runMain(why);
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(/pod default\/operator answers 401.*--service-account/s),
    });
    const unnamed = await runMain([...why, "--service-account", "default/viewer"]);
    expect(unnamed).toMatchObject({ code: 2, err: expect.stringContaining("--pod or --workload") });
    const shown = await runMain([...why, "--service-account", "default/viewer", "--pod", "default/operator"]);
    expect(shown.err).toBe("");
    expect(shown.out).toContain("v1/ConfigMap default/seen: lookers in pod default/operator");
    expect(shown.code).toBe(0);
    const named = await runMain([...why, "--service-account", "default/viewer", "--pod", "operator", "-o", "json"]);
    expect(JSON.parse(named.out)).toMatchObject([{ controller: "lookers", runs: [{ outcome: "done" }] }]);

    await using plain = new Manager({
      client,
      metrics: { host: "0.0.0.0", port: 0 },
      metricsAccess: "rbac",
      metricsSecure: false,
    });
    plain.add(controller(ConfigMap, { name: "others", namespaces: ["default"], reconcile: () => undefined }));
    await plain.start();
    while ([...plain.timeline.runs({ key: "default/seen" })].length === 0) await systemClock.sleep(20);
    await client.delete(Pod, "operator", { namespace, gracePeriodSeconds: 0 });
    await pretendPod(Number(new URL(plain.metricsUrl!).port));
    const unencrypted = await runMain([...why, "--service-account", "default/viewer", "--pod", "default/operator"]);
    expect(unencrypted).toMatchObject({ code: 0, out: expect.stringContaining("others in pod default/operator") });

    /** No node runs it: its address is that of this process. */
    async function pretendPod(port: number): Promise<void> {
      const containers = [{ name: "operator", image: "operator", ports: [{ name: "metrics", containerPort: port }] }];
      const labels = { "app.kubernetes.io/managed-by": "setpoint" };
      await client.create(Pod, { metadata: { name: "operator", namespace, labels }, spec: { containers } });
      const status = { phase: "Running", podIP: address!, podIPs: [{ ip: address! }] };
      await client.patch(Pod, "operator", { type: "merge", body: { status } }, { namespace, subresource: "status" });
    }
  },
);
