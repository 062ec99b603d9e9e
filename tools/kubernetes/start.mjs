// Starts a real etcd + kube-apiserver (+ kube-controller-manager) on loopback, for tests and benchmarks.
//
//   import { startKubernetes } from "…/tools/kubernetes/start.mjs";
//   await using cluster = await startKubernetes({ controllerManager: true });
//   cluster.kubeconfig   // path of an admin kubeconfig
//
// From a shell: `node tools/kubernetes/start.mjs [--controller-manager] [--dir DIR]` runs one until it is interrupted.
import { execFileSync, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { freePort } from "../ports/free-port.mjs";

const here = dirname(fileURLToPath(import.meta.url));

/** The folder with the binaries; builds them at first use (about seven minutes on two cores). */
export function kubernetesBinaries() {
  return execFileSync(join(here, "build"), { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
}

function isReady(port, token) {
  return new Promise((resolve) => {
    const call = request(
      {
        host: "127.0.0.1",
        port,
        path: "/readyz",
        rejectUnauthorized: false,
        headers: { authorization: `Bearer ${token}` },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    call.setTimeout(2000, () => call.destroy());
    call.on("error", () => resolve(false));
    call.end();
  });
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * @param {{ controllerManager?: boolean, dir?: string, fsync?: boolean, apiserverFlags?: string[],
 *           controllerManagerFlags?: string[], serviceAccounts?: boolean, env?: Record<string, string> }} [options]
 *   `serviceAccounts: true` gives pods their accounts and tokens, like every server that is not started for tests.
 *   `fsync: false` lets etcd skip fsync, for speed if durability is not measured. Defaults to false.
 *   `env` is added to the environment of all processes.
 */
export async function startKubernetes(options = {}) {
  const binaries = kubernetesBinaries();
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), "setpoint-kubernetes-"));
  mkdirSync(dir, { recursive: true });
  const processes = [];
  const run = (name, args) => {
    const log = openSync(join(dir, `${name}.log`), "a");
    const env = { ...process.env, ...options.env };
    const child = spawn(join(binaries, name), args, { stdio: ["ignore", log, log], env });
    processes.push(child);
    return child;
  };
  const stop = async () => {
    for (const child of processes.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));
    }
    if (!options.dir) rmSync(dir, { recursive: true, force: true });
  };

  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(join(dir, "sa.key"), privateKey.export({ type: "pkcs1", format: "pem" }), { mode: 0o600 });
  const token = randomBytes(16).toString("hex");
  writeFileSync(join(dir, "tokens.csv"), `${token},admin,admin,system:masters\n`, { mode: 0o600 });

  const ports = new Set();
  while (ports.size < 3) ports.add(await freePort());
  const [etcdPort, peerPort, port] = ports;
  run("etcd", [
    `--data-dir=${join(dir, "etcd")}`,
    `--listen-client-urls=http://127.0.0.1:${etcdPort}`,
    `--advertise-client-urls=http://127.0.0.1:${etcdPort}`,
    `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
    `--initial-cluster=default=http://127.0.0.1:${peerPort}`,
    ...(options.fsync ? [] : ["--unsafe-no-fsync"]),
  ]);
  const apiserver = run("kube-apiserver", [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    `--secure-port=${port}`,
    "--bind-address=127.0.0.1",
    `--cert-dir=${join(dir, "certs")}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${join(dir, "sa.key")}`,
    `--service-account-signing-key-file=${join(dir, "sa.key")}`,
    `--token-auth-file=${join(dir, "tokens.csv")}`,
    "--authorization-mode=RBAC",
    "--service-cluster-ip-range=10.0.0.0/24",
    ...(options.serviceAccounts ? [] : ["--disable-admission-plugins=ServiceAccount"]),
    "--allow-privileged=true",
    ...(options.apiserverFlags ?? []),
  ]);
  for (let tries = 0; !(await isReady(port, token)); tries++) {
    if (apiserver.exitCode !== null || tries > 600) {
      const log = readFileSync(join(dir, "kube-apiserver.log"), "utf8").slice(-2000);
      await stop();
      throw new Error(`kube-apiserver did not become ready:\n${log}`);
    }
    await pause(100);
  }
  const ca = readFileSync(join(dir, "certs", "apiserver.crt"));
  const url = `https://127.0.0.1:${port}`;
  const kubeconfig = join(dir, "kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "real",
    clusters: [{ name: "real", cluster: { server: url, "certificate-authority-data": ca.toString("base64") } }],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name: "real", context: { cluster: "real", user: "admin" } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config, null, 2), { mode: 0o600 });
  if (options.controllerManager) {
    run("kube-controller-manager", [
      `--kubeconfig=${kubeconfig}`,
      `--service-account-private-key-file=${join(dir, "sa.key")}`,
      `--root-ca-file=${join(dir, "certs", "apiserver.crt")}`,
      "--use-service-account-credentials=false",
      "--leader-elect=false",
      "--secure-port=0",
      ...(options.controllerManagerFlags ?? []),
    ]);
  }
  const pids = processes.map((child) => child.pid);
  return {
    url,
    port,
    token,
    ca: ca.toString(),
    kubeconfig,
    dir,
    pids,
    binaries,
    stop,
    [Symbol.asyncDispose ?? Symbol.for("nodejs.asyncDispose")]: stop,
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const at = process.argv.indexOf("--dir");
  const cluster = await startKubernetes({
    controllerManager: process.argv.includes("--controller-manager"),
    fsync: process.argv.includes("--fsync"),
    ...(at > 0 ? { dir: process.argv[at + 1] } : {}),
  });
  console.log(`ready: KUBECONFIG=${cluster.kubeconfig}`);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => cluster.stop().then(() => process.exit(0)));
}
