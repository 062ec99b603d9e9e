import { describe, expect, it } from "vitest";
import { clusterOf, type Project, projectId } from "./project.js";
import { matchProject, projectNames } from "./project-match.js";

const project = (
  name: string,
  namespace: string,
  parts: { displayName?: unknown; labels?: object; annotations?: object } = {},
): Project =>
  ({
    apiVersion: "management.cattle.io/v3",
    kind: "Project",
    metadata: {
      name,
      namespace,
      uid: name,
      resourceVersion: "1",
      creationTimestamp: "",
      labels: parts.labels,
      annotations: parts.annotations,
    },
    spec: { displayName: parts.displayName },
  }) as unknown as Project;

const options = { clusterId: "local", normalise: false };
const found = (projects: readonly Project[], owner: string, more: Partial<typeof options> = {}): unknown => {
  const match = matchProject(projects, owner, { ...options, ...more });
  if (match.type === "one") return match.project.metadata.name;
  return match.type === "none" ? undefined : match.projects.map(({ metadata }) => metadata.name);
};

describe("project match", () => {
  it("compares the display name without case [R2]", () => {
    expect(found([project("p-1", "local", { displayName: "DevOps" })], "devops")).toBe("p-1");
  });

  it("prefers projects of the own cluster, else accepts the only one elsewhere [R13]", () => {
    const everywhere = ["local", "c-1", "c-2"].map((cluster) =>
      project(`p-${cluster}`, cluster, { displayName: "Default" }),
    );
    expect(found(everywhere, "Default")).toBe("p-local");
    expect(found(everywhere.slice(1, 2), "Default")).toBe("p-c-1");
    expect(found(everywhere.slice(1), "Default")).toEqual(["p-c-1", "p-c-2"]);
  });

  it("uses no label or annotation except the three that hold names [R14]", () => {
    const labels = { "authz.management.cattle.io/default-project": "true" };
    expect(
      found([project("p-1", "local", { displayName: "Default", labels, annotations: { note: "true" } })], "true"),
    ).toBeUndefined();
  });

  it("prefers the display name to a name label in another case, whatever the order of the list [R15]", () => {
    const a = project("p-a", "local", { displayName: "Other", labels: { "cattle.io/projectName": "devops" } });
    const b = project("p-b", "local", { displayName: "DevOps" });
    expect(found([a, b], "DevOps")).toBe("p-b");
    expect(found([b, a], "DevOps")).toBe("p-b");
  });

  it("ranks an exact name label above the display name, in the order of the keys", () => {
    const named = (name: string, key: string): Project => project(name, "local", { labels: { [key]: "DevOps" } });
    const display = project("p-display", "local", { displayName: "DevOps" });
    expect(found([display, named("p-3", "field.cattle.io/projectName")], "DevOps")).toBe("p-3");
    expect(
      found([named("p-2", "cattle.io/projectName"), named("p-1", "project.cattle.io/name"), display], "DevOps"),
    ).toBe("p-1");
  });

  it("ranks an annotation in any case last", () => {
    expect(found([project("p-1", "local", { annotations: { "project.cattle.io/name": "DEVOPS" } })], "devops")).toBe(
      "p-1",
    );
  });

  it("reports two of the same rank as ambiguous, in a fixed order [R16]", () => {
    const two = [project("p-b", "local", { displayName: "Same" }), project("p-a", "local", { displayName: "same" })];
    expect(found(two, "same")).toEqual(["p-a", "p-b"]);
    expect(found([...two].reverse(), "same")).toEqual(["p-a", "p-b"]);
  });

  it("skips a display name that is missing or not a string [R20]", () => {
    const odd = project("p-1", "local", { displayName: 7, labels: { "cattle.io/projectName": "x" } });
    expect(found([odd, project("p-2", "local")], "x")).toBe("p-1");
    expect(projectNames(odd)).toEqual(["x"]);
  });

  it("matches spaces with dashes only on request [R21]", () => {
    const spaced = [project("p-1", "local", { displayName: "Dev Ops" })];
    expect(found(spaced, "Dev-Ops")).toBeUndefined();
    expect(found(spaced, "Dev-Ops", { normalise: true })).toBe("p-1");
  });

  it("takes the cluster from the part before the first colon [R22]", () => {
    expect(["a:b", "p-1", "a:b:c", ""].map(clusterOf)).toEqual(["a", "", "a", ""]);
  });

  it("takes ids from the namespace or the colon form, and they never contain a colon [R11, R12]", () => {
    expect(projectId(project("p-xyz789", "c-abc123"))).toEqual({ cluster: "c-abc123", project: "p-xyz789" });
    expect(projectId(project("c-abc123:p-xyz789", "local"))).toEqual({ cluster: "c-abc123", project: "p-xyz789" });
    expect(projectId(project("a:b:c", "local")).project).not.toContain(":");
  });
});
