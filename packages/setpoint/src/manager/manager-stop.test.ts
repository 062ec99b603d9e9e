import { describe, expect, it } from "vitest";
import { app } from "../app/app.js";
import { seededRandom } from "../clock/random.js";
import { controller } from "../controller/controller.js";
import { watcher } from "../controller/watcher.js";
import { Website, World } from "../controller/world.testing.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { Manager } from "./manager.js";

describe("a manager that is stopped", () => {
  it("before it has started starts nothing", async () => {
    await using world = await World.create();
    const { client } = world.cluster();
    const health = { host: "127.0.0.1", port: 0 };
    const manager = new Manager({ client, clock: world.clock, random: seededRandom(1), health });
    await manager.add(controller(Website, { reconcile: () => {} }));
    await manager.add(watcher(ConfigMap, { namespaces: ["team"] }));
    const starting = expect(manager.start()).rejects.toThrow("aborted");
    const stopping = manager.stop();
    await world.clock.advance(5_000);
    await stopping;
    await starting;
    expect([...manager.informers.statuses()]).toEqual([]);
    expect(manager.isLeading).toBe(false);
    await expect(fetch(manager.healthUrl!)).rejects.toThrow();
  });

  it("accepts no further parts", async () => {
    await using world = await World.create();
    const manager = new Manager({ client: world.cluster().client, clock: world.clock, random: seededRandom(1) });
    await manager.start();
    const stopping = manager.stop();
    const runs: string[] = [];
    const late = controller(Website, { reconcile: ({ metadata }) => void runs.push(metadata.name) });
    expect(() => manager.add(late)).toThrow("controller websites was added to a manager that is stopping");
    await expect(manager.add(app({ name: "late", kinds: [] }))).rejects.toMatchObject({ code: "CONTROLLER_STOPPED" });
    await world.clock.advance(5_000);
    await stopping;
    await world.createWebsite("a");
    await world.clock.advance(5_000);
    expect([runs, [...manager.informers.statuses()]]).toEqual([[], []]);
  });
});

it("a manager that has lost its lease does not start added parts", async () => {
  await using world = await World.create();
  const { client } = world.cluster();
  await using manager = new Manager({ client, clock: world.clock, random: seededRandom(1), leaderElection: {} });
  await manager.start();
  world.fault = () => new Error("unreachable");
  await world.clock.advance(20_000);
  world.fault = undefined;
  expect([manager.isLeading, manager.ended.aborted]).toEqual([false, true]);
  const runs: string[] = [];
  await manager.add(controller(Website, { reconcile: ({ metadata }) => void runs.push(metadata.name) }));
  await world.createWebsite("a");
  await world.clock.advance(5_000);
  expect(runs).toEqual([]);
});
