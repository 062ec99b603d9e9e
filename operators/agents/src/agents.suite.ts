import { Deployment } from "setpoint/kinds/apps/v1";
import { ConfigMap, Event, Namespace, Secret, Service, ServiceAccount } from "setpoint/kinds/v1";
import { errorAnswer, type TestEnvironment } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import type { AgentsOptions } from "./agents-app.js";
import { Agent } from "./kinds/agent.js";
import { ModelConfig } from "./kinds/model-config.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { NS, type Place } from "./place.testing.js";
import { World } from "./world.testing.js";

const inNs = { namespace: NS };
const remote = (name: string, more: object = {}) => ({
  type: "McpServer",
  mcpServer: { name, kind: "RemoteMCPServer", apiGroup: "kagent.dev", toolNames: ["t"], ...more },
});
const sub = (name: string, more: object = {}) => ({ type: "Agent", agent: { name, ...more } });

/** The behaviour of Agents, at any place. */
export function agentsSuite(place: Place): void {
  const create = (options: Partial<AgentsOptions> = {}): Promise<World> => World.create(options, place);

  describe(`agents on ${place.name}`, () => {
    it("an Agent becomes a workload, is accepted, and has a row", async () => {
      await using world = await create();
      await world.basics();
      await world.agent("math");
      expect(await world.accepted(Agent, "math")).toBe("True Reconciled");
      expect((await world.deployment("math"))?.spec?.template.spec?.serviceAccountName).toBe("math");
      expect(await world.store.agents()).toMatchObject([{ id: "test__NS__math", type: "Declarative" }]);
    });

    it("Agents run once each when the Secret of their ModelConfig rotates, and each Deployment changes once (500 of them in bench/agents) [8]", async () => {
      await using world = await create();
      await world.basics();
      const COUNT = 60;
      for (let at = 0; at < COUNT; at++) {
        await world.env.client.create(Agent, {
          metadata: { name: `a-${at}`, namespace: NS },
          spec: { type: "Declarative", declarative: { systemMessage: "m", modelConfig: "model" } },
        } as never);
      }
      await world.env.advance("30s");
      const runs = () =>
        [...world.env.operator.manager.timeline.runs()].filter(({ controller }) => controller === "agents");
      const last = Math.max(...runs().map(({ id }) => id));
      const before = world.writes.length;
      await world.secret("key", { "api-key": "sk-second-value" });
      await world.env.advance("10s");
      const since = runs().filter(({ id }) => id > last);
      expect(since.length).toBe(COUNT);
      expect(new Set(since.map(({ key }) => key)).size).toBe(COUNT);
      const changed = world.writes.slice(before).filter((write) => /deployment/i.test(write));
      expect(changed.length).toBe(COUNT);
      const { items } = await world.env.client.list(Deployment, inNs);
      expect(items.map(({ metadata }) => metadata.generation)).toEqual(items.map(() => 2));
    });

    it("the agent's header overrides the server's of the same name [19]", async () => {
      await using world = await create();
      await world.basics();
      await world.server("tools", "http://tools/mcp", {
        headersFrom: [
          { name: "X", value: "server" },
          { name: "Y", value: "y" },
        ],
      });
      await world.agent("math", { tools: [{ ...remote("tools"), headersFrom: [{ name: "X", value: "agent" }] }] });
      await world.env.advance("11s");
      expect((await world.env.client.get(RemoteMCPServer, "tools", inNs)).status?.usedBy).toBe(1);
      expect(await world.config("math")).toMatchObject({
        http_tools: [{ params: { headers: { X: "agent", Y: "y" } } }],
      });
      const [row] = await world.store.agents();
      expect(row?.config).not.toContain('agent"');
      expect(JSON.parse(row!.config)).toMatchObject({ http_tools: [{ params: { headers: { X: "***", Y: "***" } } }] });
    });

    it("a child's name that another controller owns is a conflict, and its object stays untouched [27]", async () => {
      await using world = await create();
      await world.basics();
      await world.env.client.create(ConfigMap, { metadata: { name: "owner", namespace: NS } });
      const owner = await world.env.client.get(ConfigMap, "owner", inNs);
      const foreign = {
        metadata: {
          name: "math",
          namespace: NS,
          ownerReferences: [
            { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid, controller: true },
          ],
        },
        spec: { ports: [{ port: 1 }] },
      };
      await world.env.client.create(Service, foreign as never);
      await world.agent("math");
      expect(await world.accepted(Agent, "math")).toBe("False Conflict");
      const service = await world.env.client.get(Service, "math", inNs);
      expect(service.spec?.ports?.[0]?.port).toBe(1);
      await world.env.client.delete(Service, "math", inNs);
      await world.env.advance("1s");
      expect(await world.accepted(Agent, "math")).toBe("True Reconciled");
    });

    it.each(["app", "kagent"])("deployment.labels must not set %s: nothing is written [28]", async (label) => {
      await using world = await create();
      await world.basics();
      await world.agent("math", { deployment: { labels: { [label]: "mine" } } });
      expect(await world.accepted(Agent, "math")).toBe("False InvalidSpec");
      expect((await world.condition(Agent, "math", "Accepted"))?.message).toContain(
        `spec.declarative.deployment.labels[${label}]`,
      );
      expect(await world.deployment("math")).toBeUndefined();
    });

    it.each(["a.b", "a".repeat(64)])("the name %s is refused before anything is created [29]", async (name) => {
      await using world = await create();
      await world.basics();
      await world.agent(name);
      expect(await world.accepted(Agent, name)).toBe("False InvalidSpec");
      expect((await world.env.client.list(Secret, inNs)).items.map(({ metadata }) => metadata.name)).toEqual(["key"]);
    });

    it("an Agent created before its ModelConfig is accepted when that appears [31]", async () => {
      await using world = await create();
      await world.agent("math");
      expect(await world.accepted(Agent, "math")).toBe("False ReferenceMissing");
      await world.basics();
      expect(await world.accepted(Agent, "math")).toBe("True Reconciled");
    });

    it("an Agent created before its tool server is accepted when that appears [31]", async () => {
      await using world = await create();
      await world.basics();
      await world.agent("math", { tools: [remote("tools")] });
      expect(await world.accepted(Agent, "math")).toBe("False ReferenceMissing");
      await world.server("tools", "http://tools/mcp");
      expect(await world.accepted(Agent, "math")).toBe("True Reconciled");
    });

    it("an Agent created before its header's Secret is accepted when that appears [31]", async () => {
      await using world = await create();
      await world.basics();
      await world.server("tools", "http://tools/mcp");
      const from = { type: "Secret", name: "token", key: "t" };
      await world.agent("math", { tools: [{ ...remote("tools"), headersFrom: [{ name: "A", valueFrom: from }] }] });
      expect((await world.condition(Agent, "math", "Accepted"))?.message).toBe("Secret test/token not found");
      await world.secret("token", { t: "s3cret-value" });
      expect(await world.accepted(Agent, "math")).toBe("True Reconciled");
      expect(await world.config("math")).toMatchObject({
        http_tools: [{ params: { headers: { A: "s3cret-value" } } }],
      });
      await world.secret("token", { t: "rotated-value" });
      expect(await world.config("math")).toMatchObject({
        http_tools: [{ params: { headers: { A: "rotated-value" } } }],
      });
    });

    it("a parent created before its sub-agent is accepted when that appears [31]", async () => {
      await using world = await create();
      await world.basics();
      await world.agent("parent", { tools: [sub("child")] });
      expect(await world.accepted(Agent, "parent")).toBe("False ReferenceMissing");
      await world.agent("child");
      expect(await world.accepted(Agent, "parent")).toBe("True Reconciled");
    });

    it("chains of agents: a cycle, a self-reference and too many levels are refused; a diamond and a long row are accepted [32]", async () => {
      await using world = await create();
      await world.basics();
      await world.agent("a", { tools: [sub("b")] });
      await world.agent("b", { tools: [sub("a")] });
      expect((await world.condition(Agent, "a", "Accepted"))?.message).toContain("cycle detected");
      await world.edit(Agent, "b", { spec: { declarative: { tools: null } } });
      expect(await world.accepted(Agent, "a")).toBe("True Reconciled");
      await world.agent("self", { tools: [sub("self")] });
      expect((await world.condition(Agent, "self", "Accepted"))?.message).toContain("reference itself");
      for (let at = 12; at >= 0; at--) await world.agent(`c-${at}`, at === 12 ? {} : { tools: [sub(`c-${at + 1}`)] });
      expect((await world.condition(Agent, "c-0", "Accepted"))?.message).toContain("recursion limit reached");
      expect(await world.accepted(Agent, "c-2")).toBe("True Reconciled");
      await world.agent("bottom");
      await world.agent("left", { tools: [sub("bottom")] });
      await world.agent("right", { tools: [sub("bottom")] });
      await world.agent("top", { tools: [sub("left"), sub("right")] });
      expect(await world.accepted(Agent, "top")).toBe("True Reconciled");
      for (let at = 0; at < 12; at++) await world.agent(`flat-${at}`);
      await world.agent("flat", { tools: Array.from({ length: 12 }, (_, at) => sub(`flat-${at}`)) });
      expect(await world.accepted(Agent, "flat")).toBe("True Reconciled");
    });

    it("servers of other namespaces are used if they allow it, and changed namespace labels count at once [33]", async () => {
      await using world = await create();
      await world.basics();
      const make = (name: string, allowedNamespaces?: object) =>
        world.env.client.create(RemoteMCPServer, {
          metadata: { name, namespace: "other" },
          spec: { description: "d", url: "http://x/mcp", ...(allowedNamespaces ? { allowedNamespaces } : {}) },
        } as never);
      await make("none");
      await make("all", { from: "All" });
      await make("selected", { from: "Selector", selector: { matchLabels: { team: "a" } } });
      for (const name of ["none", "all", "selected"])
        await world.agent(`uses-${name}`, { tools: [remote(name, { namespace: "other" })] });
      await world.agent("uses-service", {
        tools: [{ type: "McpServer", mcpServer: { name: "s", kind: "Service", namespace: "other" } }],
      });
      await world.agent("uses-mcp", {
        tools: [{ type: "McpServer", mcpServer: { name: "s", kind: "MCPServer", namespace: "other" } }],
      });
      expect(await world.accepted(Agent, "uses-none")).toBe("False ReferenceDenied");
      expect(await world.accepted(Agent, "uses-all")).toBe("True Reconciled");
      expect(await world.accepted(Agent, "uses-selected")).toBe("False ReferenceDenied");
      expect(await world.accepted(Agent, "uses-service")).toBe("False ReferenceDenied");
      expect(await world.accepted(Agent, "uses-mcp")).toBe("False ReferenceDenied");
      await world.env.client.patch(Namespace, NS, { type: "merge", body: { metadata: { labels: { team: "a" } } } });
      await world.env.idle();
      expect(await world.accepted(Agent, "uses-selected")).toBe("True Reconciled");
    });

    it("a namespace that is not watched cannot be used [33]", async () => {
      await using world = await create({ namespaces: [NS] });
      await world.basics();
      await world.env.client.create(RemoteMCPServer, {
        metadata: { name: "all", namespace: "other" },
        spec: { description: "d", url: "http://x/mcp", allowedNamespaces: { from: "All" } },
      } as never);
      await world.agent("math", { tools: [remote("all", { namespace: "other" })] });
      expect((await world.condition(Agent, "math", "Accepted"))?.message).toContain("does not watch");
    });

    it("children that an Agent no longer needs are deleted, and nothing else [34]", async () => {
      await using world = await create();
      await world.basics();
      await world.agent("math", {}, { skills: { refs: ["ghcr.io/org/skill:v1"] } });
      const labels = { app: "kagent", kagent: "math" };
      await world.env.client.create(ServiceAccount, { metadata: { name: "bystander", namespace: NS, labels } });
      expect(await world.env.client.find(ServiceAccount, "math", inNs)).toBeDefined();
      expect(await world.env.client.find(ConfigMap, "math-skills-init", inNs)).toBeDefined();
      await world.edit(Agent, "math", {
        spec: { skills: null, declarative: { deployment: { serviceAccountName: "mine" } } },
      });
      expect(await world.env.client.find(ServiceAccount, "math", inNs)).toBeUndefined();
      expect(await world.env.client.find(ConfigMap, "math-skills-init", inNs)).toBeUndefined();
      expect(await world.env.client.find(ServiceAccount, "bystander", inNs)).toBeDefined();
    });

    it("an edited or deleted Deployment is restored, and an autoscaler's replicas are left alone [36]", async () => {
      await using world = await create();
      await world.basics();
      await world.agent("math");
      await world.env.client.patch(
        Deployment,
        "math",
        {
          type: "json",
          operations: [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "evil:1" }],
        },
        inNs,
      );
      await world.env.idle();
      expect((await world.deployment("math"))?.spec?.template.spec?.containers[0]?.image).toContain(
        "kagent-dev/kagent/golang-adk",
      );
      await world.env.client.delete(Deployment, "math", inNs);
      await world.env.idle();
      expect(await world.deployment("math")).toBeDefined();
      await world.env.client.patch(Deployment, "math", { type: "merge", body: { spec: { replicas: 7 } } }, inNs);
      await world.env.idle();
      expect((await world.deployment("math"))?.spec?.replicas).toBe(7);
    });

    it("runs without changes write nothing [37]", async () => {
      await using world = await create();
      await world.basics();
      world.answers.set("http://tools/mcp", ["a"]);
      await world.server("tools", "http://tools/mcp");
      await world.agent("math", { tools: [remote("tools")] });
      await world.env.advance("11s");
      const before = world.writes.length;
      for (let at = 0; at < 10; at++) {
        const body = { metadata: { annotations: { "setpoint.dev/reconcile-now": String(at) } } };
        await world.edit(Agent, "math", body);
        await world.edit(RemoteMCPServer, "tools", body);
        await world.edit(ModelConfig, "model", body);
      }
      expect(world.writes.slice(before)).toEqual([]);
    });

    it("a rotated API key rolls the pods once and says why; changed tools do not [38]", async () => {
      await using world = await create({ refresh: "1m" });
      await world.basics();
      world.answers.set("http://tools/mcp", ["a"]);
      await world.server("tools", "http://tools/mcp");
      await world.agent("math", { tools: [remote("tools")] });
      const first = await world.hash("math");
      const { metadata } = (await world.deployment("math"))!;
      await world.secret("key", { "api-key": "sk-second-value" });
      const second = await world.hash("math");
      expect(second).not.toBe(first);
      expect((await world.deployment("math"))!.metadata.generation).toBe(metadata.generation! + 1);
      await world.env.advance("1s");
      const { items } = await world.env.client.list(Event, inNs);
      const event = items.find(({ reason }) => reason === "RolloutTriggered");
      expect(event?.message).toMatch(/because of secrets; config-hash is now \d+$/);
      world.answers.set("http://tools/mcp", ["a", "b"]);
      await world.env.advance("2m");
      expect(await world.toolNames("tools")).toEqual(["a", "b"]);
      expect(await world.hash("math")).toBe(second);
    });

    it("a new Agent that is rejected has all conditions with its generation [39]", async () => {
      await using world = await create();
      await world.agent("math", { tools: [remote("missing")] });
      const generation = (await world.env.client.get(Agent, "math", inNs)).metadata.generation;
      expect(await world.condition(Agent, "math", "Accepted")).toMatchObject({
        status: "False",
        observedGeneration: generation,
      });
      for (const type of ["Ready", "Progressing"]) {
        expect(await world.condition(Agent, "math", type)).toMatchObject({
          status: "Unknown",
          observedGeneration: generation,
        });
      }
    });

    it("an Agent that is no longer accepted still reports on its pods", async () => {
      await using world = await create();
      await world.basics();
      await world.agent("math");
      await world.setAvailable("math", 1);
      await world.edit(Agent, "math", { spec: { declarative: { modelConfig: "missing" } } });
      const { generation } = (await world.env.client.get(Agent, "math", inNs)).metadata;
      const said = async (type: string) => {
        const found = await world.condition(Agent, "math", type);
        return [found?.status, found?.reason, found?.observedGeneration];
      };
      expect(await said("Accepted")).toEqual(["False", "ReferenceMissing", generation]);
      expect(await said("Ready")).toEqual(["True", "DeploymentReady", generation]);
      expect(await said("Progressing")).toEqual(["False", "RolloutComplete", generation]);
      await world.setAvailable("math", 0);
      expect(await said("Ready")).toEqual(["False", "DeploymentNotReady", generation]);
    });

    it("is Ready with one replica, and reports a rollout separately", async () => {
      await using world = await create();
      await world.basics();
      await world.agent("math", { deployment: { replicas: 3 } });
      const conditions = async () => {
        const [ready, progressing] = await Promise.all(
          ["Ready", "Progressing"].map((type) => world.condition(Agent, "math", type)),
        );
        return [ready, progressing].map((found) => `${found?.status} ${found?.reason}`);
      };
      expect(await conditions()).toEqual(["False DeploymentNotReady", "True RollingOut"]);
      await world.setAvailable("math", 1);
      expect(await conditions()).toEqual(["True DeploymentReady", "True RollingOut"]);
      await world.setAvailable("math", 3);
      expect(await conditions()).toEqual(["True DeploymentReady", "False RolloutComplete"]);
    });

    it("keys of memory and summarizer models roll the pods, too, and the models list their users", async () => {
      await using world = await create();
      await world.basics();
      await world.secret("other", { "api-key": "sk-other-value" });
      await world.model("embedding", { apiKeySecret: "other" });
      await world.agent("math", { memory: { modelConfig: "embedding" } });
      const first = await world.hash("math");
      await world.secret("other", { "api-key": "sk-newer-value" });
      expect(await world.hash("math")).not.toBe(first);
      await world.env.advance("11s");
      expect((await world.env.client.get(ModelConfig, "embedding", inNs)).status?.usedBy).toBe(1);
    });

    it("annotations of the Agent are not copied to its children", async () => {
      await using world = await create();
      await world.basics();
      await world.agent("math", {}, {}, { annotations: { "argocd.argoproj.io/tracking-id": "x" } });
      const { metadata } = await world.env.client.get(Service, "math", inNs);
      expect(metadata.annotations?.["argocd.argoproj.io/tracking-id"]).toBeUndefined();
    });

    it("a rotated CA of a tool server changes its hash, and rolls the agents that use it once [20]", async () => {
      await using world = await create();
      await world.basics();
      world.answers.set("https://tools/mcp", ["t"]);
      await world.secret("ca", { "ca.crt": "first" });
      await world.server("tools", "https://tools/mcp", {
        tls: { caCertSecretRef: "ca", caCertSecretKey: "ca.crt" },
      });
      await world.agent("uses", { tools: [remote("tools")] });
      await world.agent("does-not");
      const server = async () => (await world.env.client.get(RemoteMCPServer, "tools", inNs)).status;
      const generation = async (name: string) => (await world.deployment(name))?.metadata.generation;
      const before = await server();
      expect(before?.secretHash).toMatch(/^[0-9a-f]{64}$/);
      expect([await generation("uses"), await generation("does-not")]).toEqual([1, 1]);
      await world.secret("ca", { "ca.crt": "second" });
      await world.env.advance("2s");
      expect((await server())?.secretHash).not.toBe(before?.secretHash);
      expect(world.asked.at(-1)?.tls?.ca).toBe("second");
      expect([await generation("uses"), await generation("does-not")]).toEqual([2, 1]);
    });

    it("features that the Go runtime lacks are reported while they are requested", async () => {
      await using world = await create();
      await world.basics();
      await world.agent("math", { runtime: "go", executeCodeBlocks: true });
      expect(await world.condition(Agent, "math", "UnsupportedFeatures")).toMatchObject({
        status: "True",
        message: expect.stringContaining("executeCodeBlocks"),
      });
      await world.edit(Agent, "math", { spec: { declarative: { executeCodeBlocks: false } } });
      expect(await world.condition(Agent, "math", "UnsupportedFeatures")).toMatchObject({ status: "False" });
    });

    it("a restarted operator writes nothing, and deletes the rows of deleted objects", async () => {
      await using world = await create();
      await world.basics();
      await world.agent("math");
      await world.env.advance("11s");
      const revision = async () => (await world.env.client.get(Agent, "math", inNs)).metadata.resourceVersion;
      const before = [await revision(), (await world.deployment("math"))?.metadata.resourceVersion];
      await world.start();
      await world.env.advance("11s");
      expect([await revision(), (await world.deployment("math"))?.metadata.resourceVersion]).toEqual(before);
      await world.env.client.delete(Agent, "math", inNs);
      await world.env.idle();
      expect(await world.store.agents()).toEqual([]);
    });

    if (!place.isVirtual) return;
    // Faults can only be injected into an operator in this process.

    it("if one object cannot be applied, the others are, nothing is pruned, and it is retried until it works [35]", async () => {
      await using world = await create();
      await world.basics();
      {
        using _fault = (world.env as TestEnvironment).fault((request) =>
          request.method === "PATCH" && request.path.includes("/services/")
            ? errorAnswer(403, "Forbidden", "exceeded quota")
            : undefined,
        );
        await world.agent("math");
        expect(await world.accepted(Agent, "math")).toBe("False ReconcileFailed");
        expect(await world.deployment("math")).toBeDefined();
        expect(await world.store.agents()).toEqual([]);
      }
      await world.env.advance("1m");
      expect(await world.accepted(Agent, "math")).toBe("True Reconciled");
      {
        using _fault = (world.env as TestEnvironment).fault((request) =>
          request.method === "PATCH" && request.path.includes("/secrets/")
            ? errorAnswer(403, "Forbidden", "exceeded quota")
            : undefined,
        );
        const deployment = { serviceAccountName: "mine" };
        await world.edit(Agent, "math", { spec: { declarative: { systemMessage: "new", deployment } } });
        expect((await world.deployment("math"))?.spec?.template.spec?.serviceAccountName).toBe("mine");
        expect(await world.env.client.find(ServiceAccount, "math", inNs)).toBeDefined();
      }
      await world.env.advance("1m");
      expect(await world.env.client.find(ServiceAccount, "math", inNs)).toBeUndefined();
    });
  });
}
