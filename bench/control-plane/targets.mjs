// The two measured servers, freshly started: { target, pids, stop, startMs }; ours has a `kubeconfig` too.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startKubernetes } from "../../tools/kubernetes/start.mjs";
import { once } from "./loader.mjs";

const BIN = fileURLToPath(new URL("../../packages/setpoint/dist/bin.js", import.meta.url));

/**
 * `setpoint control-plane` with its journal on disk; every write is synced before it is acknowledged. An API server
 * alone unless `workloads` names controllers, like the peer, which runs without kube-controller-manager.
 */
export async function startSetpoint({ workloads = "false" } = {}) {
  const dir = mkdtempSync(join(tmpdir(), "setpoint-bench-"));
  const kubeconfig = join(dir, "kubeconfig");
  const startedMs = performance.now();
  const args = [
    BIN,
    "control-plane",
    "--data-dir",
    join(dir, "data"),
    "--listen",
    "127.0.0.1:0",
    "--workloads",
    workloads,
    "--kubeconfig",
    kubeconfig,
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const stop = async () => {
    child.kill("SIGKILL");
    await exited;
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await new Promise((resolve, reject) => {
      child.stdout.once("data", resolve);
      child.once("exit", (code) => reject(new Error(`setpoint control-plane ended with ${code}`)));
    });
    const target = targetOf(readFileSync(kubeconfig, "utf8"));
    const { status } = await once(target, { method: "GET", path: "/api/v1/namespaces/default" });
    if (status !== 200) throw new Error(`the first answer is ${status}`);
    return { target, kubeconfig, pids: [child.pid], stop, startMs: performance.now() - startedMs };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * kube-apiserver with etcd at its default fsync. Without the controller manager unless `options` ask for it: it would
 * only add load.
 */
export async function startPeer(options = {}) {
  const startedMs = performance.now();
  const cluster = await startKubernetes({ fsync: true, ...options });
  try {
    const target = { port: cluster.port, ca: cluster.ca, token: cluster.token };
    for (;;) {
      const { status } = await once(target, { method: "GET", path: "/api/v1/namespaces/default" });
      if (status === 200) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return { target, pids: cluster.pids, stop: cluster.stop, startMs: performance.now() - startedMs };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** Port and credentials of a kubeconfig that we wrote. */
function targetOf(kubeconfig) {
  const field = (name) => new RegExp(`"?${name}"?: *"?([^"\\s]+)`).exec(kubeconfig)?.[1];
  const decoded = (name) => Buffer.from(field(name) ?? "", "base64").toString();
  return {
    port: Number(new URL(field("server")).port),
    ca: decoded("certificate-authority-data"),
    cert: decoded("client-certificate-data"),
    key: decoded("client-key-data"),
  };
}

/** Resident memory of all processes of a server, in MB. */
export function residentMb(pids) {
  const kilobytes = pids.map((pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]));
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1024;
}

/** Processor time of all processes of a server so far, in seconds. */
export function processorSeconds(pids) {
  const ticks = pids.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND;
}

/** The unit in which Linux counts processor time, whatever its timer frequency. */
const TICKS_PER_SECOND = 100;
