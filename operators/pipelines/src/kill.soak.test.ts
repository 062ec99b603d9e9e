import { it } from "vitest";
import { killRounds } from "./kill.suite.js";

const ROUNDS = Number(process.env.PIPELINES_KILLS ?? 200);
const SEED = Number(process.env.SOAK_SEED ?? 1);

it(`kill -9 ${ROUNDS} times at random: append, merge and partitions match the input (SOAK_SEED=${SEED})`, async () => {
  await killRounds(ROUNDS, SEED);
});
