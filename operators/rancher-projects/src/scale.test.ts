import { controlPlane } from "@setpoint/control-plane";
import { it } from "vitest";
import { expectExactPatches } from "./scale.suite.js";

it("settles 2,000 namespaces and 200 projects with 2,000 patches, and a renamed project affects only its own namespaces", async () => {
  await using plane = await controlPlane();
  await expectExactPatches(plane.client);
}, 300_000);
