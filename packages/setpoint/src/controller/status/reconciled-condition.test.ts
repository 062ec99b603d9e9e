import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import type { KubeObject } from "../../kinds/object.js";
import { done, waitFor } from "../../loop/outcome.js";
import { controller } from "../controller.js";
import type { LiveController } from "../run/live-controller.js";
import { Website, World } from "../world.testing.js";
import { ReconciledCondition } from "./reconciled-condition.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

const here = { namespace: "team" };

/** Waits for the config map of its own name, in its own process. */
const run = (name: string): Promise<LiveController> =>
  world.run(
    controller(Website, {
      name,
      uses: [ConfigMap],
      reconcile: async (_, ctx) => ((await ctx.find(ConfigMap, name)) ? done() : waitFor(name)),
    }),
  );

const stop = async (running: LiveController): Promise<void> => {
  await Promise.all([running.stop(0), world.clock.advance(1_000)]);
};

const allow = (name: string) => world.client.create(ConfigMap, { metadata: { name, ...here } });
const deny = (name: string) => world.client.delete(ConfigMap, name, here);

async function shown(): Promise<string | undefined> {
  const condition = (await world.website("a"))?.status?.conditions?.find(({ type }) => type === "Reconciled");
  return condition && `${condition.status} ${condition.reason}`;
}

const statusWrites = (): number => world.writes.filter((write) => write.endsWith("/status")).length;

describe("Reconciled of two controllers of one kind", () => {
  it("stays False while one waits and the other is done, without a fight", async () => {
    await allow("done");
    await run("waiting");
    await run("done");
    await world.createWebsite("a");
    await world.clock.advance(60_000);
    expect(await shown()).toBe("False waiting");
    await world.annotate("a", { touched: "yes" });
    await world.clock.advance(60_000);
    expect(await shown()).toBe("False waiting");
    expect(statusWrites()).toBeLessThanOrEqual(2);
    await allow("waiting");
    await world.clock.advance(1_000);
    expect(await shown()).toBe("True Succeeded");
  });

  it("is False until both waiting controllers are done, one after the other", async () => {
    await run("first");
    await run("second");
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    const [sooner, later] = (await shown()) === "False first" ? ["first", "second"] : ["second", "first"];
    await allow(sooner!);
    await world.clock.advance(1_000);
    expect(await shown()).toBe(`False ${later}`);
    await allow(later!);
    await world.clock.advance(60_000);
    expect(await shown()).toBe("True Succeeded");
    // Both start at once, so that one of the first two writes may be refused.
    expect(statusWrites()).toBeLessThanOrEqual(5);
  });

  it("is replaced after a restart by a controller that is done by then", async () => {
    const first = await run("first");
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    expect(await shown()).toBe("False first");
    await stop(first);
    await allow("first");
    await run("first");
    await world.clock.advance(1_000);
    expect(await shown()).toBe("True Succeeded");
  });

  it("is the same after a restart of both, while one waits", async () => {
    await allow("done");
    const before = [await run("waiting"), await run("done")];
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    for (const each of before) await stop(each);
    const written = statusWrites();
    await run("waiting");
    await run("done");
    await world.clock.advance(60_000);
    expect(await shown()).toBe("False waiting");
    expect(statusWrites() - written).toBeLessThanOrEqual(2);
  });

  it("causes no fight if the second waiting controller is restarted", async () => {
    await run("first");
    const second = await run("second");
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    await stop(second);
    const written = statusWrites();
    await run("second");
    await world.clock.advance(60_000);
    expect(await shown()).toBe("False second");
    expect(statusWrites() - written).toBe(1);
  });

  it("is replaced if the response to its write was lost", async () => {
    await run("first");
    // The request arrives; its response is lost.
    let isLost = false;
    world.loses = ({ method, path }) => {
      if (isLost || method !== "PATCH" || !path.includes("/status")) return false;
      isLost = true;
      return true;
    };
    await world.createWebsite("a");
    await world.clock.settle();
    await allow("first");
    await world.clock.advance(60_000);
    expect([isLost, await shown()]).toEqual([true, "True Succeeded"]);
  });

  it("starts anew for an object that takes a deleted one's name", async () => {
    await run("first");
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    await world.client.delete(Website, "a", here);
    await world.clock.advance(1_000);
    await allow("first");
    const metadata = { name: "a", ...here, annotations: { "setpoint.dev/paused": "true" } };
    await world.client.create(Website, { metadata, spec: { image: "nginx" } });
    const lastTransitionTime = "2026-01-01T00:00:00Z";
    const imported = { type: "Reconciled", status: "False", reason: "Imported", message: "", lastTransitionTime };
    const body = { status: { conditions: [imported] } };
    await world.client.patch(Website, "a", { type: "merge", body }, { ...here, subresource: "status" });
    await world.annotate("a", { "setpoint.dev/paused": null });
    await world.clock.advance(1_000);
    expect(await shown()).toBe("True Succeeded");
  });

  it("settles after any events: False while one waits, True or absent while none does", async () => {
    const names = ["first", "second"] as const;
    const step = fc.oneof(
      fc.record({ type: fc.constantFrom("toggle" as const, "restart" as const), name: fc.constantFrom(...names) }),
      fc.record({ type: fc.constant("touch" as const), name: fc.constantFrom(...names) }),
    );
    const steps = fc.array(step, { minLength: 1, maxLength: 12 });
    const check = async (taken: readonly { type: "toggle" | "restart" | "touch"; name: string }[]): Promise<void> => {
      const runs = new Map<string, LiveController>();
      const allowed = new Set<string>();
      for (const name of names) runs.set(name, await run(name));
      await world.createWebsite("a");
      await world.clock.advance(1_000);
      const take = async (type: string, name: string, at: number): Promise<void> => {
        if (type === "touch") await world.annotate("a", { touched: String(at) });
        else if (type === "restart") {
          await stop(runs.get(name)!);
          runs.set(name, await run(name));
        } else if (allowed.delete(name)) await deny(name);
        else {
          allowed.add(name);
          await allow(name);
        }
        await world.clock.advance(30_000);
      };
      try {
        for (const [at, { type, name }] of taken.entries()) {
          const written = statusWrites();
          await take(type, name, at);
          const isFalse = (await shown())?.startsWith("False") ?? false;
          expect(isFalse).toBe(allowed.size < names.length);
          expect(statusWrites() - written).toBeLessThanOrEqual(4);
        }
      } finally {
        for (const each of runs.values()) await stop(each);
        for (const name of allowed) await deny(name);
        await world.client.delete(Website, "a", here);
      }
    };
    await fc.assert(fc.asyncProperty(steps, check), { numRuns: 15 });
  });
});

describe("ReconciledCondition", () => {
  const object: KubeObject = {
    apiVersion: "v1",
    kind: "Thing",
    metadata: { name: "a", uid: "1", resourceVersion: "7", creationTimestamp: "" },
  };
  const shown = (reason: string, message?: string) =>
    ({ type: "Reconciled", status: "False", reason, message }) as never;

  const first = { attempt: 0, isLastAttempt: false };

  it("replaces what it may have written, although no response has confirmed it", () => {
    const condition = new ReconciledCondition();
    condition.meet("a", object);
    for (const reason of ["First", "Second"]) {
      condition.writing("a", condition.of(waitFor(reason), first, object, false)!);
    }
    const mayReplace = () => ["First", "Second", "Third"].map((reason) => condition.mayReplace("a", shown(reason)));
    expect(mayReplace()).toEqual([true, true, false]);
    condition.wrote("a", condition.of(waitFor("Second"), first, object, false)!);
    expect(mayReplace()).toEqual([false, true, false]);
    condition.meet("a", { ...object, metadata: { ...object.metadata, uid: "2" } });
    expect(mayReplace()).toEqual([false, false, false]);
  });

  it("recognises its own condition if a schema drops messages", () => {
    const condition = new ReconciledCondition();
    condition.meet("a", object);
    condition.wrote("a", condition.of(waitFor("First", { message: "of all" }), first, object, false)!);
    expect([condition.mayReplace("a", shown("First")), condition.mayReplace("a", shown("First", "else"))]).toEqual([
      true,
      false,
    ]);
  });
});
