import type { KubeObject } from "setpoint";
import { Deployment } from "setpoint/kinds/apps/v1";
import { ConfigMap, Secret, Service, ServiceAccount } from "setpoint/kinds/v1";
import { expect, it } from "vitest";
import { secretHash } from "./controllers/shared.js";
import { Agent } from "./kinds/agent.js";
import { MCPServer } from "./kinds/mcp-server.js";
import { ModelConfig } from "./kinds/model-config.js";
import { NS, virtualPlace } from "./place.testing.js";
import { DEFAULT_SETTINGS } from "./translate/settings.js";
import { translateAgent } from "./translate/translate.js";
import { World } from "./world.testing.js";

const KINDS: Readonly<Record<string, unknown>> = { Deployment, Secret, Service, ServiceAccount, ConfigMap };
const inNs = { namespace: NS };

it("children of kagent and kmcp are taken over unchanged: no pod rolls, and nothing is recreated", async () => {
  const env = await virtualPlace.environment();
  const { client } = env;
  const create = (kind: unknown, object: unknown): Promise<KubeObject> =>
    client.create(kind as never, object as never) as Promise<KubeObject>;
  const named = (name: string, more: object = {}) => ({ name, namespace: NS, ...more });
  const data = { k: Buffer.from("sk-value").toString("base64") };
  await create(Secret, { metadata: named("key"), data });
  const model = { provider: "OpenAI", model: "m", apiKeySecret: "key", apiKeySecretKey: "k" };
  await create(ModelConfig, { metadata: named("model"), spec: model });
  const status = { secretHash: secretHash([{ key: `${NS}/key`, data }]) };
  const options = { ...inNs, subresource: "status" } as const;
  await client.patch(ModelConfig, "model", { type: "merge", body: { status } }, options);
  const agent = await create(Agent, {
    metadata: named("math", { annotations: { note: "copied to all that kagent made" } }),
    spec: { type: "Declarative", declarative: { systemMessage: "m", modelConfig: "model" } },
  });
  const objects = { find: (kind: never, name: string) => client.find(kind, name, inNs) };
  const settings = { ...DEFAULT_SETTINGS, inheritAnnotations: true };
  const { manifest } = await translateAgent(objects as never, agent as Agent, settings);
  for (const child of manifest) await create(KINDS[String(child.kind)], child);
  const spec = { transportType: "stdio", deployment: { cmd: "npx", args: ["-y", "server"] } };
  const server = await create(MCPServer, { metadata: named("tools"), spec });
  // kmcp does not set `controller` on its owner references.
  const ownerReferences = [
    { apiVersion: "kagent.dev/v1alpha1", kind: "MCPServer", name: "tools", uid: server.metadata.uid },
  ];
  const ports = [{ name: "http", port: 3000, targetPort: 3000 }];
  await create(Service, { metadata: named("tools", { ownerReferences }), spec: { ports } });
  const uids = async () =>
    (
      await Promise.all(
        ["Deployment", "Secret", "Service"].map((kind) => client.get(KINDS[kind] as never, "math", inNs)),
      )
    )
      .concat((await client.get(Service, "tools", inNs)) as never)
      .map((object) => (object as KubeObject).metadata.uid);
  const before = await uids();
  const workload = (await client.get(Deployment, "math", inNs)).spec;
  await using world = await World.create({}, { ...virtualPlace, environment: async () => env });
  await world.env.advance("1m");
  expect(await world.accepted(Agent, "math")).toBe("True Reconciled");
  expect(await world.condition(MCPServer, "tools", "Programmed")).toMatchObject({ status: "True" });
  expect(await uids()).toEqual(before);
  expect((await world.deployment("math"))?.spec).toEqual(workload);
  expect(world.writes.filter((write) => write.startsWith("DELETE"))).toEqual([]);
});
