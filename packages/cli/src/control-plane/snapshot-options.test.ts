import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "setpoint";
import { ConfigMap } from "setpoint/kinds/v1";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runMain } from "../testing/command-line.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-cli-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a control plane, calls a function with it, and stops it. */
async function runPlane(args: readonly string[], use: (kubeconfig: string) => Promise<void>): Promise<number> {
  const kubeconfig = join(folder, "kubeconfig");
  const stop = new AbortController();
  let ready = (): void => {};
  const isReady = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const listening = ["--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig];
  const ran = runMain(["control-plane", ...listening, ...args], { signal: stop.signal, stdout: ready });
  await Promise.race([isReady, ran]);
  await use(kubeconfig);
  stop.abort();
  return (await ran).code;
}

describe("setpoint control-plane --save and --restore", () => {
  it("continue from the state of another control plane", async () => {
    const file = join(folder, "cluster.snapshot");
    let uid = "";
    const saved = await runPlane(["--ephemeral", "--save", file], async (kubeconfig) => {
      await using client = await connect({ kubeconfig });
      const made = await client.create(ConfigMap, { metadata: { name: "kept", namespace: "default" } });
      uid = made.metadata.uid;
    });
    expect(saved).toBe(0);
    const kept = async (kubeconfig: string): Promise<void> => {
      await using client = await connect({ kubeconfig });
      expect((await client.get(ConfigMap, "kept", { namespace: "default" })).metadata.uid).toBe(uid);
    };
    await runPlane(["--ephemeral", "--restore", file], kept);
    const dataDir = join(folder, "data");
    await runPlane(["--data-dir", dataDir, "--restore", file], kept);
    await runPlane(["--data-dir", dataDir], kept);
    const refused = await runMain(["control-plane", "--data-dir", dataDir, "--restore", file]);
    expect(refused).toMatchObject({ code: 4, err: expect.stringContaining("STORAGE_NOT_EMPTY") });
  });
});
