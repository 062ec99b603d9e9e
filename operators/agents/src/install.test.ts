import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { controlPlane } from "@setpoint/control-plane";
import { connect } from "setpoint";
import { systemClock } from "setpoint/clock";
import { Namespace, Secret, Service, ServiceAccount } from "setpoint/kinds/v1";
import { Manager } from "setpoint/manager";
import { expect, it } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { agents } from "./agents-app.js";
import { openStore } from "./database/open-store.js";
import { startStreamable } from "./discovery/mcp-servers.testing.js";
import { Agent } from "./kinds/agent.js";
import { MCPServer } from "./kinds/mcp-server.js";
import { ModelConfig } from "./kinds/model-config.js";
import { ModelProviderConfig } from "./kinds/model-provider-config.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { agentsOperator } from "./operator.js";

const COMMAND = fileURLToPath(new URL("../../../packages/setpoint/bin/setpoint.js", import.meta.url));
const setpoint = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, [COMMAND, ...args], { maxBuffer: 1e8 })).stdout;
const documents = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Manifest);

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly template?: { readonly spec: { readonly containers: readonly Container[] } } };
}
interface Conditioned {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly reason: string }[] };
}
interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
}

it("the installation configures the operator's database, address and webhooks", async () => {
  const args = ["rbac", "agents", "--install", "--image", "example.com/setpoint:1", "--namespace", "kagent"];
  const container = async (...more: readonly string[]) => {
    const found = documents(await setpoint(...args, ...more));
    expect(found.filter(({ kind }) => kind === "Service").map(({ metadata }) => metadata.name)).toContain(
      "kagent-controller",
    );
    return found.find(({ kind }) => kind === "Deployment")!.spec!.template!.spec.containers[0]!;
  };
  const without = await container();
  expect(without.args).toEqual(
    expect.arrayContaining(["--leader-elect", "--api-bind-address=:8083", "--without-admission"]),
  );
  expect(without.env).toContainEqual({
    name: "SETPOINT_AGENTS_DATABASE",
    valueFrom: { secretKeyRef: { name: "agents-database", key: "url" } },
  });
  const webhooks = await container("--webhook-service", "kagent/agents-webhooks");
  expect(webhooks.args).not.toContain("--without-admission");
  expect(webhooks.env).toContainEqual({ name: "SETPOINT_WEBHOOK_SERVICE", value: "kagent/agents-webhooks" });
  const crds = documents(await setpoint("crds", "agents"));
  expect(crds.map(({ metadata }) => metadata.name)).toContain("agents.kagent.dev");
});

it("several replicas without PostgreSQL are refused at the start", async () => {
  const values = { database: "agents.db", "leader-elect": true };
  await expect(agentsOperator.start(values, {})).rejects.toThrow("--database postgres://");
});

it("the permissions of the installation suffice", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agents-install-"));
  await using plane = await controlPlane({ listen: { host: "127.0.0.1", port: 0 } });
  const admin = plane.client;
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const kubeconfig = file("admin", plane.kubeconfig!);
  const apply = (name: string, text: string): Promise<string> =>
    setpoint("apply", "--kubeconfig", kubeconfig, "-f", file(name, text));
  await apply("crds.yaml", await setpoint("crds", "agents"));
  await apply("install.yaml", await setpoint("rbac", "agents", "--install", "--image", "i", "--namespace", "kagent"));
  await admin.create(Namespace, { metadata: { name: "team" } });
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const request = admin.createSubresource<{ status: { token: string } }>(ServiceAccount, "agents", {
    subresource: "token",
    body,
    namespace: "kagent",
  });
  const { token } = (await request).status;
  const { users, ...config } = parse(plane.kubeconfig!) as { users: readonly { name: string }[] };
  const account = { ...config, users: users.map(({ name }) => ({ name, user: { token } })) };
  const asAccount = file("account", stringify(account));
  await using client = await connect({ kubeconfig: asAccount });
  await using store = await openStore(":memory:", systemClock);
  await using mcp = await startStreamable({ tools: () => [{ name: "t" }] });
  await using manager = new Manager({ client, grace: "1s" });
  manager.add(agents({ store, admission: false }));
  await manager.start();
  const inTeam = (name: string) => ({ metadata: { name, namespace: "team" } });
  await admin.create(Secret, { ...inTeam("key"), stringData: { k: "v" } });
  const model = { provider: "OpenAI", model: "m", apiKeySecret: "key", apiKeySecretKey: "k" };
  await admin.create(ModelConfig, { ...inTeam("model"), spec: model } as never);
  const spec = { type: "Declarative", declarative: { systemMessage: "m", modelConfig: "model" } };
  await admin.create(Agent, { ...inTeam("math"), spec } as never);
  await admin.create(RemoteMCPServer, { ...inTeam("remote"), spec: { description: "d", url: mcp.url } } as never);
  const transport = { transportType: "stdio", deployment: { image: "i", cmd: "c" } };
  await admin.create(MCPServer, { ...inTeam("local"), spec: transport } as never);
  await admin.create(ModelProviderConfig, {
    ...inTeam("provider"),
    spec: { type: "Ollama", endpoint: mcp.url },
  } as never);
  const labels = { "kagent.dev/mcp-service": "true" };
  const ports = [{ port: 1 }, { name: "b", port: 2 }].map((port, at) => ({ name: `p${at}`, ...port }));
  await admin.create(Service, { metadata: { ...inTeam("svc").metadata, labels }, spec: { ports } } as never);
  const expected = [
    [Agent, "math", "Accepted", "Reconciled"],
    [RemoteMCPServer, "remote", "Accepted", "Reconciled"],
    [ModelConfig, "model", "Accepted", "ModelConfigReconciled"],
    [ModelProviderConfig, "provider", "ModelsDiscovered", "DiscoveryFailed"],
    [MCPServer, "local", "Programmed", "Programmed"],
    [Service, "svc", "kagent.dev/ToolsDiscovered", "InvalidSpec"],
  ] as const;
  for (const [kind, name, type, reason] of expected) {
    const found = async () => {
      const { status } = (await admin.get(kind as never, name, { namespace: "team" })) as Conditioned;
      return status?.conditions?.find((condition) => condition.type === type)?.reason;
    };
    await expect.poll(found, { timeout: 20_000, message: `${kind.kind} ${type}` }).toBe(reason);
  }
  rmSync(folder, { recursive: true });
});
