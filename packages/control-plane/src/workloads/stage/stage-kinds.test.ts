import { kind } from "setpoint";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";
import { Deployment } from "setpoint/kinds/apps/v1";
import { Node, Pod, Service } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { Simulation } from "../simulation.testing.js";
import { Stage } from "./stage.js";

const stage = (name: string, kindName: string, spec: Omit<Stage["spec"], "resourceRef">, apiGroup = "v1") => ({
  metadata: { name },
  spec: { resourceRef: { apiGroup, kind: kindName }, ...spec },
});

/** kwok's stock stage that makes a node fail, shortened. */
const NOT_READY = `
{{ $now := Now }}
conditions:
{{ range NodeConditions }}
{{ if eq .type "Ready" }}
- lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
  message: {{ printf "%s failed" NodeName | Quote }}
  reason: NodeFailed
  status: "Unknown"
  type: Ready
{{ else }}
- lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
  message: {{ .message | Quote }}
  reason: {{ .reason | Quote }}
  status: {{ .status | Quote }}
  type: {{ .type | Quote }}
{{ end }}
{{ end }}
`;

describe("stages of nodes", () => {
  it("let one fail: it is tainted, its pods become unready, are evicted and replaced, and it recovers", async () => {
    await using simulation = await Simulation.start();
    const { client } = simulation;
    await client.create(Node, { metadata: { name: "spare", labels: { role: "spare" } } });
    await simulation.advance(1);
    await simulation.change(Node, "spare", { spec: { unschedulable: true } });
    await simulation.advance(1);
    await simulation.createDeployment("web");
    await simulation.advance(5);
    await simulation.change(Node, "spare", { spec: { unschedulable: false } });
    const isFailing = 'has(self.metadata.labels) && "fails" in self.metadata.labels';
    await client.create(
      Stage,
      stage("node-fails", "Node", {
        selector: {
          matchExpressions: [
            { cel: { expression: isFailing } },
            {
              jq: {
                key: '.status.conditions.[] | select( .type == "Ready" ) | .status',
                operator: "In",
                values: ["True"],
              },
            },
          ],
        },
        delay: { durationMilliseconds: 2_000 },
        steps: [
          { patch: { subresource: "status", root: "status", template: NOT_READY } },
          { event: { type: "Warning", reason: "NodeFailed", message: "by a stage" } },
        ],
      }),
    );
    await simulation.change(Node, "node-1", { metadata: { labels: { fails: "true" } } });
    await simulation.advance(4);
    const failed = await simulation.get(Node, "node-1");
    expect(failed.spec?.taints).toEqual([
      expect.objectContaining({ key: "node.kubernetes.io/unreachable", effect: "NoSchedule" }),
      expect.objectContaining({ key: "node.kubernetes.io/unreachable", effect: "NoExecute" }),
    ]);
    expect(failed.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Ready", status: "Unknown", message: "node-1 failed" }),
    );
    expect(await simulation.events("node-1")).toContain("NodeFailed: by a stage");
    expect((await simulation.get(Deployment, "web")).status?.availableReplicas ?? 0).toBe(0);
    await simulation.advance(310);
    expect((await simulation.get(Deployment, "web")).status?.availableReplicas).toBe(1);
    const [old, fresh] = [...(await simulation.pods())].sort((left) => (left.spec.nodeName === "spare" ? 1 : -1));
    expect(fresh?.spec.nodeName).toBe("spare");
    expect(old?.metadata.deletionTimestamp).toBeDefined();
    expect(old?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "DisruptionTarget", status: "True", reason: "DeletionByTaintManager" }),
    );
    await client.delete(Stage, "node-fails");
    const well = { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" };
    await client.patch(
      Node,
      "node-1",
      { type: "strategic", body: { status: { conditions: [well] } } },
      { subresource: "status" },
    );
    await simulation.advance(5);
    expect((await simulation.get(Node, "node-1")).spec?.taints ?? []).toEqual([]);
    expect(await simulation.find(Pod, old!.metadata.name)).toBeUndefined();
    expect(simulation.failures).toEqual([]);
  });
});

describe("stages of any kind", () => {
  it("patch built-in objects, by strategic and JSON patches", async () => {
    await using simulation = await Simulation.start();
    const { client } = simulation;
    await client.create(
      Stage,
      stage("balanced", "Service", {
        selector: {
          matchExpressions: [
            { key: ".spec.type", operator: "In", values: ["LoadBalancer"] },
            { key: ".status.loadBalancer.ingress", operator: "DoesNotExist" },
          ],
        },
        delay: { durationFrom: { cel: { expression: 'self.metadata.annotations["delay"]' } } },
        next: {
          patches: [
            {
              subresource: "status",
              root: "status",
              template:
                'loadBalancer: { ingress: [{ hostname: {{ printf "%s.example.com" .metadata.name | Quote }} }] }',
            },
            { type: "json", template: '[{ op: add, path: /metadata/labels, value: { balanced: "yes" } }]' },
          ],
        },
      }),
    );
    const metadata = { name: "web", namespace: "default", annotations: { delay: "5s" } };
    await client.create(Service, { metadata, spec: { type: "LoadBalancer", ports: [{ port: 80 }] } });
    await simulation.advance(4);
    expect((await simulation.get(Service, "web")).status?.loadBalancer?.ingress).toBeUndefined();
    await simulation.advance(3);
    const { status, metadata: made } = await simulation.get(Service, "web");
    expect(status?.loadBalancer?.ingress).toEqual([{ hostname: "web.example.com" }]);
    expect(made.labels).toEqual({ balanced: "yes" });
    expect(simulation.failures).toEqual([]);
  });

  it("patch custom ones, also if their CRD is created later, and delete them", async () => {
    await using simulation = await Simulation.start();
    const { client } = simulation;
    const deletion = { key: ".metadata.deletionTimestamp" };
    const group = "shop.example.com/v1";
    await client.create(
      Stage,
      stage(
        "ready",
        "Order",
        {
          selector: { matchLabels: { a: "b" }, matchExpressions: [{ ...deletion, operator: "DoesNotExist" }] },
          next: { statusTemplate: "phase: Ready" },
        },
        group,
      ),
    );
    await client.create(
      Stage,
      stage(
        "gone",
        "Order",
        {
          selector: { matchExpressions: [{ ...deletion, operator: "Exists" }] },
          next: { finalizers: { empty: true } },
        },
        group,
      ),
    );
    await simulation.advance(1);
    const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    await client.create(CustomResourceDefinition, {
      metadata: { name: "orders.shop.example.com" },
      spec: {
        group: "shop.example.com",
        scope: "Namespaced",
        names: { plural: "orders", singular: "order", kind: "Order", listKind: "OrderList" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: { openAPIV3Schema: { type: "object", properties: { spec: anything, status: anything } } },
          },
        ],
      },
    });
    const Order = kind("shop.example.com/v1/Order");
    await client.create(Order, {
      metadata: { name: "one", namespace: "default", labels: { a: "b" }, finalizers: ["example.com/hold"] },
    });
    await simulation.advance(15);
    expect(await simulation.get(Order, "one")).toMatchObject({ status: { phase: "Ready" } });
    await client.delete(Order, "one", { namespace: "default" });
    await simulation.advance(2);
    expect(await simulation.find(Order, "one")).toBeUndefined();
    expect(simulation.failures).toEqual([]);
  });
});
