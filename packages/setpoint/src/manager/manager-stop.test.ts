import { describe, expect, it } from "vitest";
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
});
