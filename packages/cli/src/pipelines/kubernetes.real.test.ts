import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, vi } from "vitest";
import { kubernetesBinaries, startKubernetes } from "../../../../tools/kubernetes/start.mjs";
import { ProjectFolder } from "./testing/project-folder.js";

const execute = promisify(execFile);

it("kubectl shows models on a real API server, waits for them, has its edits reverted and refreshes (needs the build)", {
  timeout: 300_000,
}, async () => {
  await using cluster = await startKubernetes({});
  using project = ProjectFolder.with({
    "models/orders.sql": "-- @materialize: true\nSELECT range AS id FROM range(3)",
    "models/daily_sales.sql": "-- @materialize: true\nSELECT count(*) AS n FROM orders",
  });
  const { kubeconfig } = cluster;
  const binary = join(kubernetesBinaries(), "kubectl");
  const kubectl = async (...args: readonly string[]) =>
    (await execute(binary, ["--kubeconfig", kubeconfig, "-n", "default", ...args])).stdout;
  const eventually = <T>(work: () => Promise<T>) => vi.waitFor(work, { timeout: 60_000, interval: 250 });
  const names = async () => (await kubectl("get", "models", "-o", "name")).trim().split("\n").sort();
  {
    await using start = project.spawn("start", ["--port", "0", "-o", "json", "--kubeconfig", kubeconfig]);
    await eventually(() => kubectl("get", "models/daily-sales"));
    await kubectl("wait", "--for=condition=Ready", "model/daily-sales", "--timeout=60s");
    expect(await kubectl("get", "models")).toMatch(/daily-sales +True +Fresh +1 /);

    const patch = '{"spec":{"declaration":{"incremental":true}}}';
    await kubectl("patch", "model/orders", "--type=merge", "-p", patch);
    await eventually(async () => {
      expect(await kubectl("get", "model/orders", "-o", "jsonpath={.spec.declaration.incremental}")).toBe("false");
      expect(await kubectl("get", "events", "-o", "jsonpath={.items[*].reason}")).toContain("Reverted");
    });
    const runId = () => kubectl("get", "model/orders", "-o", "jsonpath={.status.runId}");
    const before = await runId();
    await kubectl("annotate", "model/orders", "pipelines.setpoint.dev/refresh=now");
    await eventually(async () => expect(await runId()).not.toBe(before));
    start.child.kill("SIGTERM");
    expect(await start.ended, start.err).toEqual({ code: 0, signal: null });
  }
  project.remove("models/daily_sales.sql");
  await using _again = project.spawn("start", ["--port", "0", "-o", "json", "--kubeconfig", kubeconfig]);
  await eventually(async () => expect(await names()).toEqual(["model.pipelines.setpoint.dev/orders"]));
});
