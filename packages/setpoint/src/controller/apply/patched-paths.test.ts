import { describe, expect, it } from "vitest";
import { patchedPaths } from "./patched-paths.js";

describe("paths of a patch", () => {
  it("are the fields that a merge patch names, including removals, without preconditions", () => {
    const body = { metadata: { resourceVersion: "7", labels: { a: "1", b: null } }, spec: { replicas: 2, empty: {} } };
    expect(patchedPaths({ type: "merge", body })).toEqual([
      "metadata.labels.a",
      "metadata.labels.b",
      "spec.replicas",
      "spec.empty",
    ]);
  });

  it("are the paths of a JSON patch's operations, without tests", () => {
    const operations = [
      { op: "test", path: "/metadata/uid", value: "u" },
      { op: "add", path: "/metadata/annotations/example.com~1key", value: "v" },
      { op: "remove", path: "/spec/paused" },
    ] as const;
    const [first, ...rest] = patchedPaths({ type: "json", operations });
    expect(first).toContain("example.com/key");
    expect(rest).toEqual(["spec.paused"]);
  });
});
