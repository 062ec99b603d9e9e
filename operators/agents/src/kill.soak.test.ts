import { it } from "vitest";
import { killRounds } from "./kill.suite.js";

const ROUNDS = Number(process.env.SETPOINT_AGENT_KILLS ?? 100);
const SEED = Number(process.env.SOAK_SEED ?? 1);

it(`kill -9 ${ROUNDS} times at random, with discoveries under way: rows equal objects, and nothing more is written (SOAK_SEED=${SEED})`, async () => {
  await killRounds(ROUNDS, SEED);
});
