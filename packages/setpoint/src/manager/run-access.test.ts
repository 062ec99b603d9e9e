import { expect, it, vi } from "vitest";
import type { Client } from "../client/client.js";
import { controller } from "../controller/controller.js";
import { Website, World } from "../controller/world.testing.js";
import { type Logger, silentLogger } from "../loop/logger.js";
import { secureRequest } from "./endpoints/secure-request.testing.js";
import { run } from "./run.js";

/** Where the process runs, and its cluster. */
const place = vi.hoisted(() => ({ isPod: false, client: undefined as unknown }));
vi.mock("../client/cluster/in-cluster.js", () => ({ connectsAsPod: () => place.isPod }));
vi.mock("../client/connect.js", () => ({ connect: async () => place.client as Client }));

it.each([
  [true, { protocol: "https:", status: 401 }],
  [false, { protocol: "http:", status: 200 }],
])("metrics are guarded by RBAC in a pod, otherwise by loopback: %s", async (isPod, expected) => {
  await using world = await World.create();
  Object.assign(place, { isPod, client: world.cluster().client });
  const stop = new AbortController();
  let onServing = (_url: string): void => {};
  const serving = new Promise<string>((resolve) => {
    onServing = resolve;
  });
  const info: Logger["info"] = (message, fields) => void (message === "serving" && onServing(String(fields?.metrics)));
  const log: Logger = { ...silentLogger, info, with: () => log };
  const metrics = { host: "127.0.0.1", port: 0 };
  const running = run(controller(Website, { reconcile: () => {} }), {
    ...{ env: {}, clock: world.clock, metrics, log, signal: stop.signal },
  });
  const url = `${await serving}/metrics`;
  const { protocol } = new URL(url);
  const { status } = protocol === "https:" ? await secureRequest(url) : await fetch(url);
  expect({ protocol, status }).toEqual(expected);
  stop.abort();
  await world.clock.advance(5_000);
  await running;
});
