import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect, isNotFound, isSetpointError } from "setpoint";
import { ConfigMap } from "setpoint/kinds/v1";
import { expect, it } from "vitest";
import { startServer } from "./testing/server-process.js";

const NAMESPACE = "default";

/** Creates objects until the server refuses one; returns the names that it acknowledged, and the refusal. */
async function fill(client: Client): Promise<{ acknowledged: string[]; refused: string; error: unknown }> {
  const acknowledged: string[] = [];
  for (let at = 0; at < 1000; at++) {
    const name = `filler-${at}`;
    try {
      await client.create(ConfigMap, { metadata: { name, namespace: NAMESPACE }, data: { text: "x".repeat(50_000) } });
      acknowledged.push(name);
    } catch (error) {
      return { acknowledged, refused: name, error };
    }
  }
  throw new Error("the disk never became full");
}

async function expectUndone(client: Client, acknowledged: readonly string[], refused: string): Promise<void> {
  const { items } = await client.list(ConfigMap, { namespace: NAMESPACE });
  const names = items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("filler-"));
  expect(names.sort()).toEqual([...acknowledged].sort());
  await expect(client.get(ConfigMap, refused, { namespace: NAMESPACE })).rejects.toSatisfy(isNotFound);
}

it.skipIf(process.getuid?.() !== 0)(
  "refuses writes while the disk is full, keeps reading, and accepts writes again (needs root to mount a small disk)",
  { timeout: 120_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "setpoint-full-"));
    mkdirSync(join(folder, "data"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=6m", "tmpfs", join(folder, "data")]);
    try {
      const ballast = join(folder, "data", "ballast");
      writeFileSync(ballast, Buffer.alloc(3 * 2 ** 20));
      let acknowledged: string[];
      {
        await using server = await startServer({ folder });
        await using client = await connect({ kubeconfig: server.kubeconfig, retry: { attempts: 1 } });
        const filled = await fill(client);
        acknowledged = filled.acknowledged;
        expect(isSetpointError(filled.error, "API_INTERNAL")).toBe(true);
        expect(String(filled.error)).toMatch(/the disk of .* is full; free some space and try again/);
        await expectUndone(client, acknowledged, filled.refused);
        rmSync(ballast);
        await client.create(ConfigMap, { metadata: { name: filled.refused, namespace: NAMESPACE } });
        acknowledged.push(filled.refused);
        await server.stop("SIGKILL");
      }
      await using server = await startServer({ folder });
      await using client = await connect({ kubeconfig: server.kubeconfig });
      await expectUndone(client, acknowledged, "filler-none");
    } finally {
      execFileSync("umount", ["-l", join(folder, "data")]);
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

it("refuses a write when the disk is full, and goes on", { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-limit-"));
  try {
    // Files may grow to 3 MiB; beyond that, a write fails instead of killing the process.
    const prefix = ["sh", "-c", 'trap "" XFSZ; ulimit -f 6144; exec "$0" "$@"'];
    let acknowledged: string[];
    {
      await using server = await startServer({ folder, prefix });
      await using client = await connect({ kubeconfig: server.kubeconfig, retry: { attempts: 1 } });
      const filled = await fill(client);
      acknowledged = filled.acknowledged;
      expect(String(filled.error)).toMatch(/could not be written|is full/);
      await expectUndone(client, acknowledged, filled.refused);
      await server.stop("SIGKILL");
    }
    await using server = await startServer({ folder });
    await using client = await connect({ kubeconfig: server.kubeconfig });
    await expectUndone(client, acknowledged, "filler-none");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
