import { afterEach, beforeEach, expect, it } from "vitest";
import { seededRandom } from "../clock/random.js";
import { type Controller, controller } from "../controller/controller.js";
import { Website, World } from "../controller/world.testing.js";
import { Event } from "../kinds/builtin/v1.js";
import { type Logger, silentLogger } from "../loop/logger.js";
import { Manager } from "./manager.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

const saying = (name: string): Controller<Website> =>
  controller(Website, { name, reconcile: (_, ctx) => ctx.status({ phase: name }) });

it("slows down two controllers that fight over a status field, names the rival and reports once", async () => {
  const lines: string[] = [];
  const log: Logger = { ...silentLogger, warn: (message) => void lines.push(message), with: () => log };
  const { clock } = world;
  const { client } = world.cluster();
  const manager = new Manager({ client, clock, random: seededRandom(7), log, preflight: false });
  await manager.add(saying("first"));
  await manager.add(saying("second"));
  await manager.start();
  await world.createWebsite("a");
  await clock.advance(5 * 60_000);
  const statusWrites = (): number => world.writes.filter((write) => write.endsWith("/status")).length;
  const escalated = statusWrites();
  expect(escalated).toBeLessThan(90);
  await clock.advance(15 * 60_000);
  // Each of the two writes at most once a minute.
  expect(statusWrites() - escalated).toBeLessThanOrEqual(32);
  const reports = lines.filter((line) => line.includes("hot loop"));
  expect(reports).toHaveLength(2);
  expect(
    reports.some((line) => line.includes("status.phase") && line.includes("controller second of this process")),
  ).toBe(true);
  expect(reports.some((line) => line.includes("controller first of this process"))).toBe(true);
  const { items } = await world.client.list(Event, { namespace: "team", fieldSelector: "reason=HotLoop" });
  expect(items).toHaveLength(2);
  await Promise.all([manager.stop(), clock.advance(60_000)]);
});
