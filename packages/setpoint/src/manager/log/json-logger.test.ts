import { expect, it } from "vitest";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { controller } from "../../controller/controller.js";
import { Website, World } from "../../controller/world.testing.js";
import { SetpointError } from "../../errors/error.js";
import { jsonLogger } from "./json-logger.js";

it("writes one JSON object per line: time, level, message, fields, errors with their causes", () => {
  const lines: string[] = [];
  const log = jsonLogger({ clock: new VirtualClock(), level: "warn", write: (line) => lines.push(line) });
  log.info("too quiet");
  const error = new SetpointError("OBJECT_INVALID", "not so", { cause: new Error("why") });
  log.with({ manager: "a" }).warn("look", { count: 1n, error });
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      level: "warn",
      message: "look",
      manager: "a",
      count: "1",
      error: { code: "OBJECT_INVALID", message: "not so", cause: { message: "why", stack: expect.any(String) } },
    },
  ]);
});

it("lets no field override time, level or the fields of the logger", () => {
  const lines: string[] = [];
  const log = jsonLogger({ clock: new VirtualClock(), write: (line) => lines.push(line) });
  const ofRun = log.with({ controller: "websites", object: "team/a" });
  ofRun.info("priced", { level: 3, time: "noon", object: "team/b", controller: "websites", price: 5 });
  ofRun.with({ object: "team/c", step: 1 }).info("again");
  const head = { time: expect.stringMatching(/^\d{4}-.*Z$/), level: "info", controller: "websites", object: "team/a" };
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { ...head, message: "priced", price: 5, fields: { level: 3, time: "noon", object: "team/b" } },
    { ...head, message: "again", step: 1, fields: { object: "team/c" } },
  ]);
});

it("shows where an error without a code was thrown", () => {
  const lines: string[] = [];
  const log = jsonLogger({ clock: new VirtualClock(), write: (line) => lines.push(line) });
  log.error("failed", { error: new TypeError("x is undefined") });
  expect(JSON.parse(lines[0]!)).toMatchObject({
    error: { message: "x is undefined", stack: expect.stringContaining("json-logger.test.ts") },
  });
});

it("names the fields that it could not write, and does not throw", () => {
  const lines: string[] = [];
  const log = jsonLogger({ clock: new VirtualClock(), write: (line) => lines.push(line) });
  const ring: { self?: object } = {};
  ring.self = ring;
  log.error("failed", { ring });
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: "error", message: "failed", unreadable: ["ring"] });
});

it("lines of a run name its controller, its object and its number in the timeline", async () => {
  await using world = await World.create();
  const lines: string[] = [];
  const log = jsonLogger({ clock: world.clock, write: (line) => lines.push(line) });
  const sites = controller(Website, {
    retry: { attempts: 0 },
    reconcile(_site, ctx) {
      ctx.log.info("at work", { step: 1 });
      throw new Error("no");
    },
  });
  await world.run(sites, { log });
  await world.createWebsite("a");
  await world.clock.advance(1_000);
  const run = world.runs()[0]?.id;
  const [own, failure] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(own).toMatchObject({ message: "at work", controller: "websites", object: "team/a", run, step: 1 });
  expect(failure).toMatchObject({ level: "error", controller: "websites", object: "team/a", run, attempt: 0 });
});
