// The effect of a hostile tenant on honest ones: 67 clients of two tenants create, read, change and delete, first
// alone, then beside 33 attacking clients of a third tenant; then the server restarts on its data directory, and must
// have everything that it acknowledged. TENANTS_SECONDS is the duration of the attack (20 by default); the honest
// clients alone take at most a minute. Fails with the verdict.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Caller } from "./caller.mjs";
import { HONEST, Honest } from "./honest.mjs";
import { soakModule } from "./soak-module.mjs";

const SECONDS = Number(process.env.TENANTS_SECONDS ?? 20);
const ALONE_SECONDS = Math.min(SECONDS, 60);
const HOSTILE = { namespace: "hostile", users: ["zero", "editor", "patcher"] };
/** The goal for the honest p99 beside the hostile tenant. */
const GOAL_MS = 100;
const GOAL_RATIO = 2;
/** The goal for the server's memory: its own, and two threads of 1.5 GiB that parse the largest bodies. */
const MEMORY_MB = 4_000;

const USERS = { admin: ["system:masters"] };
for (const name of [...HONEST, ...HOSTILE.users]) USERS[name] = [];

export async function measure() {
  const dataDir = mkdtempSync(join(tmpdir(), "tenants-"));
  try {
    return await measured(dataDir);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measured(dataDir) {
  const honest = new Honest();
  let server = await started(dataDir);
  await prepare(server.port);
  await honest.run(server.port, 2);
  await memoryOf(server);
  const alone = await honest.run(server.port, ALONE_SECONDS);
  const memoryBefore = await memoryOf(server);
  const tokens = Object.fromEntries(HOSTILE.users.map((name) => [name, `${name}-token`]));
  const attacked = JSON.stringify({ port: server.port, tokens, namespace: HOSTILE.namespace });
  const hostile = fork(new URL("hostile.mjs", import.meta.url), [attacked]);
  const beside = await honest.run(server.port, SECONDS);
  const memory = await memoryOf(server);
  hostile.send("counts");
  const [{ counts, achieved }] = await once(hostile, "message");
  hostile.kill();
  await stopped(server);
  server = await started(dataDir);
  const missing = await honest.missing(server.port);
  await stopped(server);
  console.error(`attacks: ${JSON.stringify(counts)}`);
  console.error(`lines in the server's log: ${memory.errors} ${memory.lines.join("\n")}`);
  console.error(`honest requests: ${alone.times.length} alone, ${beside.times.length} beside`);
  const p99 = [quantile(beside.times, 0.99), quantile(alone.times, 0.99)];
  const failures = [
    ...Object.entries(achieved).map(([name, what]) => `${name}: ${what}`),
    ...beside.wrong.map((each) => `an honest request failed: ${each}`),
    ...(p99[0] > Math.max(GOAL_MS, GOAL_RATIO * p99[1]) ? [`the honest p99 is ${p99[0].toFixed(1)} ms`] : []),
    ...(memory.peakRss > MEMORY_MB * 1e6 ? [`the server took ${Math.round(memory.peakRss / 1e6)} MB`] : []),
    ...(missing > 0 ? [`${missing} acknowledged objects are missing after a restart`] : []),
  ];
  console.error(failures.length === 0 ? "verdict: it held" : `verdict: it did not hold\n  ${failures.join("\n  ")}`);
  if (failures.length > 0) process.exitCode = 1;
  return [
    row("p50 of honest requests", "ms", quantile(beside.times, 0.5), quantile(alone.times, 0.5)),
    row("p99 of honest requests", "ms", ...p99),
    row("longest honest request", "ms", quantile(beside.times, 1), quantile(alone.times, 1)),
    row("longest turn of the event loop, processor time", "ms", memory.turnMs ?? 0, memoryBefore.turnMs ?? 0),
    row("peak memory of the server", "MB", memory.peakRss / 1e6, memoryBefore.peakRss / 1e6),
    row("lost or refused", "requests", beside.lost, alone.lost),
    row(`missing after a restart, of ${honest.kept.size}`, "objects", missing, 0),
  ];
}

function row(metric, unit, ours, theirs) {
  const rounded = (value, digits) => Math.round(value * 10 ** digits) / 10 ** digits;
  return {
    metric,
    unit,
    ours: rounded(ours, 1),
    peer: "alone",
    theirs: rounded(theirs, 1),
    ratio: theirs === 0 ? 0 : rounded(ours / theirs, 2),
  };
}

async function started(dataDir) {
  const server = fork(new URL("server.mjs", import.meta.url), [dataDir, JSON.stringify(USERS)]);
  const [{ port }] = await once(server, "message");
  server.port = port;
  return server;
}

async function stopped(server) {
  server.send("stop");
  await once(server, "exit");
}

async function memoryOf(server) {
  server.send("memory");
  const [memory] = await once(server, "message");
  return memory;
}

/** The namespaces of the tenants, with the permissions of their users. */
async function prepare(port) {
  const { preparation } = await soakModule("attack-preparation.ts");
  const group = "rbac.authorization.k8s.io";
  const subject = (name) => ({ kind: "User", name, apiGroup: group });
  const admin = new Caller(port, "admin", 1);
  const hostile = Object.fromEntries(HOSTILE.users.map((name) => [name, subject(name)]));
  const objects = [...preparation(HOSTILE.namespace, hostile)];
  for (const name of HONEST) {
    const roleRef = { apiGroup: group, kind: "ClusterRole", name: "edit" };
    objects.push(["/api/v1/namespaces", { metadata: { name } }]);
    objects.push([
      `/apis/${group}/v1/namespaces/${name}/rolebindings`,
      { metadata: { name: "edit" }, roleRef, subjects: [subject(name)] },
    ]);
  }
  for (const [path, object] of objects) {
    const { status, text } = await admin.send("POST", path, object);
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
  }
  admin.close();
}

function quantile(times, part) {
  const sorted = [...times].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
