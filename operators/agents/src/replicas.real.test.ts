import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { controlPlane } from "@setpoint/control-plane";
import { expect, it } from "vitest";
import { freePort } from "../../../tools/ports/free-port.mjs";
import { startPostgres } from "./database/postgres.testing.js";
import { startStreamable } from "./discovery/mcp-servers.testing.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { installKinds } from "./samples.js";

const COMMAND = fileURLToPath(new URL("../../../packages/setpoint/bin/setpoint.js", import.meta.url));
const namespace = "default";
interface ServerAnswer {
  readonly ref: string;
  readonly discoveredTools: readonly { readonly name: string }[];
}
interface Replica {
  readonly child: ChildProcess;
  readonly api: string;
}
const SHORT_LEASE = {
  SETPOINT_LEADER_ELECTION_NAMESPACE: namespace,
  SETPOINT_LEADER_ELECTION_LEASE: "3s",
  SETPOINT_LEADER_ELECTION_RENEW: "2s",
  SETPOINT_LEADER_ELECTION_RETRY: "500ms",
};

it("two replicas on one PostgreSQL both answer over REST, and one takes over when the other is killed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agents-replicas-"));
  const postgres = startPostgres();
  if (!postgres) throw new Error("Debian's package postgresql is not installed");
  using _postgres = postgres;
  await postgres.ready();
  await using plane = await controlPlane({ listen: { host: "127.0.0.1", port: 0 } });
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, plane.kubeconfig!, { mode: 0o600 });
  await installKinds(plane.client);
  await using server = await startStreamable({ tools: () => [{ name: "b" }, { name: "a" }] });
  const env = { ...process.env, ...SHORT_LEASE, SETPOINT_AGENTS_DATABASE: postgres.url };
  const start = async (): Promise<Replica> => {
    const api = `127.0.0.1:${await freePort()}`;
    const flags = ["--kubeconfig", kubeconfig, "--leader-elect", "--without-admission", "--api-bind-address", api];
    const off = ["--health-probe-bind-address", "--metrics-bind-address"].flatMap((flag) => [flag, "0"]);
    const args = [COMMAND, "run", "agents", ...flags, ...off];
    return { child: spawn(process.execPath, args, { stdio: "ignore", env }), api };
  };
  const replicas = [await start(), await start()];
  const toolsOf = async ({ api }: Replica): Promise<unknown> => {
    const answer = await fetch(`http://${api}/api/toolservers`).catch(() => undefined);
    const body = (await answer?.json()) as { data?: readonly ServerAnswer[] } | undefined;
    return body?.data?.map(({ ref, discoveredTools }) => [ref, discoveredTools.map(({ name }) => name).join()]);
  };
  const add = (name: string) => {
    const spec = { description: "d", url: server.url };
    return plane.client.create(RemoteMCPServer, { metadata: { name, namespace }, spec } as never);
  };
  try {
    await add("first");
    const first = [["default/first", "b,a"]];
    for (const replica of replicas) await expect.poll(() => toolsOf(replica), { timeout: 60_000 }).toEqual(first);
    // Each of the two is once the one that stays, whichever leads.
    const [one, two] = replicas as [Replica, Replica];
    one.child.kill("SIGKILL");
    await add("second");
    const both = [...first, ["default/second", "b,a"]];
    await expect.poll(() => toolsOf(two), { timeout: 60_000 }).toEqual(both);
    const three = await start();
    replicas.push(three);
    await expect.poll(() => toolsOf(three), { timeout: 60_000 }).toEqual(both);
    two.child.kill("SIGKILL");
    await add("third");
    await expect.poll(() => toolsOf(three), { timeout: 60_000 }).toEqual([...both, ["default/third", "b,a"]]);
  } finally {
    for (const { child } of replicas) child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  }
});
