import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { controller } from "./controller.js";
import { opinionatedSupersede, supersedeAll, type WatchStep, watcher } from "./watcher.js";
import { failure, Website, World } from "./world.testing.js";

let world: World;
let seen: string[];
beforeEach(async () => {
  world = await World.create();
  seen = [];
});
afterEach(() => world[Symbol.asyncDispose]());

const fast = { initial: "1s", jitter: 0 } as const;

async function change(name: string, image: string): Promise<void> {
  await world.client.update(Website, { ...(await world.website(name))!, spec: { image } });
}

const remove = (name: string): Promise<unknown> => world.client.delete(Website, name, { namespace: "team" });

describe("a watcher", () => {
  it("refuses invalid handlers and unknown options", () => {
    expect(() => watcher(Website, { add: "x" as never })).toThrow("watcher websites: add is x, not a function");
    expect(() => watcher(Website, { added: () => {} } as never)).toThrow("there is no option added");
    expect(() => watcher(Website, { retry: { attempts: -1 } })).toThrow("retry.attempts is -1, not 0 or more");
  });

  it("is called once for an add, beside a reconciler of the same kind [case 1]", async () => {
    const cluster = world.cluster();
    await world.watch(watcher(Website, { add: (site) => void seen.push(`watcher ${site.metadata.name}`) }), {
      cluster,
    });
    await world.run(controller(Website, { reconcile: (site) => void seen.push(`reconciler ${site.metadata.name}`) }), {
      cluster,
    });
    await world.createWebsite("a");
    await world.clock.settle();
    expect(seen.sort()).toEqual(["reconciler a", "watcher a"]);
  });

  it("retries a failed step within its policy, then gives it up and reports it [case 2]", async () => {
    const errors: string[] = [];
    const cluster = world.cluster();
    await world.watch(
      watcher(Website, {
        retry: { ...fast, attempts: 1 },
        onError: (_, { attempt, givenUp }) => errors.push(`${attempt} ${givenUp}`),
        add: () => {
          seen.push("watcher");
          throw new Error("no");
        },
      }),
      { cluster },
    );
    await world.run(controller(Website, { reconcile: () => void seen.push("reconciler") }), { cluster });
    await world.createWebsite("a");
    await world.clock.advance(60_000);
    expect(seen.sort()).toEqual(["reconciler", "watcher", "watcher"]);
    expect(errors).toEqual(["0 false", "1 true"]);
  });

  it("retries independently of a reconciler [case 4]", async () => {
    const cluster = world.cluster();
    const fail = (who: string) => () => {
      seen.push(who);
      if (seen.filter((other) => other === who).length === 1) throw new Error("once");
    };
    await world.watch(watcher(Website, { retry: fast, add: fail("watcher") }), { cluster });
    await world.run(controller(Website, { retry: fast, reconcile: fail("reconciler") }), { cluster });
    await world.createWebsite("a");
    await world.clock.advance(60_000);
    expect(seen.sort()).toEqual(["reconciler", "reconciler", "watcher", "watcher"]);
  });

  it("waits longer from retry to retry [case 6]", async () => {
    const times: number[] = [];
    await world.watch(
      watcher(Website, {
        retry: { ...fast, attempts: 4 },
        add: () => {
          times.push(world.clock.monotonic());
          throw new Error("no");
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(60_000);
    expect(times.slice(1).map((timeMs, at) => timeMs - times[at]!)).toEqual([1_000, 2_000, 4_000, 8_000]);
  });

  it("drops the retries of a failed add after an update if every step supersedes [case 7]", async () => {
    await world.watch(
      watcher(Website, {
        retry: fast,
        supersedes: supersedeAll,
        add: () => {
          seen.push("add");
          throw new Error("no");
        },
        update: () => void seen.push("update"),
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    await change("a", "b");
    await world.clock.advance(600_000);
    expect(seen).toEqual(["add", "update"]);
  });

  it("stops retrying a step after a success [case 8]", async () => {
    let failures = 2;
    await world.watch(
      watcher(Website, {
        retry: fast,
        add: () => {
          seen.push("add");
          if (failures-- > 0) throw new Error("no");
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(600_000);
    expect(seen).toEqual(["add", "add", "add"]);
  });

  it("makes four attempts with three retries [case 9]", async () => {
    await world.watch(
      watcher(Website, {
        retry: { ...fast, attempts: 3 },
        add: () => {
          seen.push("add");
          throw new Error("no");
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(3_600_000);
    expect(seen).toHaveLength(4);
  });

  it("keeps the retry of an add beside an update by default, and both if both fail [case 10]", async () => {
    const failUntil = new Map([
      ["add", 2],
      ["update", 2],
    ]);
    const step = (name: string) => () => {
      seen.push(name);
      const left = failUntil.get(name)!;
      failUntil.set(name, left - 1);
      if (left > 0) throw new Error("no");
    };
    await world.watch(watcher(Website, { retry: fast, add: step("add"), update: step("update") }));
    await world.createWebsite("a");
    await world.clock.settle();
    await change("a", "b");
    await world.clock.advance(60_000);
    expect(seen.filter((name) => name === "add")).toHaveLength(3);
    expect(seen.filter((name) => name === "update")).toHaveLength(3);
  });

  it("goes on in the same order when another of its kind is removed; removing one twice is harmless [case 12]", async () => {
    const cluster = world.cluster();
    const runs = [];
    for (const name of ["first", "middle", "last"]) {
      const declared = watcher(Website, { name, add: (site) => void seen.push(`${name} ${site.metadata.name}`) });
      runs.push(await world.watch(declared, { cluster }));
    }
    await world.createWebsite("a");
    await world.clock.settle();
    await runs[1]!.stop();
    await runs[1]!.stop();
    await world.createWebsite("b");
    await world.clock.settle();
    expect(seen).toEqual(["first a", "middle a", "last a", "first b", "last b"]);
  });

  it("keeps its pending retry when an earlier watcher is removed", async () => {
    const cluster = world.cluster();
    const failing = (name: string) =>
      watcher(Website, {
        name,
        retry: fast,
        add: () => {
          seen.push(name);
          if (seen.filter((other) => other === name).length === 1) throw new Error("once");
        },
      });
    const first = await world.watch(failing("first"), { cluster });
    await world.watch(failing("second"), { cluster });
    await world.createWebsite("a");
    await world.clock.settle();
    await first.stop();
    await world.clock.advance(60_000);
    expect(seen).toEqual(["first", "second", "second"]);
  });

  it("reports an error on every attempt [case 13]", async () => {
    const errors: string[] = [];
    const observer = { failed: (error: unknown) => void errors.push((error as Error).message) };
    let calls = 0;
    await world.watch(
      watcher(Website, {
        retry: fast,
        add: () => {
          if (++calls <= 3) throw new Error(`failure ${calls}`);
        },
      }),
      { observer },
    );
    await world.createWebsite("a");
    await world.clock.advance(60_000);
    expect(errors).toEqual(["failure 1", "failure 2", "failure 3"]);
  });

  it("handles the steps of one object in order, however slow, while others go on [case 19]", async () => {
    await world.watch(
      watcher(Website, {
        concurrency: 4,
        add: async (site) => {
          await world.clock.sleep(site.metadata.name === "slow" ? 1_000 : 0);
          seen.push(`add ${site.metadata.name}`);
        },
        update: (site, old) => void seen.push(`update ${old.spec.image} to ${site.spec.image}`),
        delete: (site) => void seen.push(`delete ${site.metadata.name} of ${site.spec.image}`),
      }),
    );
    await world.createWebsite("slow", { image: "1" });
    await change("slow", "2");
    await change("slow", "3");
    await remove("slow");
    await world.createWebsite("quick");
    await world.clock.advance(5_000);
    expect(seen).toEqual(["add quick", "add slow", "update 1 to 2", "update 2 to 3", "delete slow of 3"]);
  });

  it("tells objects of the initial list from new ones, and a resync from an update", async () => {
    await world.createWebsite("a");
    await world.watch(
      watcher(Website, {
        resync: "1h",
        add: (_, ctx) => void seen.push(`add ${ctx.isInInitialList}`),
        sync: () => void seen.push("sync"),
      }),
    );
    await world.clock.advance(3_600_000 * 1.5);
    expect(seen).toEqual(["add true", "sync"]);
  });
});

describe("opinionatedSupersede", () => {
  const object = (generation: number) => ({ metadata: { generation } }) as Website;
  const add = (generation: number): WatchStep => ({ type: "add", object: object(generation), isInInitialList: false });
  const update = (generation: number): WatchStep => ({ type: "update", old: object(1), object: object(generation) });
  const deleted: WatchStep = { type: "delete", object: object(1), finalStateUnknown: false };

  it.each<[string, WatchStep, WatchStep, boolean]>([
    ["a delete", update(1), deleted, true],
    ["another action", add(1), update(2), false],
    ["the same generation", update(2), update(2), false],
    ["a newer generation", update(2), update(3), true],
  ])("%s [case 11]", (_, pending, next, superseded) => expect(opinionatedSupersede(pending, next)).toBe(superseded));
});

describe("a watcher with a finalizer", () => {
  const FINAL = "example.com/websites";
  const finalizers = async (): Promise<readonly string[] | undefined> =>
    (await world.website("a"))?.metadata.finalizers;
  const opinionated = (more: { add?: () => void; delete?: () => void; finalizer?: string } = {}) =>
    watcher(Website, {
      finalizer: more.finalizer ?? FINAL,
      retry: fast,
      add: (site) => {
        seen.push(`add with ${site.metadata.finalizers}`);
        more.add?.();
      },
      update: (site, old) => void seen.push(`update ${old.spec.image} to ${site.spec.image}`),
      sync: () => void seen.push("sync"),
      delete: () => {
        seen.push("delete");
        more.delete?.();
      },
    });

  it("marks an object, adds it, then adds its finalizer; its own patches are no updates [cases 24 and 30]", async () => {
    await world.watch(opinionated());
    await world.createWebsite("a");
    await world.clock.settle();
    expect(seen).toEqual([`add with ${FINAL}-wip`]);
    expect(await finalizers()).toEqual([FINAL]);
    const patches = world.requests.filter(({ method }) => method === "PATCH").map(({ body }) => JSON.stringify(body));
    expect(patches).toHaveLength(2);
    expect(patches.every((patch) => patch.includes('"op":"test"'))).toBe(true);
  });

  it("retries after conflicts of its first patch [case 25]", async () => {
    let conflicts = 0;
    world.fault = ({ method }) => (method === "PATCH" && conflicts++ < 2 ? failure(409, "Conflict") : undefined);
    await world.watch(opinionated());
    await world.createWebsite("a");
    await world.clock.settle();
    expect(seen).toHaveLength(1);
    const ofObject = world.requests.filter(({ path }) => path.includes("/websites/a"));
    expect(ofObject.map(({ method }) => method)).toEqual(["PATCH", "GET", "PATCH", "GET", "PATCH", "PATCH"]);
  });

  it("does not add an object that it could not mark [case 26]", async () => {
    world.fault = ({ method }) => (method === "PATCH" ? failure(403, "Forbidden") : undefined);
    await world.watch(opinionated());
    await world.createWebsite("a");
    await world.clock.advance(5_000);
    expect([seen, await finalizers()]).toEqual([[], undefined]);
    world.fault = undefined;
    await world.clock.advance(60_000);
    expect(seen).toEqual([`add with ${FINAL}-wip`]);
  });

  it("keeps the mark if add fails, and retries [case 26]", async () => {
    let failures = 1;
    const patches: unknown[] = [];
    world.fault = (request) => void (request.method === "PATCH" && patches.push(request));
    await world.watch(
      opinionated({
        add: () => {
          if (failures-- > 0) throw new Error("no");
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    expect([await finalizers(), patches.length]).toEqual([[`${FINAL}-wip`], 1]);
    await world.clock.advance(5_000);
    expect([await finalizers(), patches.length, seen.length]).toEqual([[FINAL], 2, 2]);
  });

  it("deletes objects with its finalizer or mark, and ignores those that only others hold [case 27]", async () => {
    for (const finalizer of [FINAL, `${FINAL}-wip`, "example.com/theirs"]) {
      const name = finalizer.split("/")[1]!;
      const metadata = { name, namespace: "team", finalizers: [finalizer] };
      await world.client.create(Website, { metadata, spec: { image: "x" } });
      await remove(name);
    }
    await world.watch(opinionated());
    await world.clock.settle();
    expect(seen).toEqual(["delete", "delete"]);
    const { items } = await world.client.list(Website, { namespace: "team" });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["theirs"]);
  });

  it("keeps its finalizer if delete fails, and retries [case 27]", async () => {
    let failures = 2;
    await world.watch(
      opinionated({
        delete: () => {
          if (failures-- > 0) throw new Error("no");
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    await remove("a");
    await world.clock.settle();
    expect(await finalizers()).toEqual([FINAL]);
    await world.clock.advance(10_000);
    expect(await world.website("a")).toBeUndefined();
    expect(seen.slice(1)).toEqual(["delete", "delete", "delete"]);
  });

  it("calls sync for objects that already have its finalizer [case 28]", async () => {
    const metadata = { name: "a", namespace: "team", finalizers: [FINAL, `${FINAL}-wip`] };
    await world.client.create(Website, { metadata, spec: { image: "x" } });
    await world.watch(opinionated());
    await world.clock.settle();
    expect(seen).toEqual(["sync"]);
    expect(await finalizers()).toEqual([FINAL]);
  });

  it("gets updates of the spec only [case 29]", async () => {
    await world.watch(opinionated());
    await world.createWebsite("a", { image: "1" });
    await world.clock.settle();
    await world.annotate("a", { touched: "yes" });
    await world.clock.settle();
    await change("a", "2");
    await world.clock.settle();
    expect(seen.slice(1)).toEqual(["update 1 to 2"]);
  });

  it("calls add, and not update as well, for an object that changed before it was added", async () => {
    let failures = 1;
    await world.watch(
      opinionated({
        add: () => {
          if (failures-- > 0) throw new Error("no");
        },
      }),
    );
    await world.createWebsite("a", { image: "1" });
    await world.clock.settle();
    await change("a", "2");
    await world.clock.advance(60_000);
    expect(seen).toEqual([`add with ${FINAL}-wip`, `add with ${FINAL}-wip`]);
    expect(await finalizers()).toEqual([FINAL]);
  });

  it("calls update, and not add again, for an object that changed while it was being added", async () => {
    await world.watch(
      watcher(Website, {
        finalizer: FINAL,
        add: async (site) => {
          seen.push(`add ${site.spec.image}`);
          await world.clock.sleep(10_000);
        },
        update: (site, old) => void seen.push(`update ${old.spec.image} to ${site.spec.image}`),
      }),
    );
    await world.createWebsite("a", { image: "1" });
    await world.clock.advance(1_000);
    await change("a", "2");
    await world.clock.advance(60_000);
    expect(seen).toEqual(["add 1", "update 1 to 2"]);
    expect(await finalizers()).toEqual([FINAL]);
  });

  it("retries a failed update, also of an object that changed while it was being added", async () => {
    let failures = 1;
    await world.watch(
      watcher(Website, {
        finalizer: FINAL,
        retry: fast,
        add: async () => {
          seen.push("add");
          await world.clock.sleep(10_000);
        },
        update: (site) => {
          seen.push(`update to ${site.spec.image}`);
          if (failures-- > 0) throw new Error("no");
        },
      }),
    );
    await world.createWebsite("a", { image: "1" });
    await world.clock.advance(1_000);
    await change("a", "2");
    await world.clock.advance(60_000);
    expect(seen).toEqual(["add", "update to 2", "update to 2"]);
  });

  it("calls delete once for an object that changed while it was being deleted", async () => {
    await world.watch(
      watcher(Website, {
        finalizer: FINAL,
        delete: async () => {
          seen.push("delete");
          await world.clock.sleep(10_000);
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    await remove("a");
    await world.clock.advance(1_000);
    await world.annotate("a", { touched: "yes" });
    await world.clock.advance(60_000);
    expect(seen).toEqual(["delete"]);
    expect(await world.website("a")).toBeUndefined();
    await world.createWebsite("a");
    await world.clock.settle();
    await remove("a");
    await world.clock.advance(60_000);
    expect(seen).toEqual(["delete", "delete"]);
  });

  it("of a kind without generations gets adds and changes, but not its own patches [cases 24 and 29]", async () => {
    const touch = (body: object) =>
      world.client.patch(ConfigMap, "a", { type: "merge", body: body as never }, { namespace: "team" });
    await world.watch(
      watcher(ConfigMap, {
        finalizer: FINAL,
        labelSelector: "watched",
        add: ({ data }) => void seen.push(`add ${data?.size}`),
        update: ({ data }) => void seen.push(`update ${data?.size}`),
      }),
    );
    const metadata = { name: "a", namespace: "team", labels: { watched: "yes" } };
    await world.client.create(ConfigMap, { metadata, data: { size: "1" } });
    await world.clock.advance(1_000);
    await touch({ metadata: { annotations: { touched: "yes" } } });
    await world.clock.advance(1_000);
    await touch({ data: { size: "2" } });
    await world.clock.advance(1_000);
    expect(seen).toEqual(["add 1", "update 2"]);
  });

  it("refuses names that a server would refuse, including its own mark [case 35]", () => {
    for (const finalizer of ["", `example.com/${"a".repeat(60)}`]) {
      expect(() => opinionated({ finalizer })).toThrow(expect.objectContaining({ code: "FINALIZER_INVALID" }));
    }
  });
});
