import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WireReader } from "../../protobuf/wire-reader.js";
import { TestPlane } from "../plane.testing.js";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

let plane: TestPlane;
beforeEach(async () => {
  plane = await TestPlane.start();
});
afterEach(() => plane[Symbol.asyncDispose]());

const version = (name: string, schema: object = { type: "object" }, more: object = {}) => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: schema },
  ...more,
});

const crd = (group: string, versions: readonly object[]) => ({
  metadata: { name: `foos.${group}` },
  spec: { group, scope: "Namespaced", names: { plural: "foos", kind: "Foo" }, versions },
});

const swagger = async () => (await plane.request("GET", "/openapi/v2")).body;

/** The names in a map of the document, by field numbers: definitions 9 and 1, paths 8 and 2. */
async function protobufNames(field: number, entry: number): Promise<readonly string[]> {
  const response = await plane.open("GET", "/openapi/v2", { headers: { accept: PROTOBUF } });
  expect(response.headers["content-type"]).toBe(PROTOBUF.replace("@", "."));
  const names: string[] = [];
  for (const part of fieldsOf(response.body as Uint8Array, field)) {
    for (const item of fieldsOf(part, entry)) names.push(Buffer.from([...fieldsOf(item, 1)][0]!).toString());
  }
  return names;
}

function* fieldsOf(bytes: Uint8Array, number: number): Iterable<Uint8Array> {
  const reader = new WireReader(bytes);
  while (reader.next(() => "document")) {
    if (reader.wireType === 2 && reader.number === number) yield reader.bytes();
    else reader.skip(reader.wireType);
  }
}

describe("OpenAPI v2", () => {
  it("describes every kind and path, in JSON and in protobuf alike", async () => {
    await plane.request("POST", CRDS, { body: crd("x.example.com", [version("v1", undefined, { storage: true })]) });
    const { definitions, paths, info } = await swagger();
    expect(info.title).toBe("Kubernetes");
    const names = Object.keys(definitions);
    expect(names).toEqual(
      expect.arrayContaining(["io.k8s.api.core.v1.Pod", "com.example.x.v1.Foo", "com.example.x.v1.FooList"]),
    );
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        "/api/v1/namespaces/{namespace}/pods/{name}/log",
        "/api/v1/watch/configmaps",
        "/apis/x.example.com/v1/namespaces/{namespace}/foos/{name}",
      ]),
    );
    expect(await protobufNames(9, 1)).toEqual(names);
    expect(await protobufNames(8, 2)).toEqual(Object.keys(paths));
  });

  it("links every built-in kind to the page that describes its fields, and leaves custom kinds as they are", async () => {
    await plane.request("POST", CRDS, { body: crd("x.example.com", [version("v1", undefined, { storage: true })]) });
    const { definitions } = await swagger();
    const page = "https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#";
    expect(definitions["io.k8s.api.apps.v1.StatefulSet"].description).toContain(`${page}statefulset-v1-apps`);
    expect(definitions["io.k8s.api.core.v1.Pod"].description).toContain(`${page}pod-v1-core`);
    expect(definitions["com.example.x.v1.Foo"].description).toBeUndefined();
    const { body } = await plane.request("GET", "/openapi/v3/apis/networking.k8s.io/v1");
    const { description } = body.components.schemas["io.k8s.api.networking.v1.Ingress"];
    expect(description).toContain(`${page}ingress-v1-networking-k8s-io`);
  });

  it("has no dangling references", async () => {
    await plane.request("POST", CRDS, { body: crd("x.example.com", [version("v1", undefined, { storage: true })]) });
    const document = await swagger();
    const missing = new Set<string>();
    const look = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      for (const [key, part] of Object.entries(value)) {
        if (key !== "$ref" || typeof part !== "string") look(part);
        else {
          const [, kind = "", name = ""] = part.split("/");
          if (document[kind]?.[name] === undefined) missing.add(part);
        }
      }
    };
    look(document);
    expect([...missing]).toEqual([]);
  });

  it("follows CRDs: renamed versions, added and removed groups", async () => {
    const path = `${CRDS}/foos.x.example.com`;
    const own = async () =>
      Object.keys((await swagger()).definitions).filter((name) => name.startsWith("com.example."));
    await plane.request("POST", CRDS, {
      body: crd("x.example.com", [version("v1", undefined, { storage: true }), version("v2")]),
    });
    await plane.request("POST", CRDS, { body: crd("y.example.com", [version("v1", undefined, { storage: true })]) });
    const before = await plane.open("GET", "/openapi/v2");
    expect(await own()).toEqual([
      "com.example.x.v1.Foo",
      "com.example.x.v1.FooList",
      "com.example.x.v2.Foo",
      "com.example.x.v2.FooList",
      "com.example.y.v1.Foo",
      "com.example.y.v1.FooList",
    ]);
    const versions = [version("v1", undefined, { storage: true, served: false }), version("v3")];
    await plane.request("PATCH", path, { contentType: "application/merge-patch+json", body: { spec: { versions } } });
    await plane.request("DELETE", `${CRDS}/foos.y.example.com`);
    await plane.clock.settle();
    expect(await own()).toEqual(["com.example.x.v3.Foo", "com.example.x.v3.FooList"]);
    const headers = { "if-none-match": String(before.headers.etag) };
    const after = await plane.open("GET", "/openapi/v2", { headers });
    expect(after.status).toBe(200);
    const again = { "if-none-match": String(after.headers.etag) };
    expect((await plane.open("GET", "/openapi/v2", { headers: again })).status).toBe(304);
    expect((await plane.request("GET", "/openapi/v2")).headers.etag).toBe(after.headers.etag);
  });

  it("describes a custom kind only as far as version 2 allows", async () => {
    const schema = {
      type: "object",
      properties: {
        spec: {
          type: "object",
          required: ["color", "size"],
          properties: {
            color: { type: "string", nullable: true },
            size: { type: "integer", default: 1 },
            port: { "x-kubernetes-int-or-string": true },
            open: {
              type: "object",
              "x-kubernetes-preserve-unknown-fields": true,
              properties: { a: { type: "string" } },
            },
            either: { type: "object", oneOf: [{ required: ["a"] }], properties: { a: { type: "string" } } },
          },
        },
      },
    };
    const body = crd("x.example.com", [version("v1", schema, { storage: true })]);
    expect((await plane.request("POST", CRDS, { body })).status).toBe(201);
    const { spec, apiVersion, metadata } = (await swagger()).definitions["com.example.x.v1.Foo"].properties;
    expect(spec).toEqual({
      type: "object",
      required: ["size"],
      properties: {
        color: {},
        size: { type: "integer" },
        port: { "x-kubernetes-int-or-string": true },
        open: { "x-kubernetes-preserve-unknown-fields": true },
        either: { type: "object", properties: { a: { type: "string" } } },
      },
    });
    expect(apiVersion.description).toMatch(/^APIVersion defines/);
    expect(metadata.$ref).toBe("#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  });
});
