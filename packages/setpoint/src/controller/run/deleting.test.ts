import { describe, expect, it } from "vitest";
import { Pod } from "../../kinds/builtin/v1.js";
import { requeueAfter } from "../../loop/outcome.js";
import { controller } from "../controller.js";
import { Website, World } from "../world.testing.js";

const pod = (name: string) => ({
  metadata: { name, namespace: "team" },
  spec: { containers: [{ name: "a", image: "nginx" }], nodeName: "node-1" },
});

describe("deleting", () => {
  it("is called for an object in its grace period, can set its status, and ends when it is gone", async () => {
    await using world = await World.create();
    const seen: string[] = [];
    const pods = controller(Pod, {
      uses: [Pod],
      reconcile: (each) => void seen.push(`reconcile ${each.metadata.name}`),
      async deleting(each, ctx) {
        seen.push(`deleting ${each.status?.message ?? ""}`);
        if (each.status?.message) return ctx.delete(Pod, each.metadata.name, { gracePeriodSeconds: 0 });
        ctx.status({ message: "last words" });
        return requeueAfter("1s");
      },
    });
    await world.run(pods);
    await world.client.create(Pod, pod("a"));
    await world.clock.advance(0);
    await world.client.delete(Pod, "a", { namespace: "team" });
    await world.clock.advance(2_000);
    expect(seen).toEqual(["reconcile a", "deleting ", "deleting last words"]);
    expect(await world.client.find(Pod, "a", { namespace: "team" })).toBeUndefined();
  });

  it.each([
    ["follows finalize in its run while others hold the object, with one status of both", true],
    ["may be left out: the status of finalize is written while others hold the object", false],
  ])("%s", async (_, isDeclared) => {
    await using world = await World.create();
    const seen: string[] = [];
    const theirs = "example.com/theirs";
    const sites = controller(Website, {
      when: { changed: ["spec"] },
      reconcile: () => {},
      finalize: (_site, ctx) => {
        seen.push("finalize");
        ctx.status({ phase: "Finalized" });
      },
      ...(isDeclared
        ? {
            deleting: ({ metadata }, ctx) => {
              seen.push(`deleting ${metadata.finalizers}`);
              ctx.status({ ready: 0 });
              return requeueAfter("1m");
            },
          }
        : {}),
    });
    await world.client.create(Website, {
      metadata: { name: "a", namespace: "team", finalizers: [theirs] },
      spec: { image: "nginx" },
    });
    await world.run(sites);
    await world.client.delete(Website, "a", { namespace: "team" });
    await world.clock.advance(70_000);
    expect(seen).toEqual(["finalize", ...(isDeclared ? [`deleting ${theirs}`, `deleting ${theirs}`] : [])]);
    expect((await world.website("a"))?.status).toEqual({ phase: "Finalized", ...(isDeclared ? { ready: 0 } : {}) });
    await world.client.patch(
      Website,
      "a",
      { type: "merge", body: { metadata: { finalizers: null } } },
      { namespace: "team" },
    );
    await world.clock.advance(1_000);
    expect(await world.website("a")).toBeUndefined();
  });

  it("follows finalize in the rest of the grace period", async () => {
    await using world = await World.create();
    const seen: string[] = [];
    const pods = controller(Pod, {
      uses: [Pod],
      reconcile: () => {},
      finalize: () => void seen.push("finalize"),
      deleting: ({ metadata }, ctx) => {
        seen.push(`deleting ${metadata.finalizers}`);
        return ctx.delete(Pod, metadata.name, { gracePeriodSeconds: 0 });
      },
    });
    await world.run(pods);
    await world.client.create(Pod, pod("a"));
    await world.clock.advance(0);
    await world.client.delete(Pod, "a", { namespace: "team" });
    await world.clock.advance(1_000);
    expect(seen).toEqual(["finalize", "deleting undefined"]);
    expect(await world.client.find(Pod, "a", { namespace: "team" })).toBeUndefined();
  });

  it("shows the deletionTimestamp right after an own delete, without waiting for the grace period", async () => {
    await using world = await World.create();
    const marks: (string | undefined)[] = [];
    const startedMs = world.clock.monotonic();
    const pods = controller(Pod, {
      uses: [Pod],
      async reconcile(each, ctx) {
        await ctx.delete(Pod, each.metadata.name);
        const known = await ctx.find(Pod, each.metadata.name);
        marks.push(known?.metadata.deletionTimestamp && `after ${world.clock.monotonic() - startedMs} ms`);
      },
    });
    await world.run(pods);
    await world.client.create(Pod, pod("a"));
    await world.clock.advance(0);
    expect(marks).toEqual(["after 0 ms"]);
  });

  it("posts to subresources of the declared kinds", async () => {
    await using world = await World.create();
    const pods = controller(Pod, {
      uses: [Pod],
      async reconcile({ metadata: { name }, spec }, ctx) {
        if (spec.nodeName) return;
        await ctx.createSubresource(Pod, name, {
          subresource: "binding",
          body: { target: { kind: "Node", name: "node-2" } },
        });
      },
    });
    await world.run(pods);
    const { spec, metadata } = pod("a");
    await world.client.create(Pod, { metadata, spec: { containers: spec.containers } });
    await world.clock.advance(0);
    expect((await world.client.get(Pod, "a", { namespace: "team" })).spec.nodeName).toBe("node-2");
    expect(world.runs()[0]?.writes[0]).toMatchObject({ verb: "create", key: "team/a", paths: ["binding"] });
  });
});
