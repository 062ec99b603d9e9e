import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../plane.testing.js";

const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const APPLY = "application/apply-patch+yaml";
const PODS = "/api/v1/namespaces/default/pods";

let plane: TestPlane;
beforeEach(async () => {
  plane = await TestPlane.start();
});
afterEach(() => plane[Symbol.asyncDispose]());

const owner = { apiVersion: "v1", kind: "ConfigMap", name: "gone", uid: "no-such-object" };
const metadata = {
  labels: { kept: "yes" },
  annotations: { kept: "yes" },
  finalizers: ["example.com/kept"],
  ownerReferences: [{ ...owner, name: "kept" }],
};
const hostile = {
  labels: { kept: null, taken: "over" },
  annotations: { kept: null, taken: "over" },
  finalizers: [],
  ownerReferences: [owner],
};

const container = { name: "main", image: "x", resources: { requests: { cpu: "1" }, limits: { cpu: "2" } } };

async function pod(more: object = metadata): Promise<void> {
  const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", ...more }, spec: { containers: [container] } };
  expect((await plane.request("POST", PODS, { body })).status).toBe(201);
}

const kept = (object: { metadata: object }) =>
  expect(object.metadata).toMatchObject({ ...metadata, labels: { kept: "yes" }, annotations: { kept: "yes" } });

describe.each(["ephemeralcontainers", "resize"])("pods/%s", (endpoint) => {
  it.each([MERGE, STRATEGIC])("leaves all metadata unchanged (%s)", async (contentType) => {
    await pod();
    const body = { metadata: hostile };
    const answer = await plane.request("PATCH", `${PODS}/p/${endpoint}`, { body, contentType });
    expect(answer.status).toBe(200);
    kept(answer.body);
    kept((await plane.request("GET", `${PODS}/p`)).body);
  });

  it("leaves all metadata unchanged (PUT)", async () => {
    await pod();
    const { body } = await plane.request("GET", `${PODS}/p`);
    const changed = { ...body, metadata: { ...body.metadata, ...hostile, labels: { taken: "over" }, annotations: {} } };
    const answer = await plane.request("PUT", `${PODS}/p/${endpoint}`, { body: changed });
    expect(answer.status).toBe(200);
    kept(answer.body);
  });

  it.each([MERGE, STRATEGIC])("leaves a pod that later patches apply to (%s)", async (contentType) => {
    await pod();
    const none = { spec: { ephemeralContainers: null } };
    expect((await plane.request("PATCH", `${PODS}/p/${endpoint}`, { body: none, contentType })).status).toBe(200);
    const labelled = await plane.request("PATCH", `${PODS}/p`, {
      body: { metadata: { labels: { a: "b" } } },
      contentType,
    });
    expect(labelled.status).toBe(200);
    const applied = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", labels: { c: "d" } } };
    const last = await plane.request("PATCH", `${PODS}/p?fieldManager=z`, { body: applied, contentType: APPLY });
    expect(last.status).toBe(200);
  });
});

describe("pods/ephemeralcontainers", () => {
  const debug = { name: "debug", image: "busybox" };
  const add = (...ephemeralContainers: readonly object[]) =>
    plane.request("PATCH", `${PODS}/p/ephemeralcontainers`, {
      body: { spec: { ephemeralContainers } },
      contentType: MERGE,
    });

  it("adds containers and changes nothing else of the spec", async () => {
    await pod();
    const body = {
      spec: { ephemeralContainers: [debug], containers: [{ ...container, image: "other" }], nodeName: "n" },
    };
    const { status, body: answer } = await plane.request("PATCH", `${PODS}/p/ephemeralcontainers`, {
      body,
      contentType: MERGE,
    });
    expect(status).toBe(200);
    expect(answer.spec.ephemeralContainers).toMatchObject([debug]);
    expect(answer.spec.containers).toMatchObject([{ image: "x" }]);
    expect(answer.spec.nodeName).toBeUndefined();
  });

  it.each([
    ["removes one", [], /existing ephemeral containers "debug" may not be removed/],
    ["changes one", [{ ...debug, image: "other" }], /existing ephemeral containers "debug" may not be changed/],
    [
      "uses a name twice",
      [debug, { ...debug, name: "main" }],
      /ephemeralContainers\[1\].name: Duplicate value: "main"/,
    ],
    [
      "has ports",
      [debug, { name: "b", image: "x", ports: [{ containerPort: 1 }] }],
      /ports: Forbidden: cannot be set for/,
    ],
    [
      "targets nothing",
      [debug, { name: "b", image: "x", targetContainerName: "no" }],
      /targetContainerName: Not found: "no"/,
    ],
    ["has no image", [debug, { name: "b" }], /ephemeralContainers\[1\].image: Required value/],
  ])("refuses a list that %s", async (_title, list, message) => {
    await pod();
    expect((await add(debug)).status).toBe(200);
    const answer = await add(...list);
    expect(answer.status).toBe(422);
    expect(answer.body.message).toMatch(message);
  });
});

describe("pods/resize", () => {
  const resize = (spec: object) =>
    plane.request("PATCH", `${PODS}/p/resize`, { body: { spec }, contentType: STRATEGIC });
  const resized = (resources: object) => resize({ containers: [{ name: "main", resources }] });

  it("changes CPU and memory, and nothing else", async () => {
    await pod();
    const body = {
      containers: [{ name: "main", image: "other", resources: { requests: { cpu: "1500m" } } }],
      nodeName: "n",
    };
    const { status, body: answer } = await resize(body);
    expect(status).toBe(200);
    expect(answer.spec.containers[0]).toMatchObject({ image: "x", resources: { requests: { cpu: "1500m" } } });
    expect(answer.spec.nodeName).toBeUndefined();
  });

  it.each([
    ["removes a limit", { limits: { cpu: null } }, /limits: Forbidden: resource limits cannot be removed/],
    ["changes storage", { requests: { "ephemeral-storage": "1Gi" } }, /only cpu and memory resources are mutable/],
    [
      "makes it guaranteed",
      { requests: { cpu: "2", memory: "1" }, limits: { memory: "1" } },
      /QOS Class may not change/,
    ],
  ])("refuses a patch that %s", async (_title, resources, message) => {
    await pod();
    const answer = await resized(resources);
    expect(answer.status).toBe(422);
    expect(answer.body.message).toMatch(message);
  });

  it("refuses to rename and to add containers", async () => {
    await pod();
    const { body } = await plane.request("GET", `${PODS}/p`);
    const put = (containers: readonly object[]) =>
      plane.request("PUT", `${PODS}/p/resize`, { body: { ...body, spec: { ...body.spec, containers } } });
    const [only] = body.spec.containers;
    expect((await put([{ ...only, name: "other" }])).body.message).toMatch(/may not be renamed or reordered on resize/);
    expect((await put([only, { ...only, name: "b" }])).body.message).toMatch(/may not be added or removed on resize/);
  });
});

describe("the status endpoint", () => {
  const statuses = [
    [
      "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
      { kind: "FlowSchema", spec: { priorityLevelConfiguration: { name: "exempt" } } },
    ],
    [
      "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
      { kind: "PriorityLevelConfiguration", spec: { type: "Exempt" } },
    ],
    [
      "/apis/apiregistration.k8s.io/v1/apiservices",
      {
        kind: "APIService",
        spec: { group: "g.example.com", version: "v1", groupPriorityMinimum: 1, versionPriority: 1 },
      },
    ],
  ] as const;

  it.each(statuses)("of %s leaves all metadata unchanged", async (path, { kind, spec }) => {
    const name = kind === "APIService" ? "v1.g.example.com" : "a";
    const apiVersion = path.split("/").slice(2, 4).join("/");
    const body = { apiVersion, kind, metadata: { name, ...metadata }, spec };
    const created = await plane.request("POST", path, { body });
    expect(created.body).toMatchObject({ kind });
    const answer = await plane.request("PATCH", `${path}/${name}/status`, {
      body: { metadata: hostile },
      contentType: MERGE,
    });
    expect(answer.status).toBe(200);
    kept(answer.body);
  });

  it("of a custom resource leaves all metadata and the spec unchanged", async () => {
    const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const crd = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: schema },
            subresources: { status: {} },
          },
        ],
      },
    };
    await plane.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body: crd });
    const things = "/apis/example.com/v1/namespaces/default/things";
    const thing = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "t", ...metadata }, spec: { a: 1 } };
    await expect.poll(async () => (await plane.request("POST", things, { body: thing })).status).toBe(201);
    const body = { metadata: hostile, spec: { a: 2 }, status: { b: 3 } };
    const answer = await plane.request("PATCH", `${things}/t/status`, { body, contentType: MERGE });
    expect(answer.body).toMatchObject({ spec: { a: 1 }, status: { b: 3 } });
    kept(answer.body);
  });
});

describe("pods/binding", () => {
  // The owner does not exist: a pod with this reference would be garbage-collected meanwhile.
  const { ownerReferences: _owners, ...owned } = metadata;
  const bind = (meta: object) => {
    const body = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "p", ...meta },
      target: { kind: "Node", name: "n" },
    };
    return plane.request("POST", `${PODS}/p/binding`, { body });
  };

  it("applies annotations and labels, and no other metadata", async () => {
    await pod(owned);
    expect(
      (await bind({ annotations: { a: "1" }, labels: { b: "2" }, finalizers: [], ownerReferences: [owner] })).status,
    ).toBe(201);
    const { body } = await plane.request("GET", `${PODS}/p`);
    expect(body.spec.nodeName).toBe("n");
    expect(body.metadata).toMatchObject({ annotations: { kept: "yes", a: "1" }, labels: { kept: "yes", b: "2" } });
    expect(body.metadata.finalizers).toEqual(metadata.finalizers);
    expect(body.metadata.ownerReferences).toBeUndefined();
  });

  it.each([{ uid: "another" }, { resourceVersion: "1" }])("binds only the pod with this metadata: %o", async (meta) => {
    await pod(owned);
    expect((await bind(meta)).status).toBe(409);
    expect((await plane.request("GET", `${PODS}/p`)).body.spec.nodeName).toBeUndefined();
  });
});

it("a scale that names another object's uid changes nothing", async () => {
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [container] } };
  const spec = { replicas: 1, selector: { matchLabels: { a: "b" } }, template };
  const deployments = "/apis/apps/v1/namespaces/default/deployments";
  const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, spec };
  expect((await plane.request("POST", deployments, { body })).status).toBe(201);
  const scale = { metadata: { uid: "another" }, spec: { replicas: 5 } };
  const answer = await plane.request("PATCH", `${deployments}/d/scale`, { body: scale, contentType: MERGE });
  expect(answer.status).toBe(409);
  expect((await plane.request("GET", `${deployments}/d`)).body.spec.replicas).toBe(1);
});
