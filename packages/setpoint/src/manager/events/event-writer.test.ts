import { describe, expect, it } from "vitest";
import { seededRandom } from "../../clock/random.js";
import type { ObjectEvent } from "../../controller/event-recorder.js";
import { World } from "../../controller/world.testing.js";
import { SetpointError } from "../../errors/error.js";
import { Role } from "../../kinds/builtin/rbac.authorization.k8s.io/v1.js";
import { Event } from "../../kinds/builtin/v1.js";
import { EventWriter } from "./event-writer.js";

async function events(world: World): Promise<readonly Event[]> {
  return (await world.client.list(Event, { namespace: "team" })).items;
}

function writerOf(world: World): EventWriter {
  return new EventWriter({
    client: world.cluster().client,
    clock: world.clock,
    random: seededRandom(7),
    component: "tests",
  });
}

describe("event writer", () => {
  it("writes an event that kubectl describe shows, and counts its repetitions", async () => {
    await using world = await World.create();
    const object = await world.createWebsite("a");
    await using writer = writerOf(world);
    for (let times = 0; times < 3; times++)
      writer.record({ object, type: "Warning", reason: "NoDisk", message: "full" });
    await writer.flush();
    const [event, ...more] = await events(world);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      reason: "NoDisk",
      message: "full",
      type: "Warning",
      count: 3,
      source: { component: "tests" },
    });
    expect(event!.involvedObject).toMatchObject({
      kind: "Website",
      name: "a",
      namespace: "team",
      uid: object.metadata.uid,
    });
  });

  it("writes nothing once its lease is lost, and counts the dropped events", async () => {
    await using world = await World.create();
    const object = await world.createWebsite("a");
    const lost = new AbortController();
    const fence = { lost: lost.signal, check: () => lost.signal.throwIfAborted() };
    const { client } = world.cluster();
    await using writer = new EventWriter({
      client,
      clock: world.clock,
      random: seededRandom(7),
      component: "t",
      fence,
    });
    writer.record({ object, type: "Normal", reason: "Held", message: "it leads" });
    await writer.flush();
    writer.record({ object, type: "Normal", reason: "Waiting", message: "in line when the lease is lost" });
    lost.abort();
    writer.record({ object, type: "Normal", reason: "Late", message: "after that" });
    await writer.flush();
    expect((await events(world)).map(({ reason }) => reason)).toEqual(["Held"]);
    expect(writer.dropped).toBe(2);
  });

  it("writes events of objects whose names are too long or invalid for an event", async () => {
    await using world = await World.create();
    const site = await world.createWebsite(`${"a".repeat(234)}--${"b".repeat(17)}`);
    const metadata = { name: "team:Reader", namespace: "team" };
    const role = await world.client.create(Role, { metadata, rules: [] });
    await using writer = writerOf(world);
    for (const object of [site, role]) writer.record({ object, type: "Normal", reason: "Done", message: "ok" });
    await writer.flush();
    const names = (await events(world)).map(({ involvedObject }) => involvedObject.name);
    expect(names.sort()).toEqual([site.metadata.name, "team:Reader"]);
  });

  it("creates a new event if the old one has expired [case 59]", async () => {
    await using world = await World.create();
    const object = await world.createWebsite("a");
    await using writer = writerOf(world);
    writer.record({ object, type: "Normal", reason: "Done", message: "ok" });
    await writer.flush();
    await world.client.deleteCollection(Event, { namespace: "team" });
    writer.record({ object, type: "Normal", reason: "Done", message: "ok" });
    await writer.flush();
    expect(await events(world)).toHaveLength(1);
    writer.record({ object, type: "Normal", reason: "Done", message: "ok" });
    await writer.flush();
    expect(await events(world)).toMatchObject([{ reason: "Done", count: 3 }]);
  });

  it("drops repetitions, but never the first event of a reason, however many objects have one at once", async () => {
    await using world = await World.create();
    await using writer = writerOf(world);
    const at = (name: string): ObjectEvent["object"] => {
      const metadata = { namespace: "team", name, uid: name, resourceVersion: "1", creationTimestamp: "" };
      return { apiVersion: "web.example.com/v1", kind: "Website", metadata };
    };
    for (let many = 0; many < 20; many++)
      writer.record({ object: at("noisy"), type: "Normal", reason: "Noise", message: `noise ${many % 8}` });
    for (let site = 0; site < 1_500; site++)
      writer.record({ object: at(`site-${site}`), type: "Normal", reason: "Created", message: "it is there" });
    writer.record({ object: at("noisy"), type: "Warning", reason: "RetriesExhausted", message: "look" });
    await writer.flush();
    const written = await events(world);
    expect(written.filter(({ reason }) => reason === "Created")).toHaveLength(1_500);
    expect(written.filter(({ reason }) => reason === "RetriesExhausted")).toHaveLength(1);
    expect(written.filter(({ reason }) => reason === "Noise")).toMatchObject([{ message: "noise 0", count: 3 }]);
    expect(writer.dropped).toBe(7);
  });

  it("writes several at once, and those of one object in order", async () => {
    await using world = await World.create();
    await using writer = writerOf(world);
    const [a, b] = [await world.createWebsite("a"), await world.createWebsite("b")];
    let stuck = true;
    world.hangs = ({ body }) => {
      const { reason } = (body ?? {}) as { reason?: string };
      return stuck && reason === "First";
    };
    for (const reason of ["First", "Second"]) writer.record({ object: a, type: "Normal", reason, message: "a" });
    writer.record({ object: b, type: "Normal", reason: "Other", message: "b" });
    await world.clock.settle();
    expect((await events(world)).map(({ reason }) => reason)).toEqual(["Other"]);
    stuck = false;
    await world.clock.advance(600_000);
    const sent = world.requests.flatMap(({ body }) => (body as { reason?: string } | undefined)?.reason ?? []);
    expect(sent.filter((reason) => reason !== "Other")).toEqual(["First", "First", "Second"]);
  });

  it("makes twelve attempts if the server is unreachable, and never throws [case 59]", async () => {
    await using world = await World.create();
    const object = await world.createWebsite("a");
    await using writer = writerOf(world);
    let tries = 0;
    world.fault = () => {
      tries++;
      return new SetpointError("TRANSPORT_TIMEOUT", "no answer");
    };
    writer.record({ object, type: "Normal", reason: "Done", message: "ok" });
    await world.clock.advance(600_000);
    expect(tries).toBe(12);
    expect(writer.dropped).toBe(1);
  });
});
