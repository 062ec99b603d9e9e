import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { systemClock } from "setpoint/clock";
import { type Endpoint, Wire } from "./wire.js";

export interface Target extends AsyncDisposable {
  readonly endpoint: Endpoint;
  readonly kubeconfig: string;
}

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** A real kube-apiserver with etcd and kube-controller-manager. */
export async function startReal(): Promise<Target> {
  const { startKubernetes } = await import(join(root, "tools/kubernetes/start.mjs"));
  const cluster = await startKubernetes({
    controllerManager: true,
    serviceAccounts: true,
    // The same address range as ours, and shorter sync periods of controllers.
    apiserverFlags: ["--service-cluster-ip-range=10.0.0.0/16"],
    controllerManagerFlags: [
      "--horizontal-pod-autoscaler-sync-period=2s",
      "--pvclaimbinder-sync-period=2s",
      "--resource-quota-sync-period=5s",
    ],
  });
  return {
    endpoint: { url: cluster.url, ca: cluster.ca, token: cluster.token },
    kubeconfig: cluster.kubeconfig,
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}

/** A running real server, which is not stopped here. */
export function runningReal(kubeconfig: string): Target {
  const endpoint = endpointOf(readFileSync(kubeconfig, "utf8"));
  return { endpoint, kubeconfig, [Symbol.asyncDispose]: async () => {} };
}

/**
 * The controllers that kube-controller-manager runs on the other side; neither side has nodes, a scheduler or running
 * pods.
 */
const WORKLOADS = [
  "replicasets",
  "replicationcontrollers",
  "deployments",
  "statefulsets",
  "daemonsets",
  "disruptionbudgets",
  "jobs",
  "cronjobs",
  "autoscalers",
  "volumes",
  "endpointslices",
  "endpoints",
];

/** The embedded control plane in its own process, from the build at `bin`. */
export async function startOurs(bin: string = join(root, "packages/setpoint/dist/bin.js")): Promise<Target> {
  const dir = mkdtempSync(join(tmpdir(), "setpoint-conformance-"));
  const kubeconfig = join(dir, "kubeconfig");
  const args = [bin, "control-plane", "--ephemeral", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig];
  args.push("--workloads", WORKLOADS.join());
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await firstLine(child);
  const endpoint = endpointOf(readFileSync(kubeconfig, "utf8"));
  await withoutStorageClass(endpoint);
  return {
    endpoint,
    kubeconfig,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Deletes the default class that the volume controllers create, which the other side lacks. */
async function withoutStorageClass(endpoint: Endpoint): Promise<void> {
  using wire = new Wire(endpoint);
  const path = "/apis/storage.k8s.io/v1/storageclasses/standard";
  while ((await wire.send({ method: "GET", path })).status !== 200) await systemClock.sleep(25);
  await wire.send({ method: "DELETE", path });
}

function firstLine(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).once("line", () => resolve());
    child.once("exit", (code) => reject(new Error(`the control plane ended with ${code} before it was ready`)));
  });
}

/** Reads the few fields of a kubeconfig that the servers here write, without a YAML parser. */
function endpointOf(kubeconfig: string): Endpoint {
  const find = (name: string): string | undefined =>
    new RegExp(`"?${name}"?:\\s*"?([^"\\s,]+)"?`).exec(kubeconfig)?.[1];
  const field = (name: string): string => {
    const found = find(name);
    if (found === undefined) throw new Error(`the kubeconfig has no ${name}`);
    return found;
  };
  const decoded = (name: string): string => Buffer.from(field(name), "base64").toString("utf8");
  const token = find("token");
  return {
    url: field("server"),
    ca: decoded("certificate-authority-data"),
    ...(token
      ? { token }
      : { clientCertificate: { cert: decoded("client-certificate-data"), key: decoded("client-key-data") } }),
  };
}
