import { controlPlane } from "@setpoint/control-plane";
import type { Client } from "setpoint";
import { systemClock } from "setpoint/clock";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openStore } from "./database/open-store.js";
import { fromThisMachine, startApi } from "./rest-api.js";
import { restApiSuite } from "./rest-api.suite.js";
import { NS, World } from "./world.testing.js";

const SERVER = { name: "ns/s", groupKind: "Service" };

it("answers agents as kagent does: with their model, tools and conditions", async () => {
  await using world = await World.create();
  await world.basics();
  world.answers.set("http://tools/mcp", ["t"]);
  await world.server("tools", "http://tools/mcp");
  const tools = [{ type: "McpServer", mcpServer: { name: "tools", kind: "RemoteMCPServer", apiGroup: "kagent.dev" } }];
  await world.agent("my-math", { tools });
  await world.setAvailable("my-math", 1);
  await world.agent("lost", { modelConfig: "missing" });
  await using api = await startApi({ store: world.store, client: world.env.client }, "127.0.0.1", 0, fromThisMachine);
  const get = async (path: string) =>
    (await (await fetch(`${api.url}${path}`)).json()) as { data: Record<string, unknown>[] };
  const { data, ...rest } = await get("/api/agents");
  expect(rest).toEqual({ error: false, message: "Successfully listed agents" });
  const [lost, math] = data;
  const { agent, ...answer } = math!;
  expect(answer).toEqual({
    id: "test__NS__my_math",
    modelProvider: "OpenAI",
    model: "gpt-4o",
    modelConfigRef: "test/model",
    memoryRefs: null,
    tools,
    deploymentReady: true,
    accepted: true,
    workloadMode: "deployment",
  });
  expect(agent).toMatchObject({
    apiVersion: "kagent.dev/v1alpha2",
    kind: "Agent",
    metadata: { name: "my-math", namespace: NS },
    spec: { type: "Declarative" },
    status: { conditions: expect.anything() },
  });
  expect(agent).not.toHaveProperty("metadata.managedFields");
  expect(lost).toMatchObject({ modelProvider: "", model: "", modelConfigRef: "", tools: null, accepted: false });
  expect((await get("/api/agents?namespace=test")).data).toHaveLength(2);
  expect(await get("/api/agents?namespace=other")).toEqual({ error: false, message: "Successfully listed agents" });
  expect((await fetch(`${api.url}/api/agents?namespace=A_B`)).status).toBe(400);
});

it("reads tools and tool servers from the database", async () => {
  await using store = await openStore(":memory:", systemClock);
  await store.putServer({ ...SERVER, uid: "1", description: "N/A" });
  await store.replaceTools(SERVER, "1", [{ name: "t", description: "does t" }], "2026-01-01T00:00:00Z");
  await store.replaceTools(SERVER, "1", [{ name: "t", description: "does more" }], "2026-01-02T00:00:00Z");
  await using api = await startApi({ store, client: undefined as never }, "127.0.0.1", 0, fromThisMachine);
  const get = async (path: string) => (await fetch(`${api.url}${path}`)).json();
  expect(await get("/api/tools")).toEqual({
    error: false,
    data: [
      {
        id: "t",
        server_name: "ns/s",
        group_kind: "Service",
        created_at: "2026-01-01T00:00:00Z",
        updated_at: "2026-01-02T00:00:00Z",
        deleted_at: null,
        description: "does more",
      },
    ],
    message: "Successfully listed tools",
  });
  expect(await get("/api/toolservers")).toEqual({
    error: false,
    data: [{ ref: "ns/s", groupKind: "Service", discoveredTools: [{ name: "t", description: "does more" }] }],
    message: "Successfully listed ToolServers",
  });
  expect((await fetch(`${api.url}/api/nothing`)).status).toBe(404);
  expect((await fetch(`${api.url}/api/tools`, { method: "POST" })).status).toBe(405);
});

let plane: Awaited<ReturnType<typeof controlPlane>>;
beforeAll(async () => {
  plane = await controlPlane({});
});
afterAll(() => plane[Symbol.asyncDispose]());
restApiSuite("the embedded API server", (): Client => plane.client);
