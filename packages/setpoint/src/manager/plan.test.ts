import { describe, expect, it } from "vitest";
import { controller } from "../controller/controller.js";
import { describePlan, type PlannedRun } from "../controller/run/planned-run.js";
import { Website, World } from "../controller/world.testing.js";
import { Deployment } from "../kinds/builtin/apps/v1.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { waitFor } from "../loop/outcome.js";
import { plan } from "./plan.js";
import { run } from "./run.js";

const deployment = ({ metadata, spec }: Website) => {
  const labels = { app: metadata.name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: spec.image }] } };
  return { metadata: { name: metadata.name }, spec: { selector: { matchLabels: labels }, template } };
};

function recordIn(done: string[]): string {
  done.push("made");
  return "id";
}

async function planned(world: World, ...workloads: Parameters<typeof plan>[0]): Promise<readonly PlannedRun[]> {
  const runs: PlannedRun[] = [];
  const { client } = world.cluster();
  for await (const each of plan(workloads, { client, clock: world.clock })) runs.push(each);
  return runs;
}

describe("a plan", () => {
  const applying = controller(Website, {
    owns: [Deployment, ConfigMap],
    async reconcile(site, ctx) {
      await ctx.apply(Deployment, deployment(site));
      await ctx.prune(ConfigMap);
      ctx.status({ phase: "Ready" });
    },
    finalize: () => undefined,
  });

  it("shows each write that a run would make, validated by the server, and makes none", async () => {
    await using world = await World.create();
    await world.createWebsite("a");
    const before = await world.website("a");
    expect((await planned(world, applying)).map(describePlan)).toEqual([
      [
        "web.example.com/v1/Website team/a",
        "  finalizer web.example.com/v1/Website team/a: metadata.finalizers",
        "  apply apps/v1/Deployment team/a: metadata",
        "  status web.example.com/v1/Website team/a: status.phase",
      ],
    ]);
    expect(await world.website("a")).toEqual(before);
    expect(await world.client.find(Deployment, "a", { namespace: "team" })).toBeUndefined();
    const writes = world.requests.filter(({ method }) => method !== "GET");
    expect(writes.length).toBeGreaterThan(0);
    expect(writes.every(({ path }) => path.includes("dryRun=All"))).toBe(true);
  });

  it("is empty if everything is as desired, and otherwise names the differing fields", async () => {
    await using world = await World.create();
    await world.createWebsite("a");
    const live = await world.run(applying);
    await world.clock.advance(1_000);
    await live.stop();
    expect((await planned(world, applying)).flatMap(describePlan)).toEqual([]);
    const body = { spec: { template: { spec: { containers: [{ name: "web", image: "httpd" }] } } } };
    await world.client.patch(Deployment, "a", { type: "strategic", body }, { namespace: "team" });
    expect((await planned(world, applying)).flatMap(describePlan)).toEqual([
      "web.example.com/v1/Website team/a",
      "  apply apps/v1/Deployment team/a: spec.template.spec.containers[0].image",
    ]);
    await world.annotate("a", { "setpoint.dev/paused": "true" });
    expect(await planned(world, applying)).toMatchObject([{ outcome: "paused", writes: [] }]);
  });

  it("runs no effect: it continues with a stand-in result, or ends there", async () => {
    await using world = await World.create();
    await world.createWebsite("a");
    const done: string[] = [];
    const effect = (name: string, inPlan?: { planned: string }) =>
      controller(Website, {
        name,
        owns: [ConfigMap],
        async reconcile({ metadata }, ctx) {
          const id = await ctx.effect("make record", () => recordIn(done), inPlan);
          await ctx.apply(ConfigMap, { metadata: { name: metadata.name }, data: { id } });
        },
      });
    const [ended, went] = await planned(world, effect("ends"), effect("goes-on", { planned: "(to be made)" }));
    expect(ended).toMatchObject({
      effects: ["make record"],
      writes: [],
      outcome: "unknown",
      reason: 'the rest depends on the effect "make record"',
    });
    expect(went).toMatchObject({ effects: ["make record"], writes: [{ verb: "apply" }], outcome: "done" });
    expect(done).toEqual([]);
  });

  it("shows what a run would wait for or fail with", async () => {
    await using world = await World.create();
    await world.createWebsite("a");
    const waiting = controller(Website, { name: "w", reconcile: () => waitFor("DatabaseReady") });
    const failing = controller(Website, { name: "f", reconcile: () => Promise.reject(new Error("no")) });
    expect((await planned(world, waiting, failing)).flatMap(describePlan)).toEqual([
      "web.example.com/v1/Website team/a",
      "  status web.example.com/v1/Website team/a: status.conditions",
      "  waitFor: DatabaseReady",
      "web.example.com/v1/Website team/a",
      "  retry: no",
    ]);
  });

  it("is printed by run on request", async () => {
    await using world = await World.create();
    await world.createWebsite("a");
    const lines: string[] = [];
    const { client } = world.cluster();
    const options = { client, clock: world.clock, env: {}, print: (line: string) => void lines.push(line) };
    await run(applying, { ...options, args: ["--plan"] });
    expect(lines).toContain("  apply apps/v1/Deployment team/a: metadata");
  });
});
