import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KubeObject } from "../../kinds/object.js";
import { controller } from "../controller.js";
import { failure, Website, World } from "../world.testing.js";
import { checkFinalizerName, editFinalizers, finalizerPatch, sweepFinalizers } from "./finalizer.js";

const OURS = "setpoint.dev/websites";

const withFinalizers = (...finalizers: string[]): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", uid: "1", resourceVersion: "7", creationTimestamp: "", finalizers },
});

describe("finalizerPatch", () => {
  it("adds the first finalizer only to the exact state that was read [case 24]", () => {
    expect(finalizerPatch(withFinalizers(), { add: "x/y" })).toEqual([
      { op: "test", path: "/metadata/resourceVersion", value: "7" },
      { op: "add", path: "/metadata/finalizers", value: ["x/y"] },
    ]);
  });

  it("appends to the finalizers of others only if they are unchanged, so that it is never added twice", () => {
    expect(finalizerPatch(withFinalizers("theirs"), { add: "x/y" })).toEqual([
      { op: "test", path: "/metadata/uid", value: "1" },
      { op: "test", path: "/metadata/finalizers", value: ["theirs"] },
      { op: "add", path: "/metadata/finalizers/-", value: "x/y" },
    ]);
  });

  it("removes all duplicates of one finalizer", () => {
    expect(finalizerPatch(withFinalizers("x/y", "theirs", "x/y"), { remove: "x/y" })).toEqual([
      { op: "test", path: "/metadata/uid", value: "1" },
      { op: "test", path: "/metadata/finalizers/2", value: "x/y" },
      { op: "remove", path: "/metadata/finalizers/2" },
      { op: "test", path: "/metadata/finalizers/0", value: "x/y" },
      { op: "remove", path: "/metadata/finalizers/0" },
    ]);
    expect(finalizerPatch(withFinalizers("wip", "wip"), { remove: "wip", add: "x/y" })?.slice(-3)).toEqual([
      { op: "remove", path: "/metadata/finalizers/1" },
      { op: "test", path: "/metadata/finalizers/0", value: "wip" },
      { op: "replace", path: "/metadata/finalizers/0", value: "x/y" },
    ]);
  });

  it("removes and replaces one only if it is still there", () => {
    expect(finalizerPatch(withFinalizers("theirs", "x/y"), { remove: "x/y" })).toEqual([
      { op: "test", path: "/metadata/uid", value: "1" },
      { op: "test", path: "/metadata/finalizers/1", value: "x/y" },
      { op: "remove", path: "/metadata/finalizers/1" },
    ]);
    expect(finalizerPatch(withFinalizers("wip"), { remove: "wip", add: "x/y" })?.at(-1)).toEqual({
      op: "replace",
      path: "/metadata/finalizers/0",
      value: "x/y",
    });
  });

  it("does nothing if all is as wanted, and adds the new one if the old is gone", () => {
    expect(finalizerPatch(withFinalizers("x/y"), { add: "x/y" })).toBeUndefined();
    expect(finalizerPatch(withFinalizers("theirs"), { remove: "x/y" })).toBeUndefined();
    expect(finalizerPatch(withFinalizers("theirs"), { remove: "wip", add: "x/y" })?.at(-1)).toMatchObject({
      op: "add",
      value: "x/y",
    });
  });
});

describe("checkFinalizerName", () => {
  it.each([
    ...["", "example.com/", `example.com/${"a".repeat(64)}`, "a b", "example.com/a/b"],
    ...["example..com/a", "-example.com/a", "example-.com/a", "Example.com/a", `${"a".repeat(254)}/a`, "_a"],
  ])("refuses %j [case 35]", (name) =>
    expect(() => checkFinalizerName(name, "websites")).toThrow(expect.objectContaining({ code: "FINALIZER_INVALID" })),
  );

  it.each(["a", "A_b.c", `example.com/${"a".repeat(63)}`, `${"a".repeat(253)}/a`, "my-app.example.com/clean-up"])(
    "accepts %j, as servers do",
    (name) => expect(() => checkFinalizerName(name, "websites")).not.toThrow(),
  );

  it("runs when a controller is declared", () => {
    const declare = () => controller(Website, { finalizer: "", reconcile: () => {}, finalize: () => {} });
    expect(declare).toThrow(expect.objectContaining({ code: "FINALIZER_INVALID" }));
  });
});

describe("a controller with finalize", () => {
  let world: World;
  beforeEach(async () => {
    world = await World.create();
  });
  afterEach(() => world[Symbol.asyncDispose]());

  const seen: string[] = [];
  beforeEach(() => {
    seen.length = 0;
  });
  const websites = (finalize: (site: Website) => void = () => {}) =>
    controller(Website, {
      retry: { initial: "1s", jitter: 0 },
      reconcile: (site, ctx) => {
        seen.push(`reconcile ${ctx.action} with ${site.metadata.finalizers}`);
      },
      finalize: (site, ctx) => {
        seen.push(`finalize ${ctx.action}`);
        finalize(site);
      },
    });
  const remove = (): Promise<unknown> => world.client.delete(Website, "a", { namespace: "team" });

  it("adds its finalizer before the first reconcile, in the same run [case 24]", async () => {
    await world.run(websites());
    await world.createWebsite("a");
    await world.clock.settle();
    expect(seen).toEqual([`reconcile created with ${OURS}`]);
    expect(world.runs()).toHaveLength(1);
  });

  it("adds none if there is nothing to undo", async () => {
    await world.run(controller(Website, { reconcile: () => {} }));
    await world.createWebsite("a");
    await world.clock.settle();
    expect((await world.website("a"))?.metadata.finalizers).toBeUndefined();
    expect(world.writes).toEqual([]);
  });

  it("retries on fresh metadata if the object changed meanwhile [case 25]", async () => {
    let conflicts = 0;
    world.fault = ({ method }) => (method === "PATCH" && conflicts++ < 2 ? failure(409, "Conflict") : undefined);
    await world.run(websites());
    await world.createWebsite("a");
    await world.clock.settle();
    expect(seen).toEqual([`reconcile created with ${OURS}`]);
    const ofObject = world.requests.filter(({ path }) => path.includes("/websites/a"));
    expect(ofObject.map(({ method }) => method)).toEqual(["PATCH", "GET", "PATCH", "GET", "PATCH"]);
  });

  it("gives up after four conflicts, does not reconcile, and tries again later", async () => {
    world.fault = ({ method }) => (method === "PATCH" ? failure(409, "Conflict") : undefined);
    await world.run(websites());
    await world.createWebsite("a");
    await world.clock.settle();
    expect([seen, world.writes.length]).toEqual([[], 4]);
    world.fault = undefined;
    await world.clock.advance(5_000);
    expect(seen).toEqual([`reconcile created with ${OURS}`]);
  });

  it("does not reconcile an object that it could not add its finalizer to [cases 26 and 33]", async () => {
    world.fault = ({ method }) => (method === "PATCH" ? failure(403, "Forbidden") : undefined);
    await world.run(websites());
    await world.createWebsite("a");
    await world.clock.settle();
    expect(seen).toEqual([]);
    world.fault = undefined;
    await world.clock.advance(5_000);
    expect(seen).toEqual([`reconcile created with ${OURS}`]);
  });

  it("finalizes an object that is being deleted, releases it, and does nothing more [cases 27 and 34]", async () => {
    await world.run(websites());
    await world.createWebsite("a");
    await world.clock.settle();
    await remove();
    await world.clock.advance(60_000);
    expect(seen.slice(1)).toEqual(["finalize deleted"]);
    expect(await world.website("a")).toBeUndefined();
  });

  it("keeps its finalizer while finalize fails or waits [case 34]", async () => {
    let failures = 2;
    await world.run(
      websites(() => {
        if (failures-- > 0) throw new Error("the record is still in use");
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    await remove();
    await world.clock.settle();
    expect((await world.website("a"))?.metadata.finalizers).toEqual([OURS]);
    await world.clock.advance(10_000);
    expect(seen.slice(1)).toEqual(["finalize deleted", "finalize deleted", "finalize deleted"]);
    expect(await world.website("a")).toBeUndefined();
  });

  it("repeats only the patch if that failed after finalize [case 31]", async () => {
    await world.run(websites());
    await world.createWebsite("a");
    await world.clock.settle();
    world.fault = ({ method }) => (method === "PATCH" ? failure(500, "InternalError") : undefined);
    await remove();
    await world.clock.settle();
    world.fault = undefined;
    await world.clock.advance(60_000);
    expect(seen.slice(1)).toEqual(["finalize deleted"]);
    expect(await world.website("a")).toBeUndefined();
  });

  it("ignores an object that is being deleted without its finalizer [case 27]", async () => {
    const finalizers = ["example.com/theirs"];
    await world.client.create(Website, {
      metadata: { name: "a", namespace: "team", finalizers },
      spec: { image: "x" },
    });
    await remove();
    await world.run(websites());
    await world.clock.settle();
    expect(seen).toEqual([]);
    expect(world.writes).toEqual([]);
  });

  it("finalizes an object that was deleted while it was down", async () => {
    const first = await world.run(websites());
    await world.createWebsite("a");
    await world.clock.settle();
    await Promise.all([first.stop(), world.clock.advance(1_000)]);
    await remove();
    await world.run(websites());
    await world.clock.settle();
    expect(seen.slice(1)).toEqual(["finalize deleted"]);
    expect(await world.website("a")).toBeUndefined();
  });

  it("checks for deletion before any filter", async () => {
    await world.run(
      controller(Website, {
        when: { changed: ["spec"], matches: (site) => site.spec.image !== "ignored" },
        reconcile: () => void seen.push("reconcile"),
        finalize: () => void seen.push("finalize"),
      }),
    );
    const site = await world.createWebsite("a");
    await world.clock.settle();
    await world.annotate("a", { touched: "yes" });
    await world.clock.settle();
    expect(seen).toEqual(["reconcile"]);
    await world.client.update(Website, { ...(await world.website("a"))!, spec: { ...site.spec, image: "ignored" } });
    await world.clock.settle();
    await remove();
    await world.clock.settle();
    expect(seen.at(-1)).toBe("finalize");
    expect(await world.website("a")).toBeUndefined();
  });

  it("leaves the finalizers of others as they are", async () => {
    await world.run(websites());
    const finalizers = ["example.com/theirs"];
    await world.client.create(Website, {
      metadata: { name: "a", namespace: "team", finalizers },
      spec: { image: "x" },
    });
    await world.clock.settle();
    expect((await world.website("a"))?.metadata.finalizers).toEqual(["example.com/theirs", OURS]);
    await remove();
    await world.clock.settle();
    expect((await world.website("a"))?.metadata.finalizers).toEqual(["example.com/theirs"]);
  });

  const createHeld = (...finalizers: string[]): Promise<Website> =>
    world.client.create(Website, { metadata: { name: "a", namespace: "team", finalizers }, spec: { image: "x" } });

  it("releases an object that has its finalizer twice", async () => {
    await createHeld("example.com/theirs", OURS, OURS);
    await world.run(websites());
    await world.clock.settle();
    await remove();
    await world.clock.settle();
    expect((await world.website("a"))?.metadata.finalizers).toEqual(["example.com/theirs"]);
    expect(seen.slice(1)).toEqual(["finalize deleted"]);
  });

  it("adds its finalizer once, even with stale metadata", async () => {
    const stale = await createHeld("example.com/theirs");
    for (let times = 0; times < 2; times++) await editFinalizers(world.client, Website, stale, { add: OURS });
    expect((await world.website("a"))?.metadata.finalizers).toEqual(["example.com/theirs", OURS]);
  });

  it("neither fails nor reconciles if the object is deleted before its finalizer is added", async () => {
    const errors: unknown[] = [];
    await createHeld("example.com/theirs");
    let isDeleted = false;
    world.hangs = ({ method }) => {
      if (method === "PATCH" && !isDeleted) void remove().then(() => (isDeleted = true));
      return false;
    };
    const run = await world.run(
      controller(Website, {
        reconcile: () => void seen.push("reconcile"),
        finalize: () => void seen.push("finalize"),
        onError: (error) => errors.push(error),
      }),
    );
    await world.clock.advance(60_000);
    expect([isDeleted, seen, errors, run.status().delayed]).toEqual([true, [], [], 0]);
  });

  it("is removed from all objects by sweepFinalizers", async () => {
    const first = await world.run(websites());
    await world.createWebsite("a");
    await world.createWebsite("b", {}, "other");
    await world.clock.settle();
    await Promise.all([first.stop(), world.clock.advance(1_000)]);
    expect(await sweepFinalizers(world.client, Website, OURS)).toEqual(["other/b", "team/a"]);
    expect((await world.website("a"))?.metadata.finalizers).toBeUndefined();
    expect(await sweepFinalizers(world.client, Website, OURS)).toEqual([]);
  });

  it("does not touch another object that took the name", async () => {
    const old = await world.createWebsite("a");
    await remove();
    await world.createWebsite("a");
    expect(await editFinalizers(world.client, Website, old, { add: "x/y" })).toBeUndefined();
    expect((await world.website("a"))?.metadata.finalizers).toBeUndefined();
  });
});
