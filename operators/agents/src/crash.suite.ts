import { systemClock } from "setpoint/clock";
import type { TestEnvironment } from "setpoint/testing";
import { expect } from "vitest";
import type { Store } from "./database/store.js";
import { Agent } from "./kinds/agent.js";
import { ModelConfig } from "./kinds/model-config.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { virtualPlace } from "./place.testing.js";
import { NS, World } from "./world.testing.js";

const inNs = { namespace: NS };

/** User actions while the operator works. */
async function story(world: World): Promise<void> {
  world.answers.set("http://tools/mcp", ["b", "a"]);
  await world.basics();
  await world.server("tools", "http://tools/mcp");
  await world.agent("math", {
    tools: [{ type: "McpServer", mcpServer: { name: "tools", kind: "RemoteMCPServer", apiGroup: "kagent.dev" } }],
  });
  await world.secret("key", { "api-key": "sk-second-value" });
  await world.edit(Agent, "math", { spec: { skills: { refs: ["skill:v1"] } } });
  await world.server("gone", "http://tools/mcp");
  await world.agent("gone");
  await world.env.client.delete(RemoteMCPServer, "gone", inNs);
  await world.env.client.delete(Agent, "gone", inNs);
  world.answers.set("http://tools/mcp", ["c"]);
  await world.env.advance("70s");
}

/** The number of the operator's writes in the story without a crash: to the API, and to the database. */
export async function writesOfStory(): Promise<{ readonly api: number; readonly database: number }> {
  let database = 0;
  await using world = await World.create({ store: await watchedStore(async () => void database++) });
  await story(world);
  return { api: world.writes.length, database };
}

/** A database that reports each effective write before it returns to the writer. */
async function watchedStore(onWrite: () => Promise<void>): Promise<Store> {
  const store = await virtualPlace.store(systemClock);
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== "function") return member;
      return async (...given: unknown[]) => {
        const result = await (member as (...all: unknown[]) => Promise<unknown>).apply(target, given);
        if (result === true) await onWrite();
        return result;
      };
    },
  });
}

/** Rows and objects match, and further runs write nothing. */
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

/** Crashes after each of these writes to the API; the restarted operator must reach the same end. */
export async function crashAfterRequests(writes: Iterable<number>): Promise<void> {
  for (const write of writes) {
    await using world = await World.create();
    (world.env as TestEnvironment).operator.crashAfterWrite(write);
    await expectRecovery(world, `a crash after write ${write} to the API`);
  }
}

/** The same for writes to the database, which stays open for later processes. */
export async function crashAfterRows(writes: Iterable<number>): Promise<void> {
  for (const write of writes) {
    let left = write;
    const store = await watchedStore(async () => {
      if (--left !== 0) return;
      (world.env as TestEnvironment).operator.crash();
      await new Promise(() => {});
    });
    await using world: World = await World.create({ store });
    await expectRecovery(world, `a crash after write ${write} to the database`);
  }
}

async function expectRecovery(world: World, why: string): Promise<void> {
  const { operator } = world.env as TestEnvironment;
  await story(world);
  expect(operator.hasCrashed, why).toBe(true);
  await world.start();
  await world.env.advance("3m");
  await expectSettled(world);
  expect(await world.accepted(Agent, "math"), why).toBe("True Reconciled");
  expect(await world.toolNames("tools"), why).toEqual(["c"]);
}
