import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../registry/plane.testing.js";

let plane: TestPlane;
beforeEach(async () => {
  plane = await TestPlane.start();
});
afterEach(() => plane[Symbol.asyncDispose]());

const within = (group: string) => `${group}/namespaces/default`;
const CORE = within("/api/v1");

const merged = (path: string, body: object) =>
  plane.request("PATCH", path, { contentType: "application/merge-patch+json", body });

describe("built-in kinds", () => {
  it("share events between two groups", async () => {
    const event = {
      metadata: { name: "e" },
      involvedObject: { kind: "Pod", name: "p", namespace: "default" },
      reason: "R",
      message: "m",
      source: { component: "c" },
      count: 2,
    };
    await plane.request("POST", `${CORE}/events`, { body: event });
    const { body } = await plane.request(
      "GET",
      `${within("/apis/events.k8s.io/v1")}/events?fieldSelector=regarding.name%3Dp`,
    );
    expect(body.items).toMatchObject([
      {
        regarding: { name: "p" },
        note: "m",
        deprecatedSource: { component: "c" },
        deprecatedCount: 2,
        eventTime: null,
      },
    ]);
    expect(body.items[0]).not.toHaveProperty("reportingController");
  });

  it("serve autoscalers in both versions", async () => {
    const spec = {
      maxReplicas: 3,
      scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" },
      targetCPUUtilizationPercentage: 50,
    };
    await plane.request("POST", `${within("/apis/autoscaling/v1")}/horizontalpodautoscalers`, {
      body: { metadata: { name: "h" }, spec },
    });
    const v2 = await plane.request("GET", `${within("/apis/autoscaling/v2")}/horizontalpodautoscalers/h`);
    expect(v2.body.spec.metrics).toEqual([
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
    ]);
    const v1 = await plane.request("GET", `${within("/apis/autoscaling/v1")}/horizontalpodautoscalers/h`);
    expect(v1.body.spec.targetCPUUtilizationPercentage).toBe(50);
  });

  it("accept the stringData of secrets", async () => {
    const { body } = await plane.request("POST", `${CORE}/secrets`, {
      body: { metadata: { name: "s" }, stringData: { a: "b" } },
    });
    expect(body).toMatchObject({ data: { a: "Yg==" }, type: "Opaque" });
    expect(body).not.toHaveProperty("stringData");
  });

  it("keep the data of immutable config maps and secrets", async () => {
    await plane.request("POST", `${CORE}/configmaps`, {
      body: { metadata: { name: "c" }, data: { k: "v" }, immutable: true },
    });
    const changed = await merged(`${CORE}/configmaps/c`, { data: { k: "w" }, immutable: false });
    expect(changed.body.details.causes).toEqual([
      {
        reason: "FieldValueForbidden",
        message: "Forbidden: field is immutable when `immutable` is set",
        field: "immutable",
      },
      {
        reason: "FieldValueForbidden",
        message: "Forbidden: field is immutable when `immutable` is set",
        field: "data",
      },
    ]);
    const labelled = await merged(`${CORE}/configmaps/c`, { metadata: { labels: { a: "b" } } });
    expect(labelled.status).toBe(200);
    await plane.request("POST", `${CORE}/secrets`, { body: { metadata: { name: "s" }, immutable: true } });
    const retyped = await merged(`${CORE}/secrets/s`, { type: "x", data: { a: "Yg==" } });
    expect(retyped.body.details.causes.map(({ field }: { field: string }) => field)).toEqual(["type", "data"]);
  });

  it("require containers with names and images, also in templates", async () => {
    const containers = [{ name: "a", image: "i" }, { name: "a" }];
    const { body } = await plane.request("POST", `${CORE}/podtemplates`, {
      body: { metadata: { name: "p" }, template: { spec: { containers, initContainers: [{ image: "i" }] } } },
    });
    expect(body.details.causes).toEqual([
      { reason: "FieldValueRequired", message: "Required value", field: "template.spec.containers[1].image" },
      { reason: "FieldValueDuplicate", message: 'Duplicate value: "a"', field: "template.spec.containers[1].name" },
      { reason: "FieldValueRequired", message: "Required value", field: "template.spec.initContainers[0].name" },
    ]);
  });

  it("accept ephemeral containers only through their own endpoint", async () => {
    await plane.request("POST", `${CORE}/pods`, {
      body: { metadata: { name: "p" }, spec: { containers: [{ name: "a", image: "i" }] } },
    });
    const ephemeral = { spec: { ephemeralContainers: [{ name: "e", image: "i" }] } };
    expect((await merged(`${CORE}/pods/p`, ephemeral)).status).toBe(422);
    expect((await merged(`${CORE}/pods/p/ephemeralcontainers`, ephemeral)).status).toBe(200);
  });

  it("label namespaces with their name and hold them by a finalizer", async () => {
    const { body } = await plane.request("POST", "/api/v1/namespaces", { body: { metadata: { name: "x" } } });
    expect(body).toMatchObject({
      metadata: { labels: { "kubernetes.io/metadata.name": "x" } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  });

  it("have an empty status like Go", async () => {
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    const spec = { selector: { matchLabels: { a: "b" } }, template };
    const { body } = await plane.request("POST", `${within("/apis/apps/v1")}/deployments`, {
      body: { metadata: { name: "d" }, spec, status: { replicas: 3 } },
    });
    expect(body.status).toEqual({});
  });
});

describe("subresources", () => {
  const pod = { metadata: { name: "p", labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };

  it("bind a pod to a node once", async () => {
    await plane.request("POST", `${CORE}/pods`, { body: pod });
    const bind = (name: string) =>
      plane.request("POST", `${CORE}/pods/p/binding`, {
        body: { metadata: { name: "p" }, target: { kind: "Node", name } },
      });
    expect((await bind("n1")).body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      code: 201,
    });
    const again = await bind("n2");
    expect(again.status).toBe(409);
    expect(again.body.message).toBe(
      'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"',
    );
    const { body } = await plane.request("GET", `${CORE}/pods/p`);
    expect(body).toMatchObject({
      spec: { nodeName: "n1" },
      status: { conditions: [{ type: "PodScheduled", status: "True" }] },
    });
    expect(body.metadata.generation).toBe(1);
  });

  it("resize the containers of a pod and nothing else", async () => {
    const resources = { requests: { cpu: "500m" } };
    const sized = { ...pod, spec: { containers: [{ ...pod.spec.containers[0], resources }] } };
    await plane.request("POST", `${CORE}/pods`, { body: sized });
    const containers = [{ name: "c", image: "other", resources: { requests: { cpu: "1" } } }];
    const { body } = await plane.request("PATCH", `${CORE}/pods/p/resize`, {
      contentType: "application/strategic-merge-patch+json",
      body: { spec: { containers, nodeName: "n" } },
    });
    expect(body.spec).toMatchObject({ containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }] });
    expect(body.spec).not.toHaveProperty("nodeName");
    expect(body.metadata.generation).toBe(2);
  });

  it("evict a pod within its disruption budget", async () => {
    await plane.request("POST", `${CORE}/pods`, { body: pod });
    const patch = (path: string, body: unknown) =>
      plane.request("PATCH", path, { contentType: "application/merge-patch+json", body });
    const conditions = [{ type: "Ready", status: "True" }];
    await patch(`${CORE}/pods/p/status`, { status: { phase: "Running", conditions } });
    const budgets = `${within("/apis/policy/v1")}/poddisruptionbudgets`;
    await plane.request("POST", budgets, {
      body: { metadata: { name: "b" }, spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } } },
    });
    const status = {
      observedGeneration: 1,
      desiredHealthy: 1,
      currentHealthy: 1,
      expectedPods: 1,
      disruptionsAllowed: 0,
    };
    await patch(`${budgets}/b/status`, { status });
    const evict = () =>
      plane.request("POST", `${CORE}/pods/p/eviction`, {
        body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } },
      });
    const refused = await evict();
    expect(refused.status).toBe(429);
    expect(refused.body.details.causes).toEqual([
      { reason: "DisruptionBudget", message: "The disruption budget b needs 1 healthy pods and has 1 currently" },
    ]);
    await patch(`${budgets}/b/status`, { status: { disruptionsAllowed: 1 } });
    expect((await evict()).status).toBe(201);
    expect((await plane.request("GET", `${CORE}/pods/p`)).status).toBe(404);
    expect((await plane.request("GET", `${budgets}/b`)).body.status).toMatchObject({ disruptionsAllowed: 0 });
  });
});
