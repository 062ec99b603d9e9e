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

/** Runs a control plane in memory, does something with it, and stops it. */
async function runPlane(args: readonly string[], use: (kubeconfig: string) => Promise<void>): Promise<number> {
  const kubeconfig = join(folder, "kubeconfig");
  const stop = new AbortController();
  let ready = (): void => {};
  const isReady = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const listening = ["--ephemeral", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig];
  const ran = runMain(["control-plane", ...listening, ...args], { signal: stop.signal, stdout: ready });
  await Promise.race([isReady, ran]);
  await use(kubeconfig);
  stop.abort();
  return (await ran).code;
}

describe("setpoint control-plane --save and --restore", () => {
  it("begin where another one stopped", async () => {
    const file = join(folder, "cluster.snapshot");
    let uid = "";
    const saved = await runPlane(["--save", file], async (kubeconfig) => {
      await using client = await connect({ kubeconfig });
      const made = await client.create(ConfigMap, { metadata: { name: "kept", namespace: "default" } });
      uid = made.metadata.uid;
    });
    expect(saved).toBe(0);
    await runPlane(["--restore", file], async (kubeconfig) => {
      await using client = await connect({ kubeconfig });
      expect((await client.get(ConfigMap, "kept", { namespace: "default" })).metadata.uid).toBe(uid);
    });
  });

  it("are refused where a data directory would be filled", async () => {
    const { code, err } = await runMain(["control-plane", "--restore", "x"]);
    expect(code).toBe(2);
    expect(err).toContain("--restore needs --ephemeral");
  });
});
