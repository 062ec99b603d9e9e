import { describe, expect, it } from "vitest";
import { parseRequestInfo } from "./request-info.js";

const parsed = (path: string, query = "", method = "GET") => parseRequestInfo(method, path, new URLSearchParams(query));

describe("the path of a request", () => {
  it("names a resource, in a namespace or not", () => {
    expect(parsed("/apis/apps/v1/namespaces/a/deployments/b/scale/")).toEqual({
      type: "resource",
      group: "apps",
      version: "v1",
      resource: "deployments",
      name: "b",
      namespace: "a",
      pathNamespace: "a",
      subresource: "scale",
      verb: "get",
      rest: "",
    });
    expect(parsed("/api/v1/namespaces/a/status")).toMatchObject({ resource: "namespaces", name: "a" });
    expect(parsed("/api/v1/watch/pods")).toMatchObject({ resource: "pods", verb: "watch" });
  });

  it("is a watch by its query or the legacy path, never by a namespace called watch", () => {
    const verb = (path: string, query?: string, method?: string) => {
      const info = parsed(path, query, method);
      return info.type === "resource" ? info.verb : "path";
    };
    expect(verb("/api/v1/namespaces/watch/pods")).toBe("list");
    expect(verb("/api/v1/namespaces/watch/pods", "watch=true")).toBe("watch");
    expect(verb("/api/v1/namespaces/watch/pods", "watch=0")).toBe("list");
    expect(verb("/api/v1/watch/namespaces/watch/pods")).toBe("watch");
    expect(verb("/api/v1/namespaces/a/pods/watch", "watch=1")).toBe("get");
    expect(verb("/api/v1/namespaces/a/pods", "", "OPTIONS")).toBeUndefined();
  });

  it("has an empty segment between two slashes", () => {
    expect(parsed("/api/v1//pods")).toMatchObject({ resource: "", name: "pods" });
    expect(parsed("/api/v1/namespaces//pods")).toMatchObject({ resource: "pods", namespace: "" });
    expect(parsed("/api/v1/pods//")).toMatchObject({ resource: "pods", name: "" });
    for (const path of ["//api/v1/pods", "/apis//apps/v1/deployments", "/", ""]) {
      expect(parsed(path)).toEqual({ type: "path", path });
    }
  });
});
