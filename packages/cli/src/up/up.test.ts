import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "setpoint";
import { seededRandom } from "setpoint/clock";
import { Namespace } from "setpoint/kinds/v1";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runMain } from "../testing/command-line.js";
import { killRounds } from "./testing/kill-rounds.js";
import { kubeconfigIn, UpProcess } from "./testing/up-process.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-up-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("setpoint up", { timeout: 120_000 }, () => {
  it("prints what runs, where, and what to try; stops cleanly and continues where it was", async () => {
    const data = join(folder, "kept");
    {
      await using up = await new UpProcess(data).ready();
      expect(up.output).toMatch(/API server {3}https:\/\/127\.0\.0\.1:\d+/);
      expect(up.output).toContain(`export KUBECONFIG=${kubeconfigIn(data)}`);
      expect(up.output).toContain("rancher-projects");
      expect(statSync(kubeconfigIn(data)).mode & 0o777).toBe(0o600);
      await using client = await connect({ kubeconfig: kubeconfigIn(data) });
      await client.create(Namespace, { metadata: { name: "kept" } });
      expect(await up.stop("SIGINT")).toBe(0);
      expect(up.errors).toBe("");
    }
    expect(readdirSync(data)).not.toContain("manager.json");
    await using _up = await new UpProcess(data).ready();
    await using client = await connect({ kubeconfig: kubeconfigIn(data) });
    expect(await client.find(Namespace, "kept")).toBeDefined();
    const second = new UpProcess(data);
    expect([await second.exit(), second.errors]).toEqual([4, expect.stringContaining("is in use by another process")]);
  });

  it("names a busy port", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const up = new UpProcess(join(folder, "busy"), ["--port", String(port)]);
    expect(await up.exit()).toBe(3);
    expect(up.errors).toContain(`127.0.0.1:${port} is in use; choose another with --port, 0 for any free port`);
    server.close();
  });

  it("names a damaged data folder", async () => {
    const journal = join(folder, "damaged", "control-plane");
    mkdirSync(journal, { recursive: true });
    writeFileSync(join(journal, "journal.db"), Buffer.alloc(9_000, "no database"));
    const up = new UpProcess(join(folder, "damaged"));
    expect([await up.exit(), up.errors]).toEqual([4, expect.stringMatching(/is damaged: .*restore the folder/)]);
  });

  it.skipIf(process.getuid?.() === 0)("names a folder that it may not write (skipped for root, who may)", async () => {
    const closed = join(folder, "closed");
    mkdirSync(closed);
    chmodSync(closed, 0o500);
    const up = new UpProcess(join(closed, "data"));
    expect([await up.exit(), up.errors]).toEqual([4, expect.stringContaining(closed)]);
  });

  it("refuses unknown operators and invalid ports", async () => {
    expect(await runMain(["up", "--operators", "nobody"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("there are rancher-projects"),
    });
    expect(await runMain(["up", "--port", "http"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("0 to 65535"),
    });
  });

  it("leaves no namespace half-assigned when it is killed at any moment", async () => {
    const random = seededRandom(Number(process.env.SETPOINT_SEED ?? 1));
    expect(await killRounds(join(folder, "killed"), 4, random)).toBeGreaterThan(0);
  });
});
