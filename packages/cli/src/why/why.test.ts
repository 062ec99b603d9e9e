import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { app, controller, resource, waitFor } from "setpoint";
import { createClient } from "setpoint/client";
import { systemClock } from "setpoint/clock";
import type { RunRecord } from "setpoint/controller";
import { ConfigMap, Secret } from "setpoint/kinds/v1";
import { type LoopStatus, Manager } from "setpoint/manager";
import { errorAnswer } from "setpoint/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { CommandLine, runMain } from "../testing/command-line.js";
import { nothingKnown } from "./nothing-known.js";
import { nowText, runText } from "./run-text.js";

let cli: CommandLine;
let manager: Manager;
beforeAll(async () => {
  cli = await CommandLine.create();
  manager = new Manager({ client: cli.plane.client, metrics: { host: "127.0.0.1", port: 0 }, grace: 100 });
  manager.add(
    controller(ConfigMap, {
      name: "copies",
      owns: [Secret],
      namespaces: ["default"],
      async reconcile(map, ctx) {
        if (map.metadata.name === "waiting") return waitFor("DatabaseReady");
        await ctx.apply(Secret, { metadata: { name: map.metadata.name }, stringData: { password: "hunter2" } });
        return undefined;
      },
    }),
  );
  await manager.start();
  mkdirSync(join(cli.folder, "data"));
  cli.file("data/manager.json", JSON.stringify({ url: manager.metricsUrl, pid: 1 }));
});
afterAll(async () => {
  await manager.stop();
  await cli[Symbol.asyncDispose]();
});

const why = (...args: string[]) => cli.run(["why", ...args, "--data-dir", join(cli.folder, "data")]);
const until = async (key: string): Promise<void> => {
  while ([...manager.timeline.runs({ key })].length === 0) await systemClock.sleep(5);
};

describe("setpoint why", () => {
  it("shows causes, reads, writes by their paths, the outcome and what it waits for", async () => {
    await cli.plane.client.create(ConfigMap, { metadata: { name: "copied", namespace: "default" } });
    await until("default/copied");
    const { code, out } = await why("configmap", "copied");
    expect(code).toBe(0);
    expect(out).toContain("v1/ConfigMap default/copied: copies in setpoint up (pid 1)");
    expect(out).toMatch(/\d{4}-\d\d-\d\dT[\d:.]+Z {2}created/);
    expect(out).toMatch(/wrote {4}apply v1\/Secret default\/copied/);
    expect(out).toMatch(/outcome {2}done \(\d+ ms\)/);
    expect(out).toMatch(/Now: nothing to do until it.* changes\.$/);
    expect(out).not.toContain("hunter2");
    const [summary] = JSON.parse((await why("cm", "copied", "-o", "json")).out);
    expect(summary).toMatchObject({ controller: "copies", runs: [{ outcome: "done" }] });
  });

  it("shows what an object waits for, and follows it", async () => {
    await cli.plane.client.create(ConfigMap, { metadata: { name: "waiting", namespace: "default" } });
    await until("default/waiting");
    expect((await why("configmaps", "waiting")).out).toContain("Now: waits for DatabaseReady");
    const interrupt = new AbortController();
    const args = ["why", "cm", "waiting", "--follow", "--data-dir", join(cli.folder, "data")];
    const { code } = await cli.run(args, { signal: interrupt.signal, stdout: () => interrupt.abort() });
    expect(code).toBe(0);
  });

  it("asks the process at the given address", async () => {
    await cli.plane.client.create(ConfigMap, { metadata: { name: "named", namespace: "default" } });
    await until("default/named");
    const url = manager.metricsUrl!;
    expect((await cli.run(["why", "cm", "named", "--url", url])).out).toContain(`copies in the process at ${url}`);
    expect((await cli.run(["why", "cm", "named", "--url", url.replace("http://", "")])).code).toBe(0);
    const failed = async (address: string): Promise<string> =>
      (await cli.run(["why", "cm", "a", "--url", address])).err;
    expect(await failed("http://127.0.0.1:1")).toContain("start the operator with --metrics-bind-address");
    expect(await failed(`${url}/metrics`)).toContain("/metrics/timeline answers 404: not found");
    expect(await failed("a b")).toContain("--url a b: expected http://HOST:PORT");
  });

  it("says plainly what it did not find", async () => {
    expect(await why("configmap", "nobody")).toMatchObject({
      code: 1,
      err: expect.stringContaining("setpoint up (pid 1) has no run of configmap default/nobody by controller copies"),
    });
    expect(await why("website", "a")).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /runs no controller for the kind website; it runs v1\/ConfigMap[\s\S]*--url, --pod or --workload/,
      ),
    });
    expect(await cli.run(["why", "ns", "a", "--data-dir", "/no/such"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("setpoint up does not run with this folder"),
    });
    cli.file("data/gone.json", "");
    mkdirSync(join(cli.folder, "stale"));
    cli.file("stale/manager.json", JSON.stringify({ url: "http://127.0.0.1:1", pid: 99 }));
    const stale = await cli.run(["why", "ns", "a", "--data-dir", join(cli.folder, "stale")]);
    expect(stale).toMatchObject({ code: 1, err: expect.stringMatching(/names process 99, which does not answer/) });
    const inCluster = await cli.run(["why", "ns", "a", "--kubeconfig", join(cli.folder, "kubeconfig")]);
    expect(inCluster).toMatchObject({ code: 1, err: expect.stringContaining("found no process of Setpoint") });
    expect(await runMain(["why", "ns"])).toMatchObject({ code: 2, err: expect.stringContaining("name the object") });
  });
});

const record = (more: Partial<RunRecord>): RunRecord => ({
  ...{ id: 1, controller: "c", kind: "v1/ConfigMap", key: "a/b", uid: "", causes: [], startedAt: "T", durationMs: 3.4 },
  ...{ action: "updated" as const, waitedMs: 0 },
  ...{ attempt: 0, reads: [], writes: [], effects: [], outcome: "done" as const },
  ...more,
});

it.each([
  ["done", "nothing to do until it changes"],
  ["requeueAfter", "runs again after its delay"],
  ["retry", "failed: oops; runs again after its back-off"],
  ["terminal", "gave up: oops"],
  ["paused", "its annotation pauses it"],
  ["gone", "is gone"],
  ["aborted", "aborted"],
] as const)("describes what follows %s", (outcome, words) => {
  expect(nowText(record({ outcome, reason: "oops" }))).toContain(words);
});

it("shows attempts, effects and rivals", () => {
  const write = { verb: "apply", kind: "v1/Pod", key: "a/p", paths: ["spec.x", "spec.y"], rival: "them" } as const;
  expect(runText(record({ attempt: 2, effects: ["dns"], writes: [write], causes: [{ type: "requeue" }] }))).toBe(
    [
      "T  requeue",
      "  wrote    apply v1/Pod a/p: spec.x, spec.y (also written by them)",
      "  effect   dns",
      "  outcome  done (3 ms, try 3)",
    ].join("\n"),
  );
});

describe("without a recorded run", () => {
  const loop = { type: "controller" as const, name: "clusters", kind: "pg.example.com/v1/Cluster", plural: "clusters" };
  const healthy: LoopStatus = { ...loop, shortNames: ["pgc"], isLeading: true, trouble: [] };
  const said = (status: LoopStatus): string =>
    nothingKnown([{ source: { name: "pod a/b" }, loops: [status] }], () => true, "pgc", ["a", "default/a"]);

  it.each([
    ["a controller that cannot start", { trouble: ["informer v1/Secret: 403 Forbidden"] }, "403 Forbidden. Check that"],
    ["a process that does not lead", { isLeading: false }, "does not lead"],
    ["an object that was never run", {}, "has no run of pgc default/a by controller clusters"],
  ])("reports %s", (_, more, words) => {
    expect(said({ ...healthy, ...more })).toContain(words);
  });
});

it("shows why a controller cannot start, like readiness, also with JSON output", async () => {
  const { transport } = cli.plane;
  const client = createClient({
    transport: {
      request: async (request) =>
        request.path.includes("/configmaps")
          ? errorAnswer(403, "Forbidden", "configmaps is forbidden")
          : transport.request(request),
      [Symbol.asyncDispose]: async () => {},
    },
    server: "in-process",
    clock: systemClock,
  });
  await using own = new Manager({ client, metrics: { host: "127.0.0.1", port: 0 }, grace: 100, preflight: false });
  await own.add(controller(ConfigMap, { name: "kept-out", namespaces: ["default"], reconcile: () => undefined }));
  await own.start();
  while (own.trouble().length === 0) await systemClock.sleep(5);
  const asked = ["why", "cm", "copied", "--url", own.metricsUrl!];
  const words = /cannot work on the kind cm: controller kept-out: .*forbidden.*RBAC allows it: setpoint rbac/;
  expect(await cli.run(asked)).toMatchObject({ code: 1, err: expect.stringMatching(words) });
  const json = await cli.run([...asked, "-o", "json"]);
  expect(json).toMatchObject({ code: 1, err: expect.stringMatching(words) });
  expect(JSON.parse(json.out)).toEqual([]);
});

it("resolves the short names of the kinds of a process", async () => {
  const Shop = resource("web.example.com/v1/Shop", { spec: z.object({}), shortNames: ["shp"] });
  await using own = new Manager({ client: cli.plane.client, metrics: { host: "127.0.0.1", port: 0 }, grace: 100 });
  await own.add(app({ name: "shops", kinds: [Shop], loops: [controller(Shop, { reconcile: () => {} })] }));
  await own.start();
  await cli.plane.client.create(Shop, { metadata: { name: "a", namespace: "default" } });
  while ([...own.timeline.runs({ key: "default/a" })].length === 0) await systemClock.sleep(5);
  expect((await cli.run(["why", "shp", "a", "--url", own.metricsUrl!])).out).toContain(
    "web.example.com/v1/Shop default/a",
  );
});
