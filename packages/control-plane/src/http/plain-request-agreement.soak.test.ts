import { seededRandom } from "setpoint/clock";
import { expect, it } from "vitest";
import { agreement } from "./plain-request-agreement.testing.js";

/** How many mutated requests. SETPOINT_SEED=N repeats a run. */
const COUNT = Number(process.env.PLAIN_REQUESTS ?? 1_000_000);
const SEED = Number(process.env.SETPOINT_SEED);

it(`Node reads whatever is taken as plain of ${COUNT} mutated requests to the same requests`, async () => {
  const { plain, differences } = await agreement(COUNT, seededRandom(SEED));
  expect(differences).toEqual([]);
  expect(plain).toBeGreaterThan(COUNT / 5);
}, 600_000);
