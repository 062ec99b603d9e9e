import type { TestEnvironment } from "setpoint/testing";
import { expect } from "vitest";
import { Agent } from "./kinds/agent.js";
import { ModelConfig } from "./kinds/model-config.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { NS, World } from "./world.testing.js";

const inNs = { namespace: NS };

/** What users do while the operator is at work. */
async function story(world: World): Promise<void> {
  world.answers.set("http://tools/mcp", ["b", "a"]);
  await world.basics();
  await world.server("tools", "http://tools/mcp");
  await world.agent("math", {
    tools: [{ type: "McpServer", mcpServer: { name: "tools", kind: "RemoteMCPServer", apiGroup: "kagent.dev" } }],
  });
  await world.secret("key", { "api-key": "sk-second-value" });
  await world.edit(Agent, "math", { spec: { skills: { refs: ["skill:v1"] } } });
  world.answers.set("http://tools/mcp", ["c"]);
  await world.env.advance("70s");
}

/** How many writes the operator makes of the story where nothing happens to it. */
export async function writesOfStory(): Promise<number> {
  await using world = await World.create();
  await story(world);
  return world.writes.length;
}

/** Rows and objects say the same, and nothing more is written whatever runs. */
export async function expectSettled(world: World): Promise<void> {
  const servers = (await world.env.client.list(RemoteMCPServer, inNs)).items;
  expect((await world.store.servers()).map(({ name, uid }) => [name, uid])).toEqual(
    servers.map(({ metadata }) => [`${NS}/${metadata.name}`, metadata.uid]),
  );
  for (const { metadata, status } of servers) {
    expect(await world.toolNames(metadata.name)).toEqual(status?.discoveredTools?.map(({ name }) => name) ?? []);
  }
  const agents = (await world.env.client.list(Agent, inNs)).items;
  expect((await world.store.agents()).map(({ uid }) => uid)).toEqual(agents.map(({ metadata }) => metadata.uid));
  const before = world.writes.length;
  for (const [kind, { metadata }] of [
    ...agents.map((each) => [Agent, each] as const),
    ...servers.map((each) => [RemoteMCPServer, each] as const),
    ...(await world.env.client.list(ModelConfig, inNs)).items.map((each) => [ModelConfig, each] as const),
  ]) {
    await world.edit(kind, metadata.name, { metadata: { annotations: { "setpoint.dev/reconcile-now": "settled" } } });
  }
  expect(world.writes.slice(before)).toEqual([]);
}

/** Crashes after each of these writes; what comes after the restart finds the same end. */
export async function crashAfter(writes: Iterable<number>): Promise<void> {
  for (const write of writes) {
    await using world = await World.create();
    (world.env as TestEnvironment).operator.crashAfterWrite(write);
    await story(world);
    await world.start();
    await world.env.advance("3m");
    await expectSettled(world);
    expect(await world.accepted(Agent, "math"), `crash after write ${write}`).toBe("True Reconciled");
    expect(await world.toolNames("tools"), `crash after write ${write}`).toEqual(["c"]);
  }
}
