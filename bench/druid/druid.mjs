// The Druid operator on a real kube-apiserver with its controller manager: the time until all children of 20 and 200
// clusters exist, and the requests, CPU time and memory of the operator, which is a separate process. "peer" is
// druid-operator (HEAD of February 2026) as measured for 20 clusters on the same kind of machine; it cannot be built
// here, so the two sides are from different runs. The clusters are those of its smoke test, 16 children each. Fails
// with the verdict, which covers 20 clusters, and the clusters beside one that changes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { Druid, DruidIngestion } from "../../operators/druid/dist/index.js";
import { connect } from "../../packages/setpoint/dist/index.js";
import { CustomResourceDefinition } from "../../packages/setpoint/dist/kinds/builtin/apiextensions.k8s.io/v1.js";
import { Deployment, StatefulSet } from "../../packages/setpoint/dist/kinds/builtin/apps/v1.js";
import { HorizontalPodAutoscaler } from "../../packages/setpoint/dist/kinds/builtin/autoscaling/v2.js";
import { Ingress } from "../../packages/setpoint/dist/kinds/builtin/networking.k8s.io/v1.js";
import { PodDisruptionBudget } from "../../packages/setpoint/dist/kinds/builtin/policy/v1.js";
import { ConfigMap, Namespace, Service } from "../../packages/setpoint/dist/kinds/builtin/v1.js";
import { startKubernetes } from "../../tools/kubernetes/start.mjs";
import { freePort } from "../../tools/ports/free-port.mjs";

/** For 20 clusters; no figures of druid-operator are known for 200. */
const ORIGINAL = { seconds: 10.8, requests: 713, cpu: 1.5, steadyRequests: 0, steadyCpu: 0.34, memory: 50 };
/**
 * The limits for 20 clusters: requests, a tenth of the original's steady CPU and twice its memory. Times are only
 * printed.
 */
const LIMITS = {
  "requests until quiet": 480,
  "requests in a steady minute": 0,
  "CPU in a steady minute": ORIGINAL.steadyCpu / 10,
  "resident memory": ORIGINAL.memory * 2,
};
const CHILDREN = [ConfigMap, Service, StatefulSet, Deployment, HorizontalPodAutoscaler, PodDisruptionBudget, Ingress];
const PER_CLUSTER = 16;
const STEADY_MS = Number(process.env.DRUID_STEADY_MS ?? 60_000);
const COUNTS = (process.env.DRUID_CLUSTERS ?? "20,200").split(",").map(Number);
const cli = fileURLToPath(new URL("../../packages/setpoint/bin/setpoint.js", import.meta.url));
const fixture = fileURLToPath(
  new URL("../../../shared/fixtures/druid/inputs/druid-smoke-test-cluster.yaml", import.meta.url),
);

export async function measure() {
  const rows = [];
  for (const count of COUNTS) rows.push(...(await clusters(count)));
  const failures = rows.flatMap(({ metric, ours, unit }) => {
    const limit = /touched by one/.test(metric) ? 0 : LIMITS[metric.replace(/^20 clusters: /, "")];
    return limit === undefined || ours <= limit ? [] : [`${metric}: ${ours} ${unit}, of ${limit} at most`];
  });
  console.error(failures.length === 0 ? "verdict: it held" : `verdict: it did not hold\n  ${failures.join("\n  ")}`);
  if (failures.length > 0) process.exitCode = 1;
  return rows;
}

async function clusters(count) {
  if (!existsSync(fixture)) throw new Error(`${fixture} is absent: it is what is measured`);
  const { spec } = parseAllDocuments(readFileSync(fixture, "utf8"))[0].toJS();
  const server = await startKubernetes({ controllerManager: true });
  const admin = await connect({ kubeconfig: server.kubeconfig });
  for (const kind of [Druid, DruidIngestion]) await admin.create(CustomResourceDefinition, kind.crd());
  await until(async () => (await admin.list(DruidIngestion).catch(() => undefined)) !== undefined);
  await admin.create(Namespace, { metadata: { name: "bench" } });
  const [metrics, health] = [await freePort(), await freePort()];
  const args = [
    cli,
    "run",
    "druid",
    "--kubeconfig",
    server.kubeconfig,
    "--metrics-bind-address",
    `127.0.0.1:${metrics}`,
    "--health-probe-bind-address",
    `127.0.0.1:${health}`,
  ];
  const operator = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  try {
    const requests = () => requestsOf(metrics);
    await until(() => isReady(health));
    await quiet(requests, 3_000);
    const before = { requests: await requests(), cpu: cpuSeconds(operator.pid), ms: performance.now() };
    await inParallel(count, (at) => admin.create(Druid, { metadata: { name: `c${at}`, namespace: "bench" }, spec }));
    await until(async () => (await childrenOf(admin)) === count * PER_CLUSTER);
    const seconds = (performance.now() - before.ms) / 1000;
    await quiet(requests, 8_000);
    const after = { requests: await requests(), cpu: cpuSeconds(operator.pid) };
    await pause(STEADY_MS);
    if (process.env.DRUID_BREAKDOWN) console.error(await breakdown(metrics));
    const steady = { requests: await requests(), cpu: cpuSeconds(operator.pid) };
    const minutes = STEADY_MS / 60_000;
    const patched = { type: "merge", body: { spec: { "common.runtime.properties": "druid.zk.service.host=other" } } };
    const untouched = await versions(admin, (name) => !belongs(name, "c0"));
    await admin.patch(Druid, "c0", patched, { namespace: "bench" });
    await quiet(requests, 5_000);
    const others = await versions(admin, (name) => !belongs(name, "c0"));
    const touched = [...untouched].filter(([name, version]) => others.get(name) !== version).length;
    const theirs = count === 20 ? ORIGINAL : {};
    return [
      row(`${count} clusters: all ${count * PER_CLUSTER} children exist after`, "s", seconds, theirs.seconds),
      row(`${count} clusters: requests until quiet`, "", after.requests - before.requests, theirs.requests),
      row(`${count} clusters: CPU for it`, "s", after.cpu - before.cpu, theirs.cpu),
      row(
        `${count} clusters: requests in a steady minute`,
        "",
        (steady.requests - after.requests) / minutes,
        theirs.steadyRequests,
      ),
      row(`${count} clusters: CPU in a steady minute`, "s", (steady.cpu - after.cpu) / minutes, theirs.steadyCpu),
      row(`${count} clusters: resident memory`, "MB", residentMb(operator.pid), theirs.memory),
      row(`${count} clusters: children of others touched by one's new common configuration`, "", touched, undefined),
    ];
  } finally {
    operator.kill("SIGKILL");
    await once(operator, "exit");
    await admin[Symbol.asyncDispose]();
    await server.stop();
  }
}

function row(metric, unit, ours, theirs) {
  const ratio = theirs ? Number((ours / theirs).toPrecision(3)) : Number.NaN;
  return {
    metric,
    unit,
    ours: Number(ours.toPrecision(4)),
    peer: "druid-operator",
    theirs: theirs ?? Number.NaN,
    ratio,
  };
}

const belongs = (name, cluster) => new RegExp(`(^|-)${cluster}-`).test(name);

async function childrenOf(admin) {
  return (await versions(admin, () => true)).size;
}

/**
 * The generation of each child, or its resourceVersion if it has none, by kind and name. Status writes of controllers
 * do not count.
 */
async function versions(admin, isMeant) {
  const lists = await Promise.all(
    CHILDREN.map((kind) => admin.list(kind, { namespace: "bench", labelSelector: "app=druid" })),
  );
  const found = lists.flatMap(({ items }, at) =>
    items.map(({ metadata }) => [
      `${CHILDREN[at].kind} ${metadata.name}`,
      metadata.generation ?? metadata.resourceVersion,
    ]),
  );
  return new Map(found.filter(([id]) => isMeant(id.split(" ")[1])));
}

async function isReady(port) {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
  return answer?.ok === true;
}

/** All requests of the operator except watches, as counted by its own metrics. */
async function requestsOf(port) {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith("kubernetes_client_requests_total{"));
  return lines
    .filter((line) => !line.includes('verb="watch"'))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}

async function breakdown(port) {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return text
    .split("\n")
    .filter((line) => /^kubernetes_client_requests_total/.test(line) && !line.includes('"watch"'))
    .join("\n");
}

async function quiet(count, ms) {
  for (let last = -1; ; ) {
    const now = await count();
    if (now === last) return;
    last = now;
    await pause(ms);
  }
}

function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function residentMb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
}

async function inParallel(count, work) {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

async function until(isTrue) {
  while (!(await isTrue())) await pause(50);
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
