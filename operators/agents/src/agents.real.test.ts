import { connect } from "setpoint";
import { systemClock } from "setpoint/clock";
import { Deployment } from "setpoint/kinds/apps/v1";
import { Secret } from "setpoint/kinds/v1";
import { Manager } from "setpoint/manager";
import { expect, it } from "vitest";
import { startKubernetes } from "../../../tools/kubernetes/start.mjs";
import { agents } from "./agents-app.js";
import { openStore } from "./database/open-store.js";
import { startPostgres } from "./database/postgres.testing.js";
import { startStreamable } from "./discovery/mcp-servers.testing.js";
import { Agent } from "./kinds/agent.js";
import { ModelConfig } from "./kinds/model-config.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { installKinds } from "./samples.js";

const namespace = "default";

it("an agent and its tools are reconciled and stay so on a real API server, with a real MCP server and a real PostgreSQL if there is one", {
  timeout: 180_000,
}, async () => {
  await using cluster = await startKubernetes({});
  await using client = await connect({ kubeconfig: cluster.kubeconfig });
  using postgres = startPostgres();
  await postgres?.ready();
  await using store = await openStore(postgres?.url ?? ":memory:", systemClock);
  await using server = await startStreamable({ tools: () => [{ name: "b" }, { name: "a" }] });
  await installKinds(client);
  await until(async () => (await client.list(Agent).catch(() => undefined)) !== undefined);
  await using manager = new Manager({ client, grace: "1s" });
  manager.add(agents({ store, admission: false }));
  await manager.start();
  const create = (kind: unknown, name: string, rest: object) =>
    client.create(kind as never, { metadata: { name, namespace }, ...rest } as never);
  await create(Agent, "math", {
    spec: {
      type: "Declarative",
      declarative: {
        systemMessage: "m",
        modelConfig: "model",
        tools: [{ type: "McpServer", mcpServer: { name: "tools", kind: "RemoteMCPServer", apiGroup: "kagent.dev" } }],
      },
    },
  });
  await create(RemoteMCPServer, "tools", { spec: { description: "d", url: server.url } });
  await create(Secret, "key", { stringData: { k: "sk-value" } });
  await create(ModelConfig, "model", {
    spec: { provider: "OpenAI", model: "m", apiKeySecret: "key", apiKeySecretKey: "k" },
  });
  const isAccepted = async (kind: typeof Agent | typeof RemoteMCPServer, name: string) =>
    (await client.get(kind as typeof Agent, name, { namespace })).status?.conditions?.some(
      ({ type, status }) => type === "Accepted" && status === "True",
    );
  await until(
    async () => (await isAccepted(Agent, "math")) === true && (await isAccepted(RemoteMCPServer, "tools")) === true,
  );
  expect((await store.tools()).map(({ name }) => name)).toEqual(["b", "a"]);
  expect(await client.find(Deployment, "math", { namespace })).toBeDefined();
  expect((await store.agents()).map(({ id }) => id)).toEqual(["default__NS__math"]);
  await client.delete(RemoteMCPServer, "tools", { namespace });
  await client.delete(Agent, "math", { namespace });
  await until(async () => (await store.servers()).length + (await store.agents()).length === 0);
});

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await systemClock.sleep(100);
}
