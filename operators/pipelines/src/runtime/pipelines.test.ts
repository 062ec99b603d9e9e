import { writeFileSync } from "node:fs";
import { seededRandom } from "setpoint/clock";
import { describe, expect, it } from "vitest";
import type { TableFacts } from "../engine/engine.js";
import { refresh } from "./refresh.js";
import { explanationView, resourceViews } from "./resource-view.js";
import { World } from "./world.testing.js";

const named = (name: string) => ({ kind: "Model", name });

describe("a project", () => {
  it("runs the declared models in order, and nothing after a restart", async () => {
    await using world = await World.create({ orders: { text: "o" }, daily: { text: "d", refs: ["orders"] } });
    expect(world.runs).toEqual(["orders", "daily"]);
    await world.restart();
    expect(world.runs).toEqual(["orders", "daily"]);
  });

  it("deletes, renames and creates in one batch, and does not rebuild what was renamed [5]", async () => {
    await using world = await World.create({ bar: { text: "b" }, foo: { text: "f" } });
    world.runs.length = 0;
    await world.settle({ foo_two: { text: "f" }, bazz: { text: "z" } });
    expect(world.runs).toEqual(["bazz"]);
    expect([...world.tables.keys()].sort()).toEqual(["bazz", "foo_two"]);
  });

  it("keeps the table of a broken file, and reports the error of the file [2, 6]", async () => {
    await using world = await World.create({ foo: { text: "f" }, bar: { text: "b", refs: ["foo"] } });
    world.runs.length = 0;
    const place = { path: "models/foo.sql", line: 1, column: 8 };
    world.broken = { foo: { severity: "error", message: "no such thing", place } };
    await world.settle({ bar: { text: "b", refs: ["foo"] } });
    expect([...world.tables.keys()].sort()).toEqual(["bar", "foo"]);
    expect(world.runs).toEqual([]);
    const view = resourceViews(world.pipelines).find(({ name }) => name === "foo");
    expect(view?.error).toBe("models/foo.sql:1:8: no such thing");
    expect(explanationView(world.pipelines, "foo").reason).toContain("stays unchanged");
    expect(world.pipelines.summary().failed).toEqual(["foo"]);
    world.broken = {};
    await world.settle({ foo: { text: "f" }, bar: { text: "b", refs: ["foo"] } });
    expect(world.pipelines.summary().failed).toEqual([]);
  });

  it("runs a model whose table was modified, before others read it, and says why", async () => {
    await using world = await World.create({ orders: { text: "o" }, daily: { text: "d", refs: ["orders"] } });
    world.runs.length = 0;
    world.facts = [{ table: "orders" } as TableFacts];
    world.stale = [{ name: named("orders"), reason: "its table was dropped" }];
    world.models = { orders: { text: "o" }, daily: { text: "d2", refs: ["orders"] } };
    await world.restart();
    expect(world.runs).toEqual(["orders", "daily"]);
    expect(explanationView(world.pipelines, "orders").causes).toContain("requested: its table was dropped");
  });

  it("does not run a model that was just deleted, although its table has drifted", async () => {
    await using world = await World.create({ orders: { text: "o" }, other: { text: "x" } });
    world.facts = [{ table: "orders" } as TableFacts];
    world.stale = [{ name: named("orders"), reason: "its table was dropped" }];
    world.models = { other: { text: "x" } };
    world.runs.length = 0;
    await world.restart();
    expect(world.runs).toEqual([]);
  });

  it("sets a catalog aside that does not open, and goes on", async () => {
    await using world = await World.create({ orders: { text: "o" } });
    await world.pipelines[Symbol.asyncDispose]();
    writeFileSync(world.pipelines.folder.catalog, "this is no database, and long enough to be read as one".repeat(40));
    await world.start();
    expect(resourceViews(world.pipelines)).toMatchObject([{ name: "orders", status: "idle" }]);
  });

  it("stores a refresh request in the database before it requests the run", async () => {
    await using world = await World.create({ orders: { text: "o" }, other: { text: "x" } });
    world.runs.length = 0;
    const order = { names: ["orders"], full: true, partitions: [], preview: false };
    expect(await refresh(world.pipelines, order, seededRandom(1))).toEqual([{ kind: "Model", name: "orders" }]);
    expect(world.requests).toMatchObject([{ table: "orders", full: true }]);
    expect(world.runs).toEqual(["orders"]);
    const range = { ...order, full: false, from: "2026-01-01" };
    await expect(refresh(world.pipelines, range, seededRandom(1))).rejects.toThrow("has no partitions");
  });

  it("names a failure, and its cause", async () => {
    await using world = await World.create({ orders: { text: "o" }, daily: { text: "d", refs: ["orders"] } });
    world.failures = { orders: "the disk is full" };
    await world.settle({ orders: { text: "o2" }, daily: { text: "d", refs: ["orders"] } });
    const view = explanationView(world.pipelines, "daily");
    expect(view.error).toContain("the disk is full");
    expect(view.failedRefs).toEqual([named("orders")]);
    expect(() => explanationView(world.pipelines, "order")).toThrow("no file declares order; do you mean orders?");
  });

  it("retries failed models when it is opened, and then those that waited for them", async () => {
    await using world = await World.create({ orders: { text: "o" }, daily: { text: "d", refs: ["orders"] } });
    world.failures = { orders: "the server is down" };
    await world.settle({ orders: { text: "o2" }, daily: { text: "d2", refs: ["orders"] } });
    world.failures = {};
    world.runs.length = 0;
    await world.restart();
    expect(world.runs).toEqual(["orders", "daily"]);
    expect(world.pipelines.summary().failed).toEqual([]);
    expect(explanationView(world.pipelines, "orders").causes).toContain("requested: its last run failed");
  });
});
