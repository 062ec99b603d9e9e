import { controlPlane } from "@setpoint/control-plane";
import type { Client } from "setpoint";
import { Event } from "setpoint/kinds/v1";
import { describe, expect, it, vi } from "vitest";
import { World } from "../runtime/world.testing.js";
import { Mirror } from "./mirror.js";
import { mirroredKind, REFRESH_ANNOTATION } from "./mirrored-kind.js";

const Model = mirroredKind("Model").kind;
const namespace = "default";

const ready = async (client: Client, name: string) => {
  const object = await client.find(Model, name, { namespace });
  return object?.status?.conditions?.find(({ type }) => type === "Ready");
};

const eventually = <T>(work: () => Promise<T>) => vi.waitFor(work, { timeout: 10_000, interval: 20 });

const events = async (client: Client, reason: string) =>
  (await client.list(Event, { namespace })).items.filter((event) => event.reason === reason);

describe("resources as Kubernetes objects", () => {
  it("mirror files and tables: conditions, rows, failures", async () => {
    await using plane = await controlPlane();
    const { client } = plane;
    await using world = await World.create({ orders: { text: "ooo" }, daily_sales: { text: "d", refs: ["orders"] } });
    await using _ = await Mirror.start(world.pipelines, { client, namespace });
    await eventually(async () => expect((await ready(client, "daily-sales"))?.status).toBe("True"));
    const orders = await client.get(Model, "orders", { namespace });
    expect(orders.spec).toMatchObject({ name: "orders", paths: ["models/orders.sql"], declaration: { text: "ooo" } });
    expect(orders.status).toMatchObject({ rows: 3 });
    world.failures = { orders: "the disk is full" };
    await world.settle({ orders: { text: "oo" }, daily_sales: { text: "d", refs: ["orders"] } });
    await eventually(async () =>
      expect(await ready(client, "orders")).toMatchObject({ status: "False", reason: "Failed" }),
    );
    await eventually(async () => expect((await ready(client, "daily-sales"))?.reason).toBe("DependencyFailed"));
    await eventually(async () => expect(await events(client, "Failed")).not.toEqual([]));
  });

  it("are reverted with an event if somebody edits them, and recreated if somebody deletes them", async () => {
    await using plane = await controlPlane();
    const { client } = plane;
    await using world = await World.create({ orders: { text: "o" } });
    await using _ = await Mirror.start(world.pipelines, { client, namespace });
    await eventually(async () => expect((await ready(client, "orders"))?.status).toBe("True"));
    await client.patch(
      Model,
      "orders",
      {
        type: "merge",
        body: { spec: { declaration: { text: "mine" } } },
      },
      { namespace },
    );
    await eventually(async () => {
      const { spec } = await client.get(Model, "orders", { namespace });
      expect(spec.declaration).toMatchObject({ text: "o" });
      expect(await events(client, "Reverted")).toHaveLength(1);
    });
    await client.delete(Model, "orders", { namespace });
    await eventually(async () => expect((await ready(client, "orders"))?.status).toBe("True"));
    expect(world.runs).toEqual(["orders"]);
  });

  it("follow an edit of the file without a revert event", async () => {
    await using plane = await controlPlane();
    const { client } = plane;
    await using world = await World.create({ orders: { text: "o" } });
    await using _ = await Mirror.start(world.pipelines, { client, namespace });
    await eventually(async () => expect((await ready(client, "orders"))?.status).toBe("True"));
    await world.settle({ orders: { text: "other" } });
    await eventually(async () => {
      const object = await client.get(Model, "orders", { namespace });
      expect(object.spec.declaration).toMatchObject({ text: "other" });
      expect(object.status).toMatchObject({ rows: 5 });
    });
    expect(await events(client, "Reverted")).toEqual([]);
  });

  it("refresh once for each value of the annotation", async () => {
    await using plane = await controlPlane();
    const { client } = plane;
    await using world = await World.create({ orders: { text: "o" } });
    await using _ = await Mirror.start(world.pipelines, { client, namespace });
    await eventually(async () => expect((await ready(client, "orders"))?.status).toBe("True"));
    for (const value of ["1", "full 2"]) {
      const body = { metadata: { annotations: { [REFRESH_ANNOTATION]: value } } };
      await client.patch(Model, "orders", { type: "merge", body }, { namespace });
      await eventually(async () =>
        expect((await client.get(Model, "orders", { namespace })).status?.lastRefresh).toBe(value),
      );
    }
    await world.pipelines.waitUntilIdle();
    await eventually(async () => expect(world.requests.map(({ full }) => full)).toEqual([false, true]));
    expect(world.runs).toEqual(["orders", "orders", "orders"]);
  });

  it("are deleted with their file, also if that happened while down", async () => {
    await using plane = await controlPlane();
    const { client } = plane;
    await using world = await World.create({ orders: { text: "o" }, old: { text: "x" }, older: { text: "y" } });
    const names = async () =>
      (await client.list(Model, { namespace })).items.map(({ metadata }) => metadata.name).sort();
    {
      await using _ = await Mirror.start(world.pipelines, { client, namespace });
      await eventually(async () => expect(await names()).toEqual(["old", "older", "orders"]));
      await world.settle({ orders: { text: "o" }, older: { text: "y" } });
      await eventually(async () => expect(await names()).toEqual(["older", "orders"]));
    }
    await world.settle({ orders: { text: "o" } });
    await using _again = await Mirror.start(world.pipelines, { client, namespace });
    await eventually(async () => expect(await names()).toEqual(["orders"]));
  });
});
