import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { CustomResourceDefinition } from "../../kinds/builtin/apiextensions.k8s.io/v1.js";
import { findCondition } from "../../kinds/condition.js";
import { resource } from "../../kinds/resource.js";
import { waitFor } from "../../loop/outcome.js";
import { controller } from "../controller.js";
import { World } from "../world.testing.js";

const condition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.string(),
  observedGeneration: z.int().optional(),
});
const spec = z.object({ size: z.int().optional() });
const phase = z.string().optional();

const Shop = resource("web.example.com/v1/Shop", { spec, status: z.strictObject({ phase }), conditions: true });
/** Allows only its own condition type. */
const Strict = resource("web.example.com/v1/Strict", {
  spec,
  plural: "stricts",
  status: z.object({ phase, conditions: z.array(condition.extend({ type: z.enum(["Open"]) })).optional() }),
});
const Bare = resource("web.example.com/v1/Bare", { spec, plural: "bares", status: z.object({ phase }) });

let world: World;
beforeEach(async () => {
  world = await World.create();
  for (const kind of [Shop, Strict, Bare]) await world.client.create(CustomResourceDefinition, kind.crd());
  await world.clock.advance(5_000);
});
afterEach(() => world[Symbol.asyncDispose]());

it("are an option of the kind, and appear in its schema once", () => {
  const [version] = Shop.crd().spec.versions;
  expect(version?.schema?.openAPIV3Schema?.properties?.status?.properties).toHaveProperty("conditions");
  expect(version?.subresources).toEqual({ status: {} });
  const [open] = [
    { type: "Open", status: "True", reason: "Opened", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
  ];
  const metadata = { name: "a" };
  expect(Shop.validate({ metadata, status: { conditions: [open as never] } })).toEqual([]);
  expect(Shop.validate({ metadata, status: { conditions: [{ ...open, status: "yes" } as never] } })).toMatchObject([
    { path: "status.conditions[0].status" },
  ]);
  const both = { spec, status: z.object({ conditions: z.array(condition) }), conditions: true } as const;
  expect(() => resource("web.example.com/v1/Both", both)).toThrow("has conditions already");
});

const here = { namespace: "team" };
const reconciled = async () => {
  const { status } = await world.client.get(Shop, "a", here);
  return findCondition(status?.conditions as never, "Reconciled");
};
const create = () => world.client.create(Shop, { metadata: { name: "a", ...here }, spec: {} });

describe("Reconciled of a kind that declares conditions", () => {
  it("becomes True with the status write of the successful run, once per generation, and is not repeated", async () => {
    const shops = () => controller(Shop, { reconcile: (_, ctx) => ctx.status({ phase: "Open" }) });
    const run = await world.run(shops());
    await create();
    await world.clock.advance(1_000);
    expect(await reconciled()).toMatchObject({ status: "True", reason: "Succeeded", observedGeneration: 1 });
    const path = "/apis/web.example.com/v1/namespaces/team/shops/a/status";
    expect(world.writes).toEqual([`PATCH ${path}`]);
    await world.client.patch(Shop, "a", { type: "merge", body: { spec: { size: 2 } } }, here);
    await world.clock.advance(1_000);
    expect(await reconciled()).toMatchObject({ status: "True", observedGeneration: 2 });
    expect(world.writes).toEqual([`PATCH ${path}`, `PATCH ${path}`]);
    const body = { metadata: { labels: { touched: "yes" } } };
    await world.client.patch(Shop, "a", { type: "merge", body }, here);
    await Promise.all([run.stop(0), world.clock.advance(1_000)]);
    await world.run(shops());
    await world.clock.advance(60_000);
    expect(world.runs("team/a").length).toBeGreaterThanOrEqual(3);
    expect(world.writes).toHaveLength(2);
  });

  it("becomes False at the third failure in a row, with the message and one event, and True at the first success", async () => {
    let isBroken = true;
    await world.run(
      controller(Shop, {
        retry: { initial: "1s", factor: 1, jitter: 0 },
        reconcile: () => {
          if (isBroken) throw new Error("the till is locked");
        },
      }),
    );
    await create();
    await world.clock.advance(1_500);
    expect(world.runs("team/a")).toHaveLength(2);
    expect(await reconciled()).toBeUndefined();
    expect(world.events).toEqual([]);
    await world.clock.advance(1_000);
    expect(await reconciled()).toMatchObject({
      status: "False",
      reason: "ReconcileFailed",
      message: "the till is locked",
      observedGeneration: 1,
    });
    await world.clock.advance(3_000);
    expect(world.events.map(({ reason, message }) => [reason, message])).toEqual([
      ["ReconcileFailed", "3 runs in a row failed; retrying with back-off: the till is locked"],
    ]);
    expect(world.writes).toHaveLength(1);
    isBroken = false;
    await world.clock.advance(2_000);
    expect(await reconciled()).toMatchObject({ status: "True" });
  });

  it("is left out if the schema does not allow the type, without losing the rest of the status", async () => {
    await world.run(
      controller(Strict, {
        reconcile: (_, ctx) => {
          ctx.status({ phase: "Open" });
          return waitFor("Customers");
        },
      }),
    );
    await world.client.create(Strict, { metadata: { name: "a", ...here }, spec: {} });
    await world.clock.advance(1_000);
    const { status } = await world.client.get(Strict, "a", here);
    expect(status).toEqual({ phase: "Open" });
    expect(world.runs("team/a").map(({ outcome }) => outcome)).toEqual(["waitFor"]);
  });
});

it("reports the third failure of a kind without conditions only by an event, and writes nothing", async () => {
  await world.run(
    controller(Bare, {
      retry: { initial: "1s", factor: 1, jitter: 0 },
      reconcile: () => {
        throw new Error("no");
      },
    }),
  );
  await world.client.create(Bare, { metadata: { name: "a", ...here }, spec: {} });
  await world.clock.advance(10_000);
  expect(world.events.map(({ reason }) => reason)).toEqual(["ReconcileFailed"]);
  expect(world.writes).toEqual([]);
});

describe("ctx.condition", () => {
  const open = { type: "Open", status: "True", reason: "Morning" } as const;

  it("is refused without a request for a kind whose status has no conditions, with advice", async () => {
    await world.run(
      controller(Bare, {
        reconcile: (_, ctx) => {
          // @ts-expect-error: the compiler says it as well
          ctx.condition(open);
        },
      }),
    );
    await world.client.create(Bare, { metadata: { name: "a", ...here }, spec: {} });
    await world.clock.advance(60_000);
    expect(world.runs("team/a")).toMatchObject([{ outcome: "terminal" }]);
    expect(world.runs("team/a")[0]?.reason).toContain("add conditions to the schema of its status");
    expect(world.writes).toEqual([]);
  });

  it("fails a run whose condition the server dropped because its CRD is older", async () => {
    const older = resource("web.example.com/v1/Shop", { spec, status: z.object({ phase }) });
    const installed = await world.client.get(CustomResourceDefinition, "shops.web.example.com");
    await world.client.update(CustomResourceDefinition, { ...installed, spec: older.crd().spec });
    await world.clock.advance(5_000);
    await world.run(controller(Shop, { reconcile: (_, ctx) => ctx.condition(open) }));
    await create();
    await world.clock.settle();
    expect(world.runs("team/a")[0]).toMatchObject({ outcome: "retry" });
    expect(world.runs("team/a")[0]?.reason).toContain("the server dropped Open");
  });
});
