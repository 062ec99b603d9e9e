import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Endpoint } from "./wire.js";

export interface Target extends AsyncDisposable {
  readonly endpoint: Endpoint;
  readonly kubeconfig: string;
}

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** A real kube-apiserver with etcd and kube-controller-manager. */
export async function startReal(): Promise<Target> {
  const { startKubernetes } = await import(join(root, "tools/kubernetes/start.mjs"));
  const cluster = await startKubernetes({ controllerManager: true, serviceAccounts: true });
  return {
    endpoint: { url: cluster.url, ca: cluster.ca, token: cluster.token },
    kubeconfig: cluster.kubeconfig,
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}

/** What kube-controller-manager does on the other side; neither side has nodes, a scheduler or running pods. */
const WORKLOADS = [
  "replicasets",
  "deployments",
  "statefulsets",
  "daemonsets",
  "disruptionbudgets",
  "jobs",
  "cronjobs",
  "autoscalers",
  "endpointslices",
  "endpoints",
];

/** The embedded control plane in a process of its own, from the build at `bin`. */
export async function startOurs(bin: string = join(root, "packages/setpoint/dist/bin.js")): Promise<Target> {
  const dir = mkdtempSync(join(tmpdir(), "setpoint-conformance-"));
  const kubeconfig = join(dir, "kubeconfig");
  const args = [bin, "control-plane", "--ephemeral", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig];
  args.push("--workloads", WORKLOADS.join());
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await firstLine(child);
  return {
    endpoint: endpointOf(readFileSync(kubeconfig, "utf8")),
    kubeconfig,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function firstLine(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).once("line", () => resolve());
    child.once("exit", (code) => reject(new Error(`the control plane ended with ${code} before it was ready`)));
  });
}

/** Reads the few fields of a kubeconfig that `setpoint control-plane` writes, without a YAML parser. */
function endpointOf(kubeconfig: string): Endpoint {
  const field = (name: string): string => {
    const match = new RegExp(`"?${name}"?:\\s*"?([^"\\s,]+)"?`).exec(kubeconfig);
    if (!match) throw new Error(`the kubeconfig has no ${name}`);
    return match[1]!;
  };
  const decoded = (name: string): string => Buffer.from(field(name), "base64").toString("utf8");
  return {
    url: field("server"),
    ca: decoded("certificate-authority-data"),
    clientCertificate: { cert: decoded("client-certificate-data"), key: decoded("client-key-data") },
  };
}
