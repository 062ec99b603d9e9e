import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { controlPlane } from "@setpoint/control-plane";
import type { Client } from "setpoint";
import { type Random, seededRandom, systemClock } from "setpoint/clock";
import { Deployment } from "setpoint/kinds/apps/v1";
import { Secret } from "setpoint/kinds/v1";
import { expect } from "vitest";
import { openStore } from "./database/open-store.js";
import { startStreamable } from "./discovery/mcp-servers.testing.js";
import { Agent } from "./kinds/agent.js";
import { ModelConfig } from "./kinds/model-config.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { installKinds } from "./samples.js";

const COMMAND = fileURLToPath(new URL("../../../packages/setpoint/bin/setpoint.js", import.meta.url));
const namespace = "default";

/** Kills a real operator process this many times at random while users make changes and servers hang. */
export async function killRounds(rounds: number, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), "agents-kill-"));
  await using plane = await controlPlane({ listen: { host: "127.0.0.1", port: 0 } });
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, plane.kubeconfig!);
  const database = join(folder, "agents.db");
  const hung = createServer(() => {});
  await new Promise<void>((resolve) => hung.listen(0, "127.0.0.1", resolve));
  const hungUrl = `http://127.0.0.1:${(hung.address() as { port: number }).port}/mcp`;
  let version = 0;
  await using server = await startStreamable({
    tools: () => [{ name: `tool-${version}`, description: "" }, { name: "same" }],
  });
  const { client } = plane;
  await installKinds(client);
  await client.create(Secret, { metadata: { name: "key", namespace }, stringData: { k: "sk-value-0" } });
  const spec = { provider: "OpenAI", model: "m", apiKeySecret: "key", apiKeySecretKey: "k" };
  await client.create(ModelConfig, { metadata: { name: "model", namespace }, spec } as never);
  try {
    for (let round = 0; round < rounds; round++) {
      version = round;
      const running = start(kubeconfig, database);
      await change(client, random, round, server.url, hungUrl);
      await systemClock.sleep(300 + random.next() * 2_500);
      running.kill("SIGKILL");
      await ended(running);
    }
    const last = start(kubeconfig, database);
    await until(() => isSettled(client, database));
    const before = await revisions(client);
    await systemClock.sleep(3_000);
    expect(await revisions(client)).toEqual(before);
    last.kill("SIGKILL");
    await ended(last);
  } finally {
    hung.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function start(kubeconfig: string, database: string): ChildProcess {
  const args = [
    COMMAND,
    "run",
    "agents",
    "--kubeconfig",
    kubeconfig,
    "--database",
    database,
    "--refresh-interval",
    "1s",
  ];
  return spawn(
    process.execPath,
    [
      ...args,
      ...["--api-bind-address", "--health-probe-bind-address", "--metrics-bind-address"].flatMap((flag) => [flag, "0"]),
      "--without-admission",
    ],
    { stdio: "ignore" },
  );
}

const ended = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()));

/** Servers and agents are created, deleted and recreated; the key rotates. */
async function change(client: Client, random: Random, round: number, url: string, hungUrl: string): Promise<void> {
  const name = `s-${Math.floor(random.next() * 6)}`;
  const found = await client.find(RemoteMCPServer, name, { namespace });
  if (found) await client.delete(RemoteMCPServer, name, { namespace });
  else {
    const spec = { description: "d", url: random.next() < 0.3 ? hungUrl : url, timeout: "2s" };
    await client.create(RemoteMCPServer, { metadata: { name, namespace }, spec } as never);
  }
  const agent = `a-${Math.floor(random.next() * 4)}`;
  if (await client.find(Agent, agent, { namespace })) await client.delete(Agent, agent, { namespace });
  else {
    const spec = { type: "Declarative", declarative: { systemMessage: `round ${round}`, modelConfig: "model" } };
    await client.create(Agent, { metadata: { name: agent, namespace }, spec } as never);
  }
  const body = { stringData: { k: `sk-value-${round}` } };
  if (random.next() < 0.3) await client.patch(Secret, "key", { type: "merge", body }, { namespace });
}

async function isSettled(client: Client, database: string): Promise<boolean> {
  await using store = await openStore(database, systemClock);
  const servers = (await client.list(RemoteMCPServer, { namespace })).items;
  const agents = (await client.list(Agent, { namespace })).items;
  const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  const sorted = (list: readonly unknown[]): readonly unknown[] => [...list].map((each) => JSON.stringify(each)).sort();
  const rows = await store.servers();
  const tools = await store.tools();
  return (
    isSame(sorted(rows.map(({ uid }) => uid)), sorted(servers.map(({ metadata }) => metadata.uid))) &&
    isSame(sorted((await store.agents()).map(({ uid }) => uid)), sorted(agents.map(({ metadata }) => metadata.uid))) &&
    servers.every(({ metadata, status }) => {
      const own = tools.filter(({ server }) => server === `${namespace}/${metadata.name}`).map(({ name }) => name);
      const isKnown =
        status?.conditions?.some(({ type, status: value }) => type === "Accepted" && value !== "Unknown") ?? false;
      return isKnown && isSame(own, status?.discoveredTools?.map(({ name }) => name) ?? []);
    }) &&
    agents.every(({ status }) =>
      status?.conditions?.some(({ type, status: value }) => type === "Accepted" && value === "True"),
    )
  );
}

async function revisions(client: Client): Promise<readonly string[]> {
  const lists = await Promise.all(
    [Agent, RemoteMCPServer, ModelConfig, Deployment, Secret].map(
      async (kind) => (await client.list(kind as never, { namespace })).items,
    ),
  );
  return lists.flat().map((object) => {
    const { kind, metadata } = object as { kind: string; metadata: { name: string; resourceVersion: string } };
    return `${kind} ${metadata.name} ${metadata.resourceVersion}`;
  });
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const limit = systemClock.monotonic() + 120_000;
  while (!(await isTrue())) {
    if (systemClock.monotonic() > limit) throw new Error("rows and objects did not come to agree");
    await systemClock.sleep(500);
  }
}
