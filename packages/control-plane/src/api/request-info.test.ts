import { describe, expect, it } from "vitest";
import { parseRequestInfo } from "./request-info.js";

describe("the path of a request", () => {
  it("names a resource, in a namespace or not", () => {
    expect(parseRequestInfo("/apis/apps/v1/namespaces/a/deployments/b/scale/")).toEqual({
      type: "resource",
      group: "apps",
      version: "v1",
      resource: "deployments",
      name: "b",
      namespace: "a",
      pathNamespace: "a",
      subresource: "scale",
      isWatch: false,
      rest: "",
    });
    expect(parseRequestInfo("/api/v1/namespaces/a/status")).toMatchObject({ resource: "namespaces", name: "a" });
    expect(parseRequestInfo("/api/v1/watch/pods")).toMatchObject({ resource: "pods", isWatch: true });
  });

  it("has an empty part between two slashes", () => {
    expect(parseRequestInfo("/api/v1//pods")).toMatchObject({ resource: "", name: "pods" });
    expect(parseRequestInfo("/api/v1/namespaces//pods")).toMatchObject({ resource: "pods", namespace: "" });
    expect(parseRequestInfo("/api/v1/pods//")).toMatchObject({ resource: "pods", name: "" });
    for (const path of ["//api/v1/pods", "/apis//apps/v1/deployments", "/", ""]) {
      expect(parseRequestInfo(path)).toEqual({ type: "path", path });
    }
  });
});
