// 500 Deployments and 100 StatefulSets of one pod each, from their creates until all are available: the embedded control
// plane beside kube-apiserver + etcd + kube-controller-manager, both over HTTPS, both with fsync, both freshly started
// for each round, with pods made ready by the same script on both sides; medians. Then ours alone once more as tests use
// it: in one process, in memory, in virtual time, with pods that are simulated; beside the same peer, which has no
// other way. The peer's limit of 20 requests a second is lifted: it would be all that is measured.
// First of all, an operator's 500 clusters of eight children in one namespace beside 100, in virtual time: the time for one
// cluster must not grow with their number (at most 1.3 times). BENCH_ONLY=clusters ends there; the rest needs kube-apiserver.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { load, once } from "../control-plane/loader.mjs";
import { processorSeconds, residentMb, startPeer, startSetpoint } from "../control-plane/targets.mjs";
import { compare, judged } from "../report.mjs";
import { interleaved, onFresh } from "../rounds.mjs";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const DEPLOYMENTS = Number(process.env.BENCH_DEPLOYMENTS ?? 500);
const STATEFUL_SETS = Math.round(DEPLOYMENTS / 5);
const CONNECTIONS = 8;
const PEER = "kube-apiserver 1.36 + etcd 3.6 + kube-controller-manager 1.36";
const SIMULATION = fileURLToPath(new URL("simulation.mjs", import.meta.url));
const CLUSTERS = fileURLToPath(new URL("clusters.mjs", import.meta.url));
const [MANY, FEW] = [500, 100];
/** The limit for the time per cluster with many clusters, relative to few. */
const GROWTH = 1.3;
const DEADLINE_MS = 300_000;

const CONTROLLERS =
  "replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,disruptionbudgets,endpointslices,endpoints";
const UNLIMITED = ["--kube-api-qps=10000", "--kube-api-burst=10000"];

const NAMESPACE = "bench";
const APPS = `/apis/apps/v1/namespaces/${NAMESPACE}`;
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;

const body = (kind, name) => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name, namespace: NAMESPACE },
  spec: {
    ...(kind === "StatefulSet" && { serviceName: name }),
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
  },
});

/** Acts as a kubelet, in one write: the pod runs and is ready. */
function readiness() {
  const lastTransitionTime = new Date().toISOString();
  const condition = (type) => ({ type, status: "True", lastTransitionTime });
  return { status: { phase: "Running", conditions: ["Initialized", "ContainersReady", "Ready"].map(condition) } };
}

async function items(target, path) {
  const { status, body } = await once(target, { method: "GET", path: `${path}?resourceVersion=0` });
  if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
  return JSON.parse(body).items;
}

async function makePodsReady(target) {
  const pods = (await items(target, PODS)).filter(({ status }) => status.phase !== "Running");
  if (pods.length === 0) return;
  await load(target, {
    connections: CONNECTIONS,
    count: pods.length,
    requestAt: (index) => ({
      method: "PATCH",
      path: `${PODS}/${pods[index].metadata.name}/status`,
      body: readiness(),
      contentType: "application/merge-patch+json",
    }),
  });
}

async function areAvailable(target) {
  for (const kind of ["deployments", "statefulsets"]) {
    const all = await items(target, `${APPS}/${kind}`);
    if (!all.every(({ status }) => status.availableReplicas === 1)) return false;
  }
  return true;
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** One round against one server. */
async function round({ target, pids }) {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
  await once(target, { method: "POST", path: "/api/v1/namespaces", body: namespace });
  // The controllers fill their caches first.
  await pause(3_000);
  const before = processorSeconds(pids);
  const startedMs = performance.now();
  await load(target, {
    connections: CONNECTIONS,
    count: DEPLOYMENTS + STATEFUL_SETS,
    requestAt: (index) =>
      index < DEPLOYMENTS
        ? { method: "POST", path: `${APPS}/deployments`, body: body("Deployment", `web-${index}`) }
        : { method: "POST", path: `${APPS}/statefulsets`, body: body("StatefulSet", `db-${index}`) },
  });
  for (;;) {
    await makePodsReady(target);
    if (await areAvailable(target)) break;
    if (performance.now() - startedMs > DEADLINE_MS) throw new Error("not all became available");
    await pause(200);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  return { seconds, processor: processorSeconds(pids) - before, memory: residentMb(pids) };
}

/** The same workloads, as in a test. */
async function simulate() {
  const { stdout } = await promisify(execFile)(process.execPath, [
    SIMULATION,
    String(DEPLOYMENTS),
    String(STATEFUL_SETS),
  ]);
  return JSON.parse(stdout);
}

/** The cost per cluster with so many clusters. */
const perCluster = (count) => async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [CLUSTERS, String(count)]);
  const { seconds, processor } = JSON.parse(stdout);
  console.error(`${process.execPath} ${CLUSTERS} ${count} ${stdout.trim()}`);
  return { seconds: seconds / count, processor: processor / count };
};

async function clusterRows() {
  const [many, few] = await interleaved(ROUNDS, [perCluster(MANY), perCluster(FEW)]);
  const row = (metric, key) =>
    compare(
      `${MANY} clusters of 8 children: ${metric}`,
      "s/cluster",
      many.map((each) => each[key]),
      `${FEW} clusters`,
      few.map((each) => each[key]),
    );
  return [
    judged(row("until ready, in virtual time", "seconds"), GROWTH),
    row("processor time, in virtual time", "processor"),
  ];
}

export async function measure() {
  const clusters = await clusterRows();
  return process.env.BENCH_ONLY === "clusters" ? clusters : [...clusters, ...(await workloadRows())];
}

async function workloadRows() {
  const [ours, theirs, simulated] = await interleaved(ROUNDS, [
    onFresh(() => startSetpoint({ workloads: CONTROLLERS }), round),
    onFresh(() => startPeer({ controllerManager: true, controllerManagerFlags: UNLIMITED }), round),
    simulate,
  ]);
  const what = `${DEPLOYMENTS} Deployments, ${STATEFUL_SETS} StatefulSets`;
  const row = (metric, unit, key, rounds = ours) =>
    compare(
      `${what}: ${metric}`,
      unit,
      rounds.map((each) => each[key]),
      PEER,
      theirs.map((each) => each[key]),
    );
  return [
    row("until available", "s", "seconds"),
    row("processor time", "s", "processor"),
    row("resident memory", "MB", "memory"),
    row("until available, in virtual time", "s", "seconds", simulated),
    row("processor time, in virtual time", "s", "processor", simulated),
    row("resident memory, in virtual time", "MB", "memory", simulated),
  ];
}
