import { seededRandom } from "setpoint/clock";
import { expect, it } from "vitest";
import { agreement } from "./plain-request-agreement.testing.js";

/** The number of mutated requests. SETPOINT_SEED=N repeats a run. */
const COUNT = Number(process.env.PLAIN_REQUESTS ?? 1_000_000);
const SEED = Number(process.env.SETPOINT_SEED);

it(`Node reads ${COUNT} mutated requests the same as the plain reader, as far as that accepts them`, async () => {
  const { plain, differences } = await agreement(COUNT, seededRandom(SEED));
  expect(differences).toEqual([]);
  expect(plain).toBeGreaterThan(COUNT / 5);
}, 600_000);
