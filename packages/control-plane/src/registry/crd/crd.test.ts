import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../plane.testing.js";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const MERGE = "application/merge-patch+json";
const JSON_PATCH = "application/json-patch+json";

// biome-ignore lint/suspicious/noExplicitAny: tests change specs at will.
type Spec = any;

function crd(change: (spec: Spec) => void = () => {}) {
  const spec = {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget", shortNames: ["wd"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["replicas"],
                properties: {
                  color: { type: "string", enum: ["red", "blue"], default: "red" },
                  replicas: { type: "integer", minimum: 0 },
                },
              },
              status: { type: "object", properties: { ready: { type: "integer" }, replicas: { type: "integer" } } },
            },
          },
        },
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        additionalPrinterColumns: [{ name: "Color", type: "string", jsonPath: ".spec.color" }],
        selectableFields: [{ jsonPath: ".spec.color" }],
      },
    ],
  };
  change(spec);
  return { metadata: { name: "widgets.example.com" }, spec };
}

const widget = (name: string, spec: object = { replicas: 2 }) => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name },
  spec,
});

let plane: TestPlane;
beforeEach(async () => {
  plane = await TestPlane.start();
});
afterEach(() => plane[Symbol.asyncDispose]());

const install = (body: unknown = crd()) => plane.request("POST", CRDS, { body });
const post = (body: unknown, query = "") => plane.request("POST", WIDGETS + query, { body });

describe("a CRD", () => {
  it("is established, and its resource served, once its creation is answered", async () => {
    expect((await install()).status).toBe(201);
    const { body } = await plane.request("GET", `${CRDS}/widgets.example.com`);
    expect(body.spec.names).toMatchObject({ singular: "widget", listKind: "WidgetList" });
    expect(body.spec.conversion).toEqual({ strategy: "None" });
    expect(body.status).toMatchObject({
      acceptedNames: { plural: "widgets", kind: "Widget" },
      storedVersions: ["v1"],
      conditions: [
        { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" },
        { type: "Established", status: "True", reason: "InitialNamesAccepted" },
      ],
    });
    expect((await post(widget("a"))).status).toBe(201);
    const { body: resources } = await plane.request("GET", "/apis/example.com/v1");
    expect(resources.resources.map((each: { name: string }) => each.name)).toEqual([
      "widgets",
      "widgets/status",
      "widgets/scale",
    ]);
  });

  it.each([
    [
      (spec: Spec) => (spec.group = "foo"),
      [
        'metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group',
        'spec.group: Invalid value: "foo": should be a domain with at least one dot',
      ],
    ],
    [
      (spec: Spec) => (spec.scope = "Foo"),
      ['spec.scope: Unsupported value: "Foo": supported values: "Cluster", "Namespaced"'],
    ],
    [
      (spec: Spec) => spec.versions.push({ ...spec.versions[0], name: "v2" }),
      [
        "must have exactly one version marked as storage version",
        'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2',
      ],
    ],
    [
      (spec: Spec) => (spec.names.listKind = "Widget"),
      ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
    ],
    [
      (spec: Spec) => (spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.x = { type: "foo" }),
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"',
      ],
    ],
    [
      (spec: Spec) =>
        (spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.x = {
          type: "array",
          items: { type: "object" },
          "x-kubernetes-list-type": "map",
        }),
      [
        "spec.validation.openAPIV3Schema.properties[spec].properties[x].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
      ],
    ],
    [
      (spec: Spec) => (spec.versions[0].subresources.scale.specReplicasPath = ".foo"),
      ['spec.subresources.scale.specReplicasPath: Invalid value: ".foo": should be a json path under .spec'],
    ],
    [
      (spec: Spec) => (spec.conversion = { strategy: "Webhook" }),
      [
        "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
        "spec.conversion.conversionReviewVersions: Required value",
      ],
    ],
  ])("that is invalid is refused in the real server's words (%#)", async (change, sentences) => {
    const { status, body } = await install(crd(change));
    expect(status).toBe(422);
    for (const sentence of sentences) expect(body.message).toContain(sentence);
  });

  it("has no other subresources, and no namespaces if it is cluster-scoped", async () => {
    await install(crd());
    const log = await plane.request("GET", `${WIDGETS}/w/log`);
    expect(log.body.message).toBe('widgets.example.com "w" not found');
    await plane.request("DELETE", `${CRDS}/widgets.example.com`);
    await plane.clock.settle();
    await install(crd((spec) => (spec.scope = "Cluster")));
    expect((await plane.request("GET", WIDGETS)).body).toBe("404 page not found\n");
  });

  it("checks its rules in CEL", async () => {
    await install(
      crd((spec) => {
        spec.versions[0].schema.openAPIV3Schema.properties.spec["x-kubernetes-validations"] = [
          { rule: "self.replicas > 1" },
        ];
      }),
    );
    const { status, body } = await post({ ...widget("a"), spec: { replicas: 1 } });
    expect(status).toBe(422);
    expect(body.message).toContain("spec: Invalid value: failed rule: self.replicas > 1");
  });

  it("is deleted with its objects", async () => {
    await install();
    await post(widget("a"));
    const { body } = await plane.request("DELETE", `${CRDS}/widgets.example.com`);
    expect(body.metadata.finalizers).toEqual(["customresourcecleanup.apiextensions.k8s.io"]);
    await plane.clock.settle();
    expect((await plane.request("GET", `${CRDS}/widgets.example.com`)).status).toBe(404);
    expect((await plane.request("GET", WIDGETS)).status).toBe(404);
    await install();
    expect((await plane.request("GET", WIDGETS)).body.items).toEqual([]);
  });
});

describe("a custom resource", () => {
  beforeEach(() => install());

  it("is pruned, defaulted and validated", async () => {
    const created = await post({ ...widget("a", { replicas: 2, zzz: 1 }), status: { ready: 3 } });
    expect(created.headers.warning).toEqual(['299 - "unknown field \\"spec.zzz\\""']);
    expect(created.body.spec).toEqual({ replicas: 2, color: "red" });
    expect(created.body).not.toHaveProperty("status");
    expect(created.body.metadata.generation).toBe(1);
    const { status, body } = await post(widget("b", { replicas: 1, color: "green" }));
    expect(status).toBe(422);
    expect(body.message).toBe(
      'Widget.example.com "b" is invalid: spec.color: Unsupported value: "green": supported values: "red", "blue"',
    );
  });

  it.each([
    [
      { metadata: { name: "a" } },
      400,
      'the object provided is unrecognized (must be of type Widget): Object \'Kind\' is missing in \'{"metadata":{"name":"a"}}\' ({"metadata":{"name":"a"}})',
    ],
    [
      { ...widget("a"), kind: "Foo" },
      422,
      'Foo.example.com "a" is invalid: kind: Invalid value: "Foo": must be Widget',
    ],
    [
      { ...widget("a"), apiVersion: "example.com/v2" },
      400,
      "the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)",
    ],
  ])("of another kind is refused (%#)", async (object, status, message) => {
    const answer = await post(object);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toBe(message);
  });

  it("has no scale without the field for its replicas", async () => {
    await plane.request("PATCH", `${CRDS}/widgets.example.com`, {
      contentType: "application/json-patch+json",
      body: [{ op: "remove", path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/required" }],
    });
    await post(widget("a", {}));
    const { status, body } = await plane.request("GET", `${WIDGETS}/a/scale`);
    expect(status).toBe(500);
    expect(body.message).toBe('Internal error occurred: the spec replicas field ".spec.replicas" does not exist');
  });

  it("has a status, a scale, columns and selectable fields", async () => {
    await post(widget("a"));
    await post(widget("b", { replicas: 1, color: "blue" }));
    const status = await plane.request("PATCH", `${WIDGETS}/a/status`, {
      contentType: MERGE,
      body: { spec: { replicas: 9 }, status: { replicas: 2 } },
    });
    expect(status.body).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 2 }, metadata: { generation: 1 } });
    const scaled = await plane.request("PATCH", `${WIDGETS}/a/scale`, {
      contentType: MERGE,
      body: { spec: { replicas: 5 } },
    });
    expect(scaled.body).toMatchObject({
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      spec: { replicas: 5 },
      status: { replicas: 2 },
    });
    const { body: list } = await plane.request("GET", `${WIDGETS}?fieldSelector=spec.color%3Dblue`);
    expect(list.items).toMatchObject([{ kind: "Widget", metadata: { name: "b" } }]);
    const table = await plane.request("GET", WIDGETS, {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
    });
    expect(table.body.rows.map((row: { cells: unknown[] }) => row.cells)).toEqual([
      ["a", "red"],
      ["b", "blue"],
    ]);
  });

  it("keeps an applied null, which the schema refuses", async () => {
    const body = { ...widget("a", { replicas: null }), metadata: { name: "a", creationTimestamp: null, labels: null } };
    const contentType = "application/apply-patch+yaml";
    const path = `${WIDGETS}/a?fieldManager=m`;
    const refused = await plane.request("PATCH", path, { contentType, body });
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain(
      'spec.replicas: Invalid value: "null": spec.replicas in body must be of type integer: "null"',
    );
    const applied = await plane.request("PATCH", path, { contentType, body: { ...body, spec: { replicas: 1 } } });
    expect(applied.body.spec).toEqual({ color: "red", replicas: 1 });
  });

  it("accepts no strategic patches and no protobuf", async () => {
    await post(widget("a"));
    const patched = await plane.request("PATCH", `${WIDGETS}/a`, {
      contentType: "application/strategic-merge-patch+json",
      body: {},
    });
    expect(patched.status).toBe(415);
    expect(patched.body.message).toBe(
      "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    );
  });

  it("gets the defaults of a newer schema", async () => {
    await post(widget("a"));
    const path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size";
    const change = [{ op: "add", path, value: { type: "integer", default: 3 } }];
    await plane.request("PATCH", `${CRDS}/widgets.example.com`, { contentType: JSON_PATCH, body: change });
    expect((await plane.request("GET", `${WIDGETS}/a`)).body.spec).toEqual({ replicas: 2, color: "red", size: 3 });
  });

  it("is served in several versions, whichever version is stored", async () => {
    await post(widget("a"));
    const v2 = { ...crd().spec.versions[0]!, name: "v2", storage: false };
    const edit = (body: unknown) =>
      plane.request("PATCH", `${CRDS}/widgets.example.com`, { contentType: JSON_PATCH, body });
    await edit([{ op: "add", path: "/spec/versions/-", value: v2 }]);
    const inV2 = "/apis/example.com/v2/namespaces/default/widgets";
    expect((await plane.request("GET", `${inV2}/a`)).body.apiVersion).toBe("example.com/v2");
    const moved = await edit([
      { op: "replace", path: "/spec/versions/0/storage", value: false },
      { op: "replace", path: "/spec/versions/1/storage", value: true },
    ]);
    expect(moved.body.status.storedVersions).toEqual(["v1", "v2"]);
    expect((await plane.request("GET", inV2)).body.items[0].apiVersion).toBe("example.com/v2");
    expect((await plane.request("GET", `${WIDGETS}/a`)).body.apiVersion).toBe("example.com/v1");
    const removed = await edit([{ op: "remove", path: "/spec/versions/0" }]);
    expect(removed.body.message).toContain("v1 was previously a storage version, and must remain in spec.versions");
  });
});
