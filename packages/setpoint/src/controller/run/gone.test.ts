import { afterEach, beforeEach, expect, it } from "vitest";
import { controller } from "../controller.js";
import { Website, World } from "../world.testing.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

const here = { namespace: "team" };
const remove = (name: string) => world.client.delete(Website, name, here);

it("gone is called once for a deleted object, and needs no finalizer", async () => {
  const gone: string[] = [];
  await world.run(controller(Website, { reconcile: () => {}, gone: (key) => void gone.push(key) }));
  await world.createWebsite("a");
  await world.createWebsite("b");
  await world.clock.settle();
  expect((await world.website("a"))?.metadata.finalizers).toBeUndefined();
  expect(gone).toEqual([]);
  await remove("a");
  await world.clock.advance(60_000);
  expect(gone).toEqual(["team/a"]);
  expect(world.writes).toEqual([]);
});

it("gone is called after finalize, not before", async () => {
  const calls: string[] = [];
  await world.run(
    controller(Website, {
      reconcile: () => {},
      finalize: () => void calls.push("finalize"),
      gone: () => void calls.push("gone"),
    }),
  );
  await world.createWebsite("a");
  await world.clock.settle();
  await remove("a");
  await world.clock.advance(1_000);
  expect(calls).toEqual(["finalize", "gone"]);
});

it("gone is retried after an error, before the next object of that name is reconciled", async () => {
  const calls: string[] = [];
  let failures = 2;
  const errors: unknown[] = [];
  await world.run(
    controller(Website, {
      reconcile: ({ metadata }) => void calls.push(`reconcile ${metadata.labels?.life}`),
      gone: async (key, { attempt }) => {
        calls.push(`gone ${key} ${attempt}`);
        if (failures-- > 0) throw new Error("the cache is locked");
      },
      onError: (error) => errors.push(error),
    }),
  );
  const make = (life: string) =>
    world.client.create(Website, { metadata: { name: "a", ...here, labels: { life } }, spec: { image: "nginx" } });
  await make("first");
  await world.clock.settle();
  await remove("a");
  await make("second");
  await world.clock.advance(10_000);
  expect(calls).toEqual(["reconcile first", "gone team/a 0", "gone team/a 1", "gone team/a 2", "reconcile second"]);
  expect(errors).toHaveLength(2);
});

it("gone is not called for a triggered key that never existed", async () => {
  const gone: string[] = [];
  const run = await world.run(controller(Website, { reconcile: () => {}, gone: (key) => void gone.push(key) }));
  run.trigger("team/nobody", "test");
  await world.clock.advance(1_000);
  expect(gone).toEqual([]);
});

it("gone is given up if it hangs, and retried", async () => {
  const attempts: number[] = [];
  await world.run(
    controller(Website, {
      timeout: "10s",
      reconcile: () => {},
      gone: (_, { attempt }) => {
        attempts.push(attempt);
        return attempt === 0 ? new Promise<never>(() => {}) : undefined;
      },
    }),
  );
  await world.createWebsite("a");
  await world.clock.settle();
  await remove("a");
  await world.clock.advance(60_000);
  expect(attempts).toEqual([0, 1]);
});
