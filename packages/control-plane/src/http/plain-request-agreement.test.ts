import { seededRandom } from "setpoint/clock";
import { expect, it } from "vitest";
import { agreement } from "./plain-request-agreement.testing.js";

/** SETPOINT_SEED=N repeats a run. */
const SEED = Number(process.env.SETPOINT_SEED);

it("Node reads every request that the plain reader accepts to the same method, target, headers and body", async () => {
  const { plain, differences } = await agreement(10_000, seededRandom(SEED));
  expect(differences).toEqual([]);
  expect(plain).toBeGreaterThan(2_000);
});
