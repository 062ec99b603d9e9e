// The agents operator beside hanging servers: 1,000 of them on as many hosts, each tried once; then a healthy one and
// an Agent are created while the others are retried. And 500 Agents that share a ModelConfig whose Secret rotates. The
// control plane and the servers run in another process, so that only the operator's event loop is measured. "peer" is
// the limit that the operator must keep.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  Agent,
  agents,
  installKinds,
  ModelConfig,
  openStore,
  RemoteMCPServer,
} from "../../operators/agents/dist/index.js";
import { systemClock } from "../../packages/setpoint/dist/clock/index.js";
import { connect } from "../../packages/setpoint/dist/index.js";
import { Deployment } from "../../packages/setpoint/dist/kinds/builtin/apps/v1.js";
import { Secret } from "../../packages/setpoint/dist/kinds/builtin/v1.js";
import { Manager } from "../../packages/setpoint/dist/manager/index.js";

const HUNG = 1_000;
const AGENTS = 500;
const namespace = "default";

export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), "agents-bench-"));
  const outside = spawn(process.execPath, [fileURLToPath(new URL("outside.mjs", import.meta.url)), folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [line] = await new Promise((resolve) =>
      createInterface({ input: outside.stdout }).once("line", (...got) => resolve(got)),
    );
    const place = JSON.parse(line);
    return [...(await besideHungServers(place)), ...(await rotation(place))];
  } finally {
    outside.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

const create = (client, kind, name, spec) => client.create(kind, { metadata: { name, namespace }, spec });
const remote = (url) => ({ description: "d", url, timeout: "30s" });
const isAccepted = ({ status }) =>
  status?.conditions?.some(({ type, status: value }) => type === "Accepted" && value === "True");
const accepted = async (client, kind, name) => isAccepted(await client.get(kind, name, { namespace }));

async function startOperator(kubeconfig) {
  const client = await connect({ kubeconfig });
  const store = await openStore(":memory:", systemClock);
  const manager = new Manager({ client, grace: "1s" });
  // Shorter than the timeout: as soon as all were tried, all are queued again.
  manager.add(agents({ store, admission: false, refresh: "20s" }));
  await manager.start();
  return { client, manager, store };
}

async function besideHungServers({ kubeconfig, hung, healthy }) {
  const admin = await connect({ kubeconfig });
  await installKinds(admin);
  await until(async () => (await admin.list(RemoteMCPServer).catch(() => undefined)) !== undefined);
  await admin.create(Secret, { metadata: { name: "key", namespace }, stringData: { k: "sk-value-0" } });
  await create(admin, ModelConfig, "model", {
    provider: "OpenAI",
    model: "m",
    apiKeySecret: "key",
    apiKeySecretKey: "k",
  });
  for (let at = 0; at < HUNG; at++)
    await create(admin, RemoteMCPServer, `hung-${at}`, remote(`http://127.1.${at >> 8}.${at & 255}:${hung}/mcp`));
  const lag = monitorEventLoopDelay({ resolution: 5 });
  let operator = await startOperator(kubeconfig);
  const triedMs = await time(() =>
    until(async () => {
      const { items } = await admin.list(RemoteMCPServer, { namespace });
      return items.every(({ status }) =>
        status?.conditions?.some(({ type, reason }) => type === "Accepted" && reason === "Timeout"),
      );
    }),
  );
  lag.enable();
  const healthyMs = await time(async () => {
    await create(admin, RemoteMCPServer, "healthy", remote(`http://127.0.0.1:${healthy}/mcp`));
    await until(() => accepted(admin, RemoteMCPServer, "healthy"));
  });
  const agentMs = await time(async () => {
    await create(admin, Agent, "first", {
      type: "Declarative",
      declarative: { systemMessage: "m", modelConfig: "model" },
    });
    await until(() => accepted(admin, Agent, "first"));
  });
  await systemClock.sleep(5_000);
  lag.disable();
  await operator.manager.stop();
  const cold = monitorEventLoopDelay({ resolution: 5 });
  cold.enable();
  // A new uid, so that the operator knows nothing about it: the last of 1,001 by name and creation.
  await admin.delete(RemoteMCPServer, "healthy", { namespace });
  await create(admin, RemoteMCPServer, "healthy", remote(`http://127.0.0.1:${healthy}/mcp`));
  const coldMs = await time(async () => {
    operator = await startOperator(kubeconfig);
    await until(() => accepted(admin, RemoteMCPServer, "healthy"));
  });
  cold.disable();
  // Most of the others are being asked at this moment, and hang.
  const stopMs = await time(() => operator.manager.stop());
  for (let at = 0; at < HUNG; at++) await admin.delete(RemoteMCPServer, `hung-${at}`, { namespace });
  await admin.delete(Agent, "first", { namespace });
  return [
    row(`${HUNG} hung servers, each tried once (timeout 30 s)`, "s", triedMs / 1_000, "", Number.NaN),
    row("a healthy server is Accepted after", "ms", healthyMs, "limit", 1_000),
    row("an Agent is Accepted after", "ms", agentMs, "limit", 1_000),
    row("event-loop lag p99 meanwhile", "ms", lag.percentile(99) / 1e6 - 5, "limit", 50),
    row(`cold start of ${HUNG + 1}: the healthy one is Accepted after`, "ms", coldMs, "", Number.NaN),
    row("event-loop lag p99 of the cold start", "ms", cold.percentile(99) / 1e6 - 5, "", Number.NaN),
    row("stop with discoveries under way [9]", "ms", stopMs, "limit", 2_000),
  ];
}

async function rotation({ kubeconfig }) {
  const admin = await connect({ kubeconfig });
  const { manager } = await startOperator(kubeconfig);
  const spec = { type: "Declarative", declarative: { systemMessage: "m", modelConfig: "model" } };
  for (let at = 0; at < AGENTS; at++) await create(admin, Agent, `a-${at}`, spec);
  await until(async () => (await admin.list(Agent, { namespace })).items.every(isAccepted));
  await systemClock.sleep(25_000);
  const generations = async () =>
    new Map(
      (await admin.list(Deployment, { namespace })).items.map(({ metadata }) => [metadata.name, metadata.generation]),
    );
  const before = await generations();
  const runsOf = () => [...manager.timeline.runs()].filter(({ controller }) => controller === "agents");
  const last = Math.max(0, ...runsOf().map(({ id }) => id));
  let seen = 0;
  const startedMs = performance.now();
  await admin.patch(Secret, "key", { type: "merge", body: { stringData: { k: "sk-value-1" } } }, { namespace });
  await until(async () => {
    const now = await generations();
    return [...before].every(([name, generation]) => now.get(name) > generation);
  });
  const tookMs = performance.now() - startedMs;
  await systemClock.sleep(3_000);
  const since = runsOf().filter(({ id }) => id > last);
  const writes = since.reduce((sum, run) => sum + (run.writes?.length ?? 0), 0);
  const changes = [...(await generations())].map(([name, generation]) => generation - (before.get(name) ?? 0));
  seen = since.length;
  await manager.stop();
  return [
    row(`${AGENTS} Agents, their key rotates: all Deployments changed after`, "ms", tookMs, "", Number.NaN),
    row("reconciles of each Agent", "", seen / AGENTS, "limit", 1),
    row("changes of each Deployment", "", changes.reduce((sum, each) => sum + each, 0) / AGENTS, "limit", 1),
    row("write requests of each Agent", "", writes / AGENTS, "", Number.NaN),
  ];
}

function row(metric, unit, ours, peer, theirs) {
  const rounded = (value) => (Number.isNaN(value) ? "" : Math.round(value * 100) / 100);
  return { metric, unit, ours: rounded(ours), peer, theirs: rounded(theirs), ratio: rounded(ours / theirs) };
}

async function time(work) {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

async function until(isTrue) {
  while (!(await isTrue())) await systemClock.sleep(20);
}
