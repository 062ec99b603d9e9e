import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "setpoint/clock";
import { Deployment } from "setpoint/kinds/apps/v1";
import { ConfigMap } from "setpoint/kinds/v1";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlPlane, controlPlane } from "./control-plane.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-stored-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const HUGE = 2_147_483_647;
const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "c" }] } };
const workload = { replicas: HUGE, selector: { matchLabels: { a: "b" } }, template };
const named = (name: string, more: object = {}) => ({ metadata: { name }, ...more });
const inDefault = (path: string) => path.replace("{}", "namespaces/default");
const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const custom = (plural: string, schema: object, more: object = {}) => ({
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural, kind: plural[0]!.toUpperCase() + plural.slice(1) },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    ...more,
  },
});
const nowhere = { url: "https://127.0.0.1:1/" };
const everything = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }];

/** Objects that the server accepts, each designed to break its readers. */
const POISONS: readonly [path: string, body: object][] = [
  ["/apis/apps/v1/{}/statefulsets", named("huge", { spec: { ...workload, podManagementPolicy: "Parallel" } })],
  ["/apis/apps/v1/{}/deployments", named("huge", { spec: workload })],
  [
    "/apis/batch/v1/{}/jobs",
    named("huge", { spec: { completions: HUGE, parallelism: HUGE, template: jobTemplate() } }),
  ],
  [
    "/apis/batch/v1/{}/cronjobs",
    named("never", { spec: { schedule: "0 0 31 2 *", jobTemplate: { spec: { template: jobTemplate() } } } }),
  ],
  ["/apis/autoscaling/v2/{}/horizontalpodautoscalers", named("self", { spec: autoscaler() })],
  ["/apis/policy/v1/{}/poddisruptionbudgets", named("all", { spec: { maxUnavailable: "100%", selector: {} } })],
  ["/api/v1/nodes", named("empty")],
  ["/api/v1/{}/pods", named("lost", { spec: { nodeName: "none", containers: [{ name: "c", image: "c" }] } })],
  ["/api/v1/{}/services", named("all", { spec: { selector: { a: "b" }, ports: [{ port: 1 }] } })],
  ["/api/v1/{}/resourcequotas", named("odd", { spec: { hard: { "count/none.example.com": "9e18" } } })],
  ["/api/v1/{}/limitranges", named("odd", { spec: { limits: [{ type: "example.com/odd", max: { cpu: "9e18" } }] } })],
  ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", custom("things", anything)],
  [
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    custom("hooked", anything, {
      conversion: {
        strategy: "Webhook",
        webhook: { clientConfig: nowhere, conversionReviewVersions: ["v1"] },
      },
    }),
  ],
  [
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    named("nowhere", {
      webhooks: [
        {
          name: "a.example.com",
          clientConfig: nowhere,
          rules: everything,
          sideEffects: "None",
          failurePolicy: "Ignore",
          admissionReviewVersions: ["v1"],
          timeoutSeconds: 1,
          objectSelector: { matchLabels: { hooked: "yes" } },
        },
      ],
    }),
  ],
  [
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    named("dangling", { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "none" } }),
  ],
  [
    "/apis/apiregistration.k8s.io/v1/apiservices",
    named("v1.none.example.com", {
      spec: { group: "none.example.com", version: "v1", groupPriorityMinimum: 1, versionPriority: 1 },
    }),
  ],
  ["/api/v1/{}/configmaps", { metadata: { name: "owned", ownerReferences: owners(500) } }],
];

function jobTemplate() {
  return { spec: { ...template.spec, restartPolicy: "Never" } };
}

function autoscaler() {
  const scaleTargetRef = { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", name: "self" };
  return { scaleTargetRef, minReplicas: 1, maxReplicas: HUGE };
}

function owners(count: number) {
  return Array.from({ length: count }, (_, at) => ({
    apiVersion: "none.example.com/v1",
    kind: "None",
    name: `n${at}`,
    uid: `u${at}`,
  }));
}

async function post(plane: ControlPlane, path: string, body: object): Promise<number> {
  const headers = { "content-type": "application/json" };
  const bytes = Buffer.from(JSON.stringify(body));
  const answer = await plane.transport.request({ method: "POST", path: inDefault(path), headers, body: bytes });
  for await (const _chunk of answer.body);
  return answer.status;
}

describe("a malformed stored object", { timeout: 60_000 }, () => {
  it("keeps no server from its next start, nor its controllers from other objects", async () => {
    {
      await using plane = await controlPlane({ dataDir: folder });
      for (const [path, body] of POISONS) expect([path, await post(plane, path, body)]).toEqual([path, 201]);
      const deep = `${'{"a":'.repeat(900)}1${"}".repeat(900)}`;
      const thing = { apiVersion: "example.com/v1", kind: "Things", ...named("deep", { spec: JSON.parse(deep) }) };
      expect(await post(plane, "/apis/example.com/v1/{}/things", thing)).toBe(201);
    }
    await using plane = await controlPlane({ dataDir: folder, workloads: true });
    const metadata = { name: "web", namespace: "kube-public" };
    const labels = { app: "web" };
    const spec = { replicas: 1, selector: { matchLabels: labels }, template: { ...template, metadata: { labels } } };
    await plane.client.create(Deployment, { metadata, spec });
    while ((await plane.client.get(Deployment, "web", metadata)).status?.availableReplicas !== 1) {
      await systemClock.sleep(20);
    }
    const kept = await plane.client.get(ConfigMap, "owned", { namespace: "default" });
    expect(kept.metadata.ownerReferences).toHaveLength(500);
  });
});
