import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, connect } from "setpoint";
import { type Random, systemClock } from "setpoint/clock";
import { Namespace, ServiceAccount } from "setpoint/kinds/v1";
import { type Prepared, preparation, type Subject } from "./attack-preparation.js";
import { Attacker, type HostileUser } from "./attacker.js";
import { attacks } from "./attacks.js";
import { checkObject, stateOf } from "./kill-round.js";
import { afterStart, beforeStart, whileItRuns } from "./local-attacks.js";
import { type ServerProcess, startServer } from "./server-process.js";
import { type Knowledge, Writers } from "./writers.js";

export interface AttackRoundOptions {
  readonly folder: string;
  /** Names of this round's honest objects start with it. */
  readonly prefix: string;
  readonly random: Random;
  /** How large the attacks are; 1 is what the audit sent. */
  readonly size: number;
  /** How many attacks are under way at once. */
  readonly attackers: number;
  readonly honestClients: number;
  /** What honest clients know of their objects, of earlier rounds too. */
  readonly known: Map<string, Knowledge>;
}

const HOSTILE = "hostile";
/** More than this on its heap ends the server. */
const HEAP_MB = 512;
/** The most memory of the process, threads that read large bodies included. */
const PEAK_MB = 2_000;
/** What an attack must not leave in the log: failures of the server itself. */
const FAILURE = /TypeError|RangeError|ReferenceError|heap|unexpected/i;
const LOG_LINES = 100;

/**
 * Sends every attack once, in random order, to one server with honest clients beside, and starts it again on the same
 * data directory. Throws where the server ends, takes too much memory, does what an attack wants, or loses what it
 * acknowledged to an honest client.
 */
export async function attackRound(options: AttackRoundOptions): Promise<{ readonly peakMb: number }> {
  const { folder, random, known } = options;
  const victim = beforeStart(folder);
  const prefix = ["env", `NODE_OPTIONS=--max-old-space-size=${HEAP_MB}`];
  let peakMb = 0;
  {
    await using server = await startServer({ folder, prefix });
    await using admin = await connect({ kubeconfig: server.kubeconfig });
    afterStart(folder, victim);
    await prepare(admin);
    const honest = join(folder, "honest.kubeconfig");
    writeFileSync(honest, await kubeconfigOf(admin, server, "default", "honest"), { mode: 0o600 });
    await using client = await connect({ kubeconfig: honest, retry: { attempts: 1 } });
    const writers = new Writers(random);
    const writing = writers.run(client, options.honestClients, options.prefix, 2_000);
    const failures = await attack(admin, server, options);
    failures.push(...(await whileItRuns(folder, server.kubeconfig)));
    writers.stop();
    await writing;
    peakMb = peakMbOf(server);
    await expectAlive(admin, server, failures, peakMb);
    if (writers.acknowledged === 0) throw new Error("no honest client was answered");
    for (const [name, knowledge] of writers.known) known.set(name, knowledge);
    await server.stop(random.next() < 0.5 ? "SIGTERM" : "SIGKILL");
  }
  await using server = await startServer({ folder, prefix });
  await using admin = await connect({ kubeconfig: server.kubeconfig });
  const { state } = await stateOf(admin);
  for (const [name, knowledge] of known) checkObject(name, state.get(name), knowledge);
  await expectAlive(admin, server, [], 0);
  await server.stop("SIGTERM");
  return { peakMb };
}

/** All attacks, some at once; what they achieved. */
async function attack(
  admin: Client,
  server: ServerProcess,
  { random, attackers, size }: AttackRoundOptions,
): Promise<string[]> {
  const port = Number(new URL(serverOf(server.kubeconfig)).port);
  const token = (name: HostileUser) => tokenOf(admin, HOSTILE, name);
  const tokens = { zero: await token("zero"), editor: await token("editor"), patcher: await token("patcher") };
  using attacker = new Attacker({ port, tokens, namespace: HOSTILE }, 64);
  const waiting = attacks(size)
    .map((each) => ({ each, at: random.next() }))
    .sort((a, b) => a.at - b.at);
  const failures: string[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { row, name, run } = next.each;
      // A server that hangs up has held; one that is gone is found below.
      const achieved = await run(attacker).catch(() => undefined);
      if (achieved !== undefined) failures.push(`${row} ${name}: ${achieved}`);
    }
  };
  await Promise.all(Array.from({ length: attackers }, work));
  return failures;
}

async function expectAlive(admin: Client, server: ServerProcess, failures: string[], peakMb: number): Promise<void> {
  const { exitCode, signalCode } = server.process;
  const errors = server.errors();
  if (exitCode !== null || signalCode !== null) {
    throw new Error(`the server ended with ${exitCode ?? signalCode}: ${errors.slice(-2_000)}`);
  }
  const health = await admin.raw({ method: "GET", path: "/healthz" });
  if (health.status !== 200) failures.push(`/healthz answers ${health.status}`);
  if (peakMb > PEAK_MB) failures.push(`the server took ${peakMb} MB`);
  // A set of two billion pods meets its quota again and again, and tells.
  const lines = errors.split("\n").filter((each) => !each.includes("exceeded quota"));
  const line = lines.find((each) => FAILURE.test(each));
  if (line !== undefined) failures.push(`the log says ${line.slice(0, 500)}`);
  if (lines.length > LOG_LINES) failures.push(`the log has ${lines.length} lines: ${lines.slice(0, 5).join("\n")}`);
  if (failures.length > 0) throw new Error(failures.join("\n"));
}

const userOf = (name: string): Subject => ({ kind: "ServiceAccount", name, namespace: HOSTILE });

/** The users and their roles, once for a data directory. */
async function prepare(admin: Client): Promise<void> {
  if (await admin.find(Namespace, HOSTILE)) return;
  const users = { zero: userOf("zero"), editor: userOf("editor"), patcher: userOf("patcher") };
  const accounts = Object.values(users).map(
    ({ name }): Prepared => [`/api/v1/namespaces/${HOSTILE}/serviceaccounts`, { metadata: { name } }],
  );
  const honest: readonly Prepared[] = [
    ["/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "honest" } }],
    [
      "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
      {
        metadata: { name: "honest" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
        subjects: [{ kind: "ServiceAccount", name: "honest", namespace: "default" }],
      },
    ],
  ];
  for (const [path, object] of [...preparation(HOSTILE, users), ...accounts, ...honest]) {
    const headers = { "content-type": "application/json" };
    const body = Buffer.from(JSON.stringify(object));
    const { status } = await admin.raw({ method: "POST", path, headers, body });
    if (status !== 201) throw new Error(`POST ${path}: ${status}`);
  }
}

async function tokenOf(admin: Client, namespace: string, name: string): Promise<string> {
  const body = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { expirationSeconds: 86_400 },
  };
  const answer = await admin.createSubresource<{ status: { token: string } }>(ServiceAccount, name, {
    subresource: "token",
    body,
    namespace,
  });
  return answer.status.token;
}

/** As the administrator's, with the token of a service account. Waits until that may write. */
async function kubeconfigOf(admin: Client, server: ServerProcess, namespace: string, name: string): Promise<string> {
  const text = readFileSync(server.kubeconfig, "utf8");
  const authority = /certificate-authority-data: (\S+)/.exec(text)![1]!;
  const token = await tokenOf(admin, namespace, name);
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "x",
    clusters: [
      { name: "x", cluster: { server: serverOf(server.kubeconfig), "certificate-authority-data": authority } },
    ],
    users: [{ name: "x", user: { token } }],
    contexts: [{ name: "x", context: { cluster: "x", user: "x" } }],
  };
  // The rules of `edit` are added up by a loop that begins after the server listens.
  const review = {
    spec: {
      user: `system:serviceaccount:${namespace}:${name}`,
      resourceAttributes: { namespace, verb: "create", resource: "configmaps" },
    },
  };
  const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
  for (let tries = 0; tries < 500; tries++) {
    const headers = { "content-type": "application/json" };
    const { body } = await admin.raw({ method: "POST", path, headers, body: Buffer.from(JSON.stringify(review)) });
    let answer = "";
    for await (const chunk of body) answer += Buffer.from(chunk).toString();
    if (answer.includes('"allowed":true')) return JSON.stringify(kubeconfig);
    await systemClock.sleep(20);
  }
  throw new Error(`${name} may not write`);
}

function serverOf(kubeconfig: string): string {
  return /server: "?(https:[^"\s]+)/.exec(readFileSync(kubeconfig, "utf8"))![1]!;
}

/** The most memory that the process ever had; 0 where the system does not tell. */
function peakMbOf({ process }: ServerProcess): number {
  try {
    const status = readFileSync(`/proc/${process.pid}/status`, "utf8");
    return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}
