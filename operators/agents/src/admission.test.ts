import { expect, it } from "vitest";
import { Agent } from "./kinds/agent.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { NS, World } from "./world.testing.js";

it("what could never be carried out is refused before it is stored, and the message names the field", async () => {
  await using world = await World.create({ admission: true });
  const create = (kind: unknown, name: string, spec: object) =>
    world.env.client.create(kind as never, { metadata: { name, namespace: NS }, spec } as never);
  const declarative = { systemMessage: "m", modelConfig: "model" };
  await expect(create(Agent, "a.b", { declarative })).rejects.toThrow("metadata.name: must be a DNS label");
  await expect(
    create(Agent, "a", { declarative: { ...declarative, deployment: { labels: { app: "x" } } } }),
  ).rejects.toThrow("spec.declarative.deployment.labels[app]");
  await expect(create(RemoteMCPServer, "s", { description: "d", url: "ftp://x" })).rejects.toThrow("spec.url");
  await create(Agent, "a", { declarative });
});
