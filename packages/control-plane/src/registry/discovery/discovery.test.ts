import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestPlane } from "../plane.testing.js";

const V2 = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json" };

let plane: TestPlane;
beforeAll(async () => {
  plane = await TestPlane.start();
});
afterAll(() => plane[Symbol.asyncDispose]());

describe("discovery", () => {
  it("is one document for clients that ask for it", async () => {
    const { body, headers } = await plane.request("GET", "/apis", { headers: V2 });
    expect(headers["content-type"]).toBe("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    expect(body).toMatchObject({ kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2" });
    const apps = body.items.find((group: { metadata: { name: string } }) => group.metadata.name === "apps");
    expect(
      apps.versions[0].resources.find((each: { resource: string }) => each.resource === "deployments"),
    ).toMatchObject({
      responseKind: { group: "", version: "", kind: "Deployment" },
      scope: "Namespaced",
      singularResource: "deployment",
      shortNames: ["deploy"],
      categories: ["all"],
    });
    const etag = String(headers.etag);
    const again = await plane.request("GET", "/apis", { headers: { ...V2, "if-none-match": etag } });
    expect(again.status).toBe(304);
  });

  it("changes with the CRDs", async () => {
    const before = (await plane.request("GET", "/apis", { headers: V2 })).headers.etag;
    const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } };
    const spec = {
      group: "example.com",
      scope: "Cluster",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    };
    await plane.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      body: { metadata: { name: "things.example.com" }, spec },
    });
    expect((await plane.request("GET", "/apis", { headers: V2 })).headers.etag).not.toBe(before);
    const { body } = await plane.request("GET", "/openapi/v3");
    const { serverRelativeURL } = JSON.parse(body).paths["apis/example.com/v1"];
    const document = (await plane.request("GET", serverRelativeURL)).body;
    expect(document.components.schemas["com.example.v1.Thing"]).toMatchObject({
      "x-kubernetes-group-version-kind": [{ group: "example.com", kind: "Thing", version: "v1" }],
    });
    const patch = document.paths["/apis/example.com/v1/things/{name}"].patch;
    expect(patch.parameters).toContainEqual(expect.objectContaining({ name: "fieldValidation" }));
    expect(document.components.schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]).toBeDefined();
  });

  it("answers Go clients that ask for OpenAPI v2 in protobuf", async () => {
    const accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    const { headers, body } = await plane.request("GET", "/openapi/v2", { headers: { accept } });
    expect(headers["content-type"]).toBe("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    const { major, minor } = (await plane.request("GET", "/version")).body as { major: string; minor: string };
    const version = `${major}.${minor}`;
    const info = `\n\nKubernetes\x12${String.fromCharCode(version.length)}${version}`;
    expect(String(body).startsWith(`\n\x032.0\x12${String.fromCharCode(info.length)}${info}`)).toBe(true);
  });

  it("is one request per group and version for the others", async () => {
    expect((await plane.request("GET", "/api")).body.versions).toEqual(["v1"]);
    expect((await plane.request("GET", "/apis")).body.groups[1]).toMatchObject({
      name: "apps",
      preferredVersion: { version: "v1" },
    });
    const { body } = await plane.request("GET", "/apis/apps/v1");
    expect(body).toMatchObject({ kind: "APIResourceList", apiVersion: "v1", groupVersion: "apps/v1" });
    expect(body.resources).toContainEqual({
      name: "deployments/scale",
      singularName: "",
      namespaced: true,
      group: "autoscaling",
      version: "v1",
      kind: "Scale",
      verbs: ["get", "patch", "update"],
    });
  });

  it.each([
    ["GET", "/apis/nope/v1", 404, "404 page not found\n"],
    ["GET", "/nope", 404, "404 page not found\n"],
    ["GET", "/healthz", 200, "ok"],
    ["GET", "/readyz", 200, "ok"],
    ["GET", "/livez/ping", 200, "ok"],
    ["GET", "/healthz/none", 404, "404 page not found\n"],
  ])("%s %s", async (method, path, status, text) => {
    const answer = await plane.request(method, path);
    expect(answer.status).toBe(status);
    expect(answer.body).toBe(text);
  });

  it.each([
    ["GET", "/apis/apps/v1/namespaces/x/foos", 404, "the server could not find the requested resource"],
    ["GET", "/apis/authentication.k8s.io/v1/tokenreviews/x", 404, "the server could not find the requested resource"],
    ["GET", "/apis/apps/v9/foos", 404, "the server could not find the requested resource"],
    ["GET", "/api/v1/namespaces/x/nodes", 404, "the server could not find the requested resource"],
    ["GET", "/api/v1/namespaces/x/configmaps/y/z", 404, "the server could not find the requested resource"],
    [
      "POST",
      "/api/v1/namespaces/x/configmaps/y",
      405,
      "the server does not allow this method on the requested resource",
    ],
    ["PUT", "/api/v1/namespaces/x/configmaps", 405, "the server does not allow this method on the requested resource"],
    ["DELETE", "/api/v1/namespaces", 405, "the server does not allow this method on the requested resource"],
  ])("%s %s is refused", async (method, path, status, message) => {
    const answer = await plane.request(method, path);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ kind: "Status", message });
  });
});
