import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "setpoint/clock";
import { expect, it } from "vitest";
import { killRounds } from "./testing/kill-rounds.js";

const ROUNDS = Number(process.env.KILL_ROUNDS ?? 50);
const seed = Number(process.env.SOAK_SEED ?? Math.floor(Math.random() * 2 ** 31));

it(`leaves no namespace half-assigned in ${ROUNDS} rounds of kill -9 of up (SOAK_SEED=${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-kill-"));
  try {
    expect(await killRounds(join(folder, ".setpoint"), ROUNDS, seededRandom(seed))).toBeGreaterThan(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
