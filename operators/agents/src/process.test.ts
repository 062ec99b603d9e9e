import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { controlPlane } from "@setpoint/control-plane";
import { systemClock } from "setpoint/clock";
import { expect, it } from "vitest";
import { freePort } from "../../../tools/ports/free-port.mjs";
import { openStore } from "./database/open-store.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { installKinds } from "./samples.js";

const COMMAND = fileURLToPath(new URL("../../../packages/setpoint/bin/setpoint.js", import.meta.url));
const namespace = "default";

it("the process ends on its own during 50 discoveries, and leaves no partial tool set [9]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agents-process-"));
  await using plane = await controlPlane({ listen: { host: "127.0.0.1", port: 0 } });
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, plane.kubeconfig!, { mode: 0o600 });
  await installKinds(plane.client);
  const sockets = new Set<Socket>();
  const hung = createServer((socket) => void sockets.add(socket));
  await new Promise<void>((resolve) => hung.listen(0, "127.0.0.1", resolve));
  const { port } = hung.address() as { port: number };
  for (let at = 0; at < 50; at++) {
    const spec = { description: "d", url: `http://127.0.0.1:${port}/${at}`, timeout: "10m" };
    await plane.client.create(RemoteMCPServer, { metadata: { name: `s-${at}`, namespace }, spec } as never);
  }
  const database = join(folder, "agents.db");
  const api = `127.0.0.1:${await freePort()}`;
  const flags = ["--kubeconfig", kubeconfig, "--database", database, "--api-bind-address", api, "--without-admission"];
  const off = ["--health-probe-bind-address", "--metrics-bind-address"].flatMap((flag) => [flag, "0"]);
  const child = spawn(process.execPath, [COMMAND, "run", "agents", ...flags, ...off], { stdio: "ignore" });
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  await expect.poll(() => sockets.size, { timeout: 60_000 }).toBe(50);
  expect((await fetch(`http://${api}/api/toolservers`)).status).toBe(200);
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  await using store = await openStore(database, systemClock);
  expect(await store.servers()).toHaveLength(50);
  expect(await store.tools()).toEqual([]);
  for (const socket of sockets) socket.destroy();
  hung.close();
  rmSync(folder, { recursive: true });
});
