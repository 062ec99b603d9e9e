import { controlPlane } from "@setpoint/control-plane";
import { systemClock } from "setpoint/clock";
import { afterAll, beforeAll } from "vitest";
import { openStore } from "./database/open-store.js";
import { networkSuite } from "./network.suite.js";
import { RealEnvironment } from "./place.testing.js";

let plane: Awaited<ReturnType<typeof controlPlane>>;
beforeAll(async () => {
  plane = await controlPlane({});
});
afterAll(() => plane[Symbol.asyncDispose]());

networkSuite({
  name: "the embedded API server and SQLite",
  isVirtual: false,
  environment: () => RealEnvironment.create(plane.client),
  store: () => openStore(":memory:", systemClock),
});
