import { expect, it } from "vitest";
import { Agent } from "./kinds/agent.js";
import { MCPServer } from "./kinds/mcp-server.js";
import { ModelConfig } from "./kinds/model-config.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { NS, World } from "./world.testing.js";

const minimal = { systemMessage: "m", modelConfig: "model" };
const declarative = (more: object) => ({ declarative: { ...minimal, ...more } });
const tool = (mcpServer: object) =>
  declarative({ tools: [{ type: "McpServer", mcpServer: { name: "s", ...mcpServer } }] });
const byo = (deployment: object) => ({ type: "BYO", byo: { deployment } });
const templated = (systemMessage: string, ...dataSources: readonly object[]) =>
  declarative({ systemMessage, promptTemplate: { dataSources } });
const source = { kind: "ConfigMap", name: "c" };
const remote = (more: object) => ({ description: "d", url: "http://x/mcp", ...more });
const selecting = (operator: string) => ({
  from: "Selector",
  selector: { matchExpressions: [{ key: "a", operator }] },
});
const stdio = (deployment: object, more: object = {}) => ({
  transportType: "stdio",
  deployment: { image: "i", ...deployment },
  ...more,
});

/** Kind, specification, and the path that the refusal names. */
const REFUSED: readonly (readonly [object, object, string])[] = [
  [Agent, declarative({ deployment: { labels: { app: "x" } } }), "spec.declarative.deployment.labels[app]"],
  [Agent, byo({ image: "i", labels: { kagent: "x" } }), "spec.byo.deployment.labels[kagent]"],
  [Agent, byo({}), "spec.byo.deployment.image"],
  [Agent, byo({ image: "i", extraContainers: [{ name: "kagent" }] }), "spec.byo.deployment.extraContainers[0].name"],
  [
    Agent,
    declarative({ deployment: { extraContainers: [{ name: "x" }, { name: "x" }] } }),
    "spec.declarative.deployment.extraContainers[1].name",
  ],
  [Agent, { declarative: { modelConfig: "m" } }, "spec.declarative.systemMessage"],
  [Agent, { declarative: { systemMessage: "m" } }, "spec.declarative.modelConfig"],
  [Agent, declarative({ memory: { modelConfig: "" } }), "spec.declarative.memory.modelConfig"],
  [Agent, tool({ kind: "Pod" }), "spec.declarative.tools[0].mcpServer.kind"],
  [Agent, tool({ kind: "MCPServer", namespace: "other" }), "spec.declarative.tools[0].mcpServer.namespace"],
  [Agent, tool({ kind: "Service", namespace: "other" }), "spec.declarative.tools[0].mcpServer.namespace"],
  [Agent, declarative({ tools: [{}] }), "spec.declarative.tools[0]"],
  [Agent, declarative({ tools: [{ type: "Agent", agent: { name: "a" } }] }), "spec.declarative.tools[0].agent.name"],
  [
    Agent,
    declarative({ tools: [{ type: "Agent", agent: { name: "b", kind: "SandboxAgent" } }] }),
    "spec.declarative.tools[0].agent.kind",
  ],
  [Agent, templated("{{if .AgentName}}", source), "spec.declarative.systemMessage"],
  [Agent, templated("{{nope}}", source), "spec.declarative.systemMessage"],
  [Agent, templated("m", source, source), "spec.declarative.promptTemplate.dataSources[1]"],
  [
    Agent,
    { ...declarative({}), skills: { gitRefs: [{ url: "https://e/o/p", path: "../x" }] } },
    "spec.skills.gitRefs[0].path",
  ],
  [Agent, { ...declarative({}), skills: { refs: ["e/x:1", "f/x:2"] } }, "spec.skills.refs[1]"],
  [Agent, { ...declarative({}), allowedNamespaces: selecting("Like") }, "spec.allowedNamespaces.selector"],
  [RemoteMCPServer, remote({ url: "ftp://x" }), "spec.url"],
  [RemoteMCPServer, remote({ url: "not a url" }), "spec.url"],
  [RemoteMCPServer, remote({ timeout: "0s" }), "spec.timeout"],
  [RemoteMCPServer, remote({ sseReadTimeout: "soon" }), "spec.sseReadTimeout"],
  [RemoteMCPServer, remote({ allowedNamespaces: selecting("In") }), "spec.allowedNamespaces.selector"],
  [ModelConfig, { model: "m", provider: "Ollama" }, "spec.ollama"],
  [MCPServer, stdio({ port: 0 }), "spec.deployment.port"],
  [MCPServer, stdio({ image: "" }), "spec.deployment.image"],
  [MCPServer, { deployment: { image: "i" } }, "spec.transportType"],
  [MCPServer, stdio({}, { transportType: "http" }), "spec.httpTransport.targetPort"],
  [MCPServer, stdio({}, { timeout: "0s" }), "spec.timeout"],
];

it("refuses specifications that can never be carried out before they are stored, and names the field", async () => {
  await using world = await World.create({ admission: true });
  const create = (kind: unknown, name: string, spec: object) =>
    world.env.client.create(kind as never, { metadata: { name, namespace: NS }, spec } as never);
  await expect(create(Agent, "a.b", declarative({}))).rejects.toThrow("metadata.name: must be a DNS label");
  for (const [kind, spec, path] of REFUSED) {
    await expect(create(kind, "a", spec), path).rejects.toThrow(`${path}: `);
  }
  await create(Agent, "a", declarative({}));
  await create(Agent, "b", templated('{{include "c/k"}}', source));
  await create(RemoteMCPServer, "a", remote({ allowedNamespaces: selecting("Exists") }));
});
