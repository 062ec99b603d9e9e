import { Event, Namespace } from "setpoint/kinds/v1";
import { errorAnswer, TestEnvironment, type TestEnvironmentOptions } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { ASSIGNED_ANNOTATION } from "./assignment.js";
import { Project } from "./project.js";
import { projectCrd } from "./project-crd.js";
import { type RancherProjectsOptions, rancherProjects } from "./rancher-projects.js";

const KEY = "field.cattle.io/projectId";
const CLUSTER = "field.cattle.io/clusterId";

class Rancher implements AsyncDisposable {
  readonly env: TestEnvironment;

  private constructor(env: TestEnvironment) {
    this.env = env;
  }

  static async create(options: RancherProjectsOptions = {}, more: TestEnvironmentOptions = {}): Promise<Rancher> {
    const kinds = [projectCrd as never];
    const namespaces = ["local", "c-abc123", "c-1", "c-2"];
    return new Rancher(await TestEnvironment.create({ kinds, namespaces, loops: [rancherProjects(options)], ...more }));
  }

  async project(
    name: string,
    displayName: unknown,
    namespace = "local",
    labels: Record<string, string> = {},
  ): Promise<void> {
    const body = { metadata: { name, namespace, labels }, spec: { displayName } };
    await this.env.client.create(Project, body);
    await this.env.idle();
  }

  async namespace(
    name: string,
    labels: Record<string, string> = {},
    annotations: Record<string, string> = {},
  ): Promise<void> {
    await this.env.client.create(Namespace, { metadata: { name, labels, annotations } });
    await this.env.idle();
  }

  async label(
    name: string,
    labels: Record<string, string | null>,
    annotations: Record<string, string | null> = {},
  ): Promise<void> {
    await this.env.client.patch(Namespace, name, { type: "merge", body: { metadata: { labels, annotations } } });
    await this.env.idle();
  }

  /** Project label, cluster label and annotation. */
  async assigned(name: string): Promise<readonly unknown[]> {
    const { labels = {}, annotations = {} } = (await this.env.client.get(Namespace, name)).metadata;
    return [labels[KEY], labels[CLUSTER], annotations[KEY]];
  }

  async events(name: string): Promise<readonly string[]> {
    await this.env.advance("1s");
    const { items } = await this.env.client.list(Event, { namespace: "default" });
    return items
      .filter((event) => event.involvedObject.name === name)
      .map((event) => `${event.reason}: ${event.message}`);
  }

  get writes(): readonly string[] {
    return this.env.operator.writes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.env[Symbol.asyncDispose]();
  }
}

const NOWHERE = [undefined, undefined, undefined];
const DEVOPS = ["p-devops", "local", "local:p-devops"];

describe("rancher projects", () => {
  it("assigns a namespace to the project of its owner, in one patch [R1]", async () => {
    await using rancher = await Rancher.create();
    await rancher.project("p-devops", "DevOps");
    await rancher.namespace("a", { appOwner: "DevOps" });
    expect(await rancher.assigned("a")).toEqual(DEVOPS);
    expect(rancher.writes).toEqual(["PATCH /api/v1/namespaces/a"]);
    expect(await rancher.events("a")).toEqual([
      'ProjectAssigned: put into the project local:p-devops of appOwner "DevOps"',
    ]);
  });

  it("leaves a namespace without an owner, or with an empty one, alone [R3]", async () => {
    await using rancher = await Rancher.create();
    await rancher.project("p-devops", "DevOps");
    await rancher.namespace("a");
    await rancher.namespace("b", { appOwner: "" });
    expect(rancher.writes).toEqual([]);
  });

  it("ignores a namespace that is deleted before it is reconciled [R4]", async () => {
    await using rancher = await Rancher.create();
    await rancher.project("p-devops", "DevOps");
    await rancher.env.client.create(Namespace, { metadata: { name: "a", labels: { appOwner: "DevOps" } } });
    await rancher.env.client.delete(Namespace, "a");
    await rancher.env.advance("1m");
    const failed = [...rancher.env.operator.manager.timeline.runs()].filter(({ outcome }) => outcome === "retry");
    expect(failed.length).toBeLessThanOrEqual(1);
    expect(await rancher.env.client.find(Namespace, "a")).toBeUndefined();
  });

  it("writes nothing the second time [R5]", async () => {
    await using rancher = await Rancher.create();
    await rancher.project("p-devops", "DevOps");
    await rancher.namespace("a", { appOwner: "DevOps" });
    await rancher.label("a", { other: "label" });
    expect(rancher.writes).toHaveLength(1);
  });

  it.each([
    ["always", DEVOPS],
    ["own", ["p-else", undefined, "local:p-else"]],
    ["never", ["p-else", undefined, "local:p-else"]],
  ] as const)("with --move %s, a namespace that others assigned elsewhere [R6]", async (move, expected) => {
    await using rancher = await Rancher.create({ move });
    await rancher.project("p-devops", "DevOps");
    await rancher.namespace("a", { appOwner: "DevOps", [KEY]: "p-else" }, { [KEY]: "local:p-else" });
    expect(await rancher.assigned("a")).toEqual(expected);
    if (move !== "always")
      expect((await rancher.events("a"))[0]).toContain("AssignedByOthers: the namespace is in local:p-else");
  });

  it("moves a namespace that it assigned when the owner changes [R7]", async () => {
    await using rancher = await Rancher.create();
    await rancher.project("p-devops", "DevOps");
    await rancher.project("p-data", "Data");
    await rancher.namespace("a", { appOwner: "Data" });
    await rancher.label("a", { appOwner: "DevOps" });
    expect(await rancher.assigned("a")).toEqual(DEVOPS);
  });

  it("reports a missing project, and assigns the namespace when it appears [R8]", async () => {
    await using rancher = await Rancher.create();
    await rancher.namespace("a", { appOwner: "DevOps" });
    expect(await rancher.assigned("a")).toEqual(NOWHERE);
    expect((await rancher.events("a"))[0]).toContain("ProjectNotFound");
    await rancher.project("p-devops", "DevOps");
    expect(await rancher.assigned("a")).toEqual(DEVOPS);
  });

  it("retries a failing list of projects with back-off, and leaves the namespace untouched meanwhile [R9]", async () => {
    await using rancher = await Rancher.create({}, { loops: [] });
    await rancher.project("p-devops", "DevOps");
    await rancher.namespace("a", { appOwner: "DevOps" });
    using fault = rancher.env.fault(({ path }) =>
      path.includes("/projects") ? errorAnswer(500, "InternalError") : undefined,
    );
    await rancher.env.start([rancherProjects()]);
    await rancher.env.advance("1m");
    expect(await rancher.assigned("a")).toEqual(NOWHERE);
    expect(rancher.env.operator.manager.trouble()[0]).toContain("management.cattle.io/v3/Project");
    fault[Symbol.dispose]();
    await rancher.env.advance("2m");
    expect(await rancher.assigned("a")).toEqual(DEVOPS);
  });

  it("retries a denied patch, and an event quotes the webhook [R10]", async () => {
    await using rancher = await Rancher.create();
    await rancher.project("p-devops", "DevOps");
    const denial = 'admission webhook "rancher.cattle.io.namespaces" denied the request: Unauthorized';
    using fault = rancher.env.fault(({ method }) =>
      method === "PATCH" ? errorAnswer(403, "Forbidden", denial) : undefined,
    );
    await rancher.namespace("a", { appOwner: "DevOps" });
    fault[Symbol.dispose]();
    await rancher.env.advance("1m");
    expect(await rancher.assigned("a")).toEqual(DEVOPS);
    expect(
      (await rancher.events("a")).some(
        (text) => text.startsWith("AssignmentDenied") && text.includes("manage-namespaces"),
      ),
    ).toBe(true);
  });

  it("uses the cluster id of a project of another cluster [R11]", async () => {
    await using rancher = await Rancher.create();
    await rancher.project("p-xyz789", "DevOps", "c-abc123");
    await rancher.namespace("a", { appOwner: "DevOps" });
    expect(await rancher.assigned("a")).toEqual(["p-xyz789", "c-abc123", "c-abc123:p-xyz789"]);
  });

  it("writes nothing for two projects of one name, and the event names both [R16]", async () => {
    await using rancher = await Rancher.create();
    await rancher.project("p-2", "DevOps");
    await rancher.project("p-1", "devops");
    await rancher.namespace("a", { appOwner: "DevOps" });
    expect(rancher.writes).toEqual([]);
    expect((await rancher.events("a"))[0]).toContain(
      'ProjectAmbiguous: appOwner "DevOps" names 2 projects: local:p-1, local:p-2',
    );
  });

  it.each([
    ["annotation", { labels: {}, annotations: { [KEY]: null } }],
    ["annotation's value", { labels: {}, annotations: { [KEY]: "p-devops" } }],
    ["cluster label", { labels: { [CLUSTER]: null }, annotations: {} }],
    ["project label", { labels: { [KEY]: null }, annotations: {} }],
  ])("restores a lost %s [R17]", async (_what, { labels, annotations }) => {
    await using rancher = await Rancher.create();
    await rancher.project("p-devops", "DevOps");
    await rancher.namespace("a", { appOwner: "DevOps" });
    await rancher.label("a", labels as never, annotations as never);
    expect(await rancher.assigned("a")).toEqual(DEVOPS);
    expect(rancher.writes).toHaveLength(2);
  });

  it("skips excluded and terminating namespaces [R18]", async () => {
    await using rancher = await Rancher.create();
    await rancher.project("p-devops", "DevOps");
    await rancher.namespace("cattle-system", { appOwner: "DevOps" });
    await rancher.label("kube-system", { appOwner: "DevOps" });
    await rancher.env.client.create(Namespace, { metadata: { name: "going" } });
    await rancher.env.client.delete(Namespace, "going");
    expect(rancher.writes).toEqual([]);
  });

  it("keeps or unassigns a namespace without its label, by policy [R19]", async () => {
    for (const [unlabelled, expected] of [
      ["keep", DEVOPS],
      ["unassign", NOWHERE],
    ] as const) {
      await using rancher = await Rancher.create({ unlabelled });
      await rancher.project("p-devops", "DevOps");
      await rancher.namespace("a", { appOwner: "DevOps" });
      await rancher.label("a", { appOwner: null });
      expect(await rancher.assigned("a")).toEqual(expected);
    }
  });

  it("does not unassign what somebody else has changed since [R19]", async () => {
    await using rancher = await Rancher.create({ unlabelled: "unassign" });
    await rancher.project("p-devops", "DevOps");
    await rancher.namespace("a", { appOwner: "DevOps" });
    await rancher.label("a", { appOwner: null, [KEY]: "p-theirs" }, { [KEY]: "local:p-theirs" });
    expect((await rancher.assigned("a"))[0]).toBe("p-theirs");
  });

  it("keeps an assignment whose project is renamed or deleted, and reports it", async () => {
    await using rancher = await Rancher.create();
    await rancher.project("p-devops", "DevOps");
    await rancher.namespace("a", { appOwner: "DevOps" });
    await rancher.env.client.delete(Project, "p-devops", { namespace: "local" });
    await rancher.env.idle();
    expect(await rancher.assigned("a")).toEqual(DEVOPS);
    expect((await rancher.events("a")).some((text) => text.startsWith("ProjectGone"))).toBe(true);
  });

  it("marks its assignments, so that it recognises them after a restart", async () => {
    await using rancher = await Rancher.create();
    await rancher.project("p-devops", "DevOps");
    await rancher.namespace("a", { appOwner: "DevOps" });
    const { annotations } = (await rancher.env.client.get(Namespace, "a")).metadata;
    expect(annotations?.[ASSIGNED_ANNOTATION]).toBe("local:p-devops");
    const restarted = await rancher.env.start();
    expect(restarted.writes).toEqual([]);
  });
});
