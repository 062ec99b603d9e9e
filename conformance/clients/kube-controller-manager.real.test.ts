import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type ControlPlane, controlPlane } from "@setpoint/control-plane";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kubernetesBinaries } from "../../tools/kubernetes/start.mjs";

const folder = mkdtempSync(join(tmpdir(), "setpoint-manager-"));
let plane: ControlPlane;
let manager: ChildProcess;

beforeAll(async () => {
  const binaries = kubernetesBinaries();
  plane = await controlPlane({ listen: {}, controllers: false, disabledAdmission: ["ServiceAccount"] });
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, plane.kubeconfig!, { mode: 0o600 });
  const log = openSync(join(folder, "manager.log"), "a");
  const flags = [`--kubeconfig=${kubeconfig}`, "--leader-elect=false", "--secure-port=0"];
  manager = spawn(join(binaries, "kube-controller-manager"), flags, { stdio: ["ignore", log, log] });
});

afterAll(async () => {
  manager?.kill("SIGKILL");
  await plane?.stop();
  rmSync(folder, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind.
type Answer = { readonly status: number; readonly body: any };

async function call(method: "GET" | "POST" | "DELETE" | "PATCH", path: string, body?: object): Promise<Answer> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const response = await plane.transport.request({
    method,
    path,
    headers: { "content-type": type },
    ...(body && { body: Buffer.from(JSON.stringify(body)) }),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { status: response.status, body: JSON.parse(Buffer.concat(chunks).toString("utf8")) };
}

/** Polls until the condition holds; shows the manager's log if it never does, or if the manager has ended. */
async function eventually(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 900 && manager.exitCode === null; tries++) {
    if (await isSo()) return;
    await pause(100);
  }
  const log = readFileSync(join(folder, "manager.log"), "utf8").slice(-3000);
  throw new Error(`${what}: never; the manager has ${manager.exitCode === null ? "not " : ""}ended\n${log}`);
}

async function namespace(name: string): Promise<string> {
  await call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  return `/namespaces/${name}`;
}

/** Acts as the kubelet: reports every unfinished pod as running and ready, or as succeeded. */
async function runPods(within: string, phase: "Running" | "Succeeded" = "Running"): Promise<void> {
  const { body } = await call("GET", `/api/v1${within}/pods`);
  for (const pod of body.items) {
    if (pod.status.phase === phase) continue;
    const now = new Date().toISOString();
    const conditions = [{ type: "Ready", status: phase === "Running" ? "True" : "False", lastTransitionTime: now }];
    await call("PATCH", `/api/v1${within}/pods/${pod.metadata.name}/status`, { status: { phase, conditions } });
  }
}

const labels = { app: "a" };
const template = (restartPolicy = "Always") => ({
  metadata: { labels },
  spec: { restartPolicy, containers: [{ name: "c", image: "i" }] },
});

describe("kube-controller-manager on the embedded API server", () => {
  it("rolls out a Deployment", async () => {
    const within = await namespace("deployments");
    await call("POST", `/apis/apps/v1${within}/deployments`, {
      metadata: { name: "d" },
      spec: { replicas: 2, selector: { matchLabels: labels }, template: template() },
    });
    await eventually("two replicas available", async () => {
      await runPods(within);
      const { body } = await call("GET", `/apis/apps/v1${within}/deployments/d`);
      return body.status.availableReplicas === 2 && body.status.observedGeneration === body.metadata.generation;
    });
    const containers = [{ name: "c", image: "i:2" }];
    await call("PATCH", `/apis/apps/v1${within}/deployments/d`, { spec: { template: { spec: { containers } } } });
    await eventually("the new image everywhere", async () => {
      await runPods(within);
      const { body } = await call("GET", `/apis/apps/v1${within}/deployments/d`);
      const { observedGeneration, updatedReplicas, replicas, availableReplicas } = body.status;
      if (observedGeneration !== body.metadata.generation) return false;
      return updatedReplicas === 2 && replicas === 2 && availableReplicas === 2;
    });
    const { body } = await call("GET", `/apis/apps/v1${within}/replicasets`);
    expect(body.items).toHaveLength(2);
    await call("DELETE", `/apis/apps/v1${within}/deployments/d?propagationPolicy=Foreground`);
    await eventually("the Deployment gone, after all that it made", async () => {
      const { body: pods } = await call("GET", `/api/v1${within}/pods`);
      // Acts as the kubelet: pods that are deleted stop at once.
      for (const pod of pods.items.filter((each: Answer["body"]) => each.metadata.deletionTimestamp)) {
        await call("DELETE", `/api/v1${within}/pods/${pod.metadata.name}?gracePeriodSeconds=0`);
      }
      return (await call("GET", `/apis/apps/v1${within}/deployments/d`)).status === 404;
    });
    expect((await call("GET", `/apis/apps/v1${within}/replicasets`)).body.items).toEqual([]);
  });

  it("brings up a StatefulSet in order", async () => {
    const within = await namespace("statefulsets");
    await call("POST", `/apis/apps/v1${within}/statefulsets`, {
      metadata: { name: "s" },
      spec: { replicas: 2, serviceName: "s", selector: { matchLabels: labels }, template: template() },
    });
    await eventually("two ready replicas", async () => {
      await runPods(within);
      return (await call("GET", `/apis/apps/v1${within}/statefulsets/s`)).body.status.readyReplicas === 2;
    });
    const { body } = await call("GET", `/api/v1${within}/pods`);
    expect(body.items.map((pod: { metadata: { name: string } }) => pod.metadata.name)).toEqual(["s-0", "s-1"]);
  });

  it("completes a Job", async () => {
    const within = await namespace("jobs");
    await call("POST", `/apis/batch/v1${within}/jobs`, {
      metadata: { name: "j" },
      spec: { template: template("Never") },
    });
    await eventually("the job complete", async () => {
      await runPods(within, "Succeeded");
      const { body } = await call("GET", `/apis/batch/v1${within}/jobs/j`);
      return (body.status.conditions ?? []).some(({ type }: { type: string }) => type === "Complete");
    });
  });

  it("collects what has lost its owner", async () => {
    const within = await namespace("garbage");
    const owner = await call("POST", `/api/v1${within}/configmaps`, { metadata: { name: "owner" } });
    const { uid } = owner.body.metadata;
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
    await call("POST", `/api/v1${within}/configmaps`, { metadata: { name: "child", ownerReferences } });
    await call("DELETE", `/api/v1${within}/configmaps/owner?propagationPolicy=Background`);
    await eventually(
      "the child gone",
      async () => (await call("GET", `/api/v1${within}/configmaps/child`)).status === 404,
    );
  });

  it("empties a namespace that is deleted", async () => {
    const within = await namespace("doomed");
    await call("POST", `/api/v1${within}/configmaps`, { metadata: { name: "c" } });
    await call("DELETE", `/api/v1${within}`);
    await eventually("the namespace gone", async () => (await call("GET", `/api/v1${within}`)).status === 404);
  });
});
