// The socket's share in the cost of a create: the control plane beside a TLS server of a few lines that answers each
// request with its body, under the same load generator. No single-threaded server on Node can be faster than that one.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load, once } from "../control-plane/loader.mjs";
import { processorSeconds, startSetpoint } from "../control-plane/targets.mjs";
import { compare, compareRates } from "../report.mjs";
import { interleaved, onFresh } from "../rounds.mjs";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const CONNECTIONS = 32;
const WARM_UP = 3000;
const REQUESTS = 5000;
const COLLECTION = "/api/v1/namespaces/bench/configmaps";
const PEER = "a bare TLS server in Node";

/** Like those of the control plane's benchmark. */
const configMap = (index) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: `made-${String(index).padStart(6, "0")}`, namespace: "bench", labels: { app: "bench" } },
  data: Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`key-${at}`, "x".repeat(60)])),
});

async function startBare() {
  const dir = mkdtempSync(join(tmpdir(), "setpoint-floor-"));
  const [key, certificate] = [join(dir, "key.pem"), join(dir, "certificate.pem")];
  const request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  const subject = ["-subj", "/CN=bare", "-addext", "subjectAltName=IP:127.0.0.1"];
  execFileSync("openssl", [...request, ...subject, "-keyout", key, "-out", certificate], { stdio: "ignore" });
  const program = fileURLToPath(new URL("bare-server.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, key, certificate], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const port = await new Promise((resolve) => child.stdout.once("data", (line) => resolve(Number(line))));
  const stop = async () => {
    child.kill("SIGKILL");
    await exited;
    rmSync(dir, { recursive: true, force: true });
  };
  return { target: { port, ca: readFileSync(certificate) }, pids: [child.pid], stop };
}

/** Creates per second, and microseconds of the server's processor time for each. */
async function round({ target, pids }) {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "bench" } };
  await once(target, { method: "POST", path: "/api/v1/namespaces", body: namespace });
  const run = (count, first) =>
    load(target, {
      connections: CONNECTIONS,
      count,
      requestAt: (index) => ({ method: "POST", path: COLLECTION, body: configMap(first + index) }),
    });
  await run(WARM_UP, 0);
  const before = processorSeconds(pids);
  const rate = await run(REQUESTS, WARM_UP);
  return { rate, microseconds: ((processorSeconds(pids) - before) * 1e6) / REQUESTS };
}

export async function measure() {
  const [ours, theirs] = await interleaved(ROUNDS, [onFresh(startSetpoint, round), onFresh(startBare, round)]);
  const all = (results, key) => results.map((each) => each[key]);
  return [
    compareRates("creates, 32 connections", "1/s", all(ours, "rate"), PEER, all(theirs, "rate")),
    compare(
      "processor time of the server for each",
      "µs",
      all(ours, "microseconds"),
      PEER,
      all(theirs, "microseconds"),
    ),
  ];
}
