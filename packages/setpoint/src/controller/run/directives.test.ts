import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { controller } from "../controller.js";
import { Website, World } from "../world.testing.js";
import { isPaused, PAUSED_ANNOTATION, RECONCILE_NOW_ANNOTATION, STEP_ANNOTATION } from "./directives.js";

let world: World;
let images: string[];
beforeEach(async () => {
  world = await World.create();
  images = [];
});
afterEach(() => world[Symbol.asyncDispose]());

const websites = () =>
  controller(Website, {
    when: { changed: ["spec"] },
    reconcile: (site) => void images.push(site.spec.image),
  });

async function change(image: string): Promise<void> {
  await world.client.update(Website, { ...(await world.website("a"))!, spec: { image } });
  await world.clock.settle();
}

describe("annotations", () => {
  it("pause an object, run it step by step, and resume it", async () => {
    await world.run(websites());
    await world.createWebsite("a", { image: "1" });
    await world.clock.settle();
    await world.annotate("a", { [PAUSED_ANNOTATION]: "true" });
    await change("2");
    expect(images).toEqual(["1"]);
    expect(world.runs().at(-1)?.outcome).toBe("paused");

    await world.annotate("a", { [STEP_ANNOTATION]: "first" });
    await world.clock.settle();
    expect(images).toEqual(["1", "2"]);
    await change("3");
    expect(images).toEqual(["1", "2"]);

    await world.annotate("a", { [PAUSED_ANNOTATION]: null });
    await world.clock.settle();
    expect(images).toEqual(["1", "2", "3"]);
    expect(world.runs().at(-1)?.causes).toContainEqual({ type: "requested", by: "resume" });
  });

  it("request a run at once, past every filter", async () => {
    await world.run(websites());
    await world.createWebsite("a", { image: "1" });
    await world.clock.settle();
    await world.annotate("a", { unrelated: "yes" });
    await world.clock.settle();
    expect(images).toEqual(["1"]);
    await world.annotate("a", { [RECONCILE_NOW_ANNOTATION]: "2026-01-01" });
    await world.clock.settle();
    expect(images).toEqual(["1", "1"]);
    expect(world.runs().at(-1)?.causes).toEqual([{ type: "requested", by: "reconcile-now" }]);
  });

  it("pause finalizing, too", async () => {
    const seen: string[] = [];
    await world.run(controller(Website, { reconcile: () => {}, finalize: () => void seen.push("finalize") }));
    await world.createWebsite("a");
    await world.clock.settle();
    await world.annotate("a", { [PAUSED_ANNOTATION]: "" });
    await world.client.delete(Website, "a", { namespace: "team" });
    await world.clock.settle();
    expect(seen).toEqual([]);
    await world.annotate("a", { [PAUSED_ANNOTATION]: "false" });
    await world.clock.settle();
    expect(seen).toEqual(["finalize"]);
  });
});

describe("an object that its controller ignores", () => {
  it("gets no run, no finalizer and no status, until it changes", async () => {
    const websitesOfOthers = controller(Website, {
      ignores: ({ spec }) => spec.image === "theirs",
      reconcile: (site, ctx) => {
        images.push(site.spec.image);
        ctx.status({ ready: 1 });
      },
      finalize: () => {},
    });
    await world.run(websitesOfOthers);
    const made = await world.createWebsite("a", { image: "theirs" });
    await world.clock.settle();
    expect((await world.website("a"))?.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    await change("ours");
    expect(images).toEqual(["ours"]);
    expect((await world.website("a"))?.status).toMatchObject({ ready: 1 });
  });
});

describe("isPaused", () => {
  it.each([
    ["true", true],
    ["", true],
    ["false", false],
    [undefined, false],
  ])("reads %j as %s", (value, paused) => {
    const annotations = value === undefined ? undefined : { [PAUSED_ANNOTATION]: value };
    const metadata = { name: "a", uid: "1", resourceVersion: "1", creationTimestamp: "", annotations };
    expect(isPaused({ metadata })).toBe(paused);
  });
});
