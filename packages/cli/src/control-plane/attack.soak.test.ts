import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "setpoint/clock";
import { expect, it } from "vitest";
import { attackRound } from "./testing/attack-round.js";
import type { Knowledge } from "./testing/writers.js";

const ROUNDS = Number(process.env.ATTACK_ROUNDS ?? 20);
/** The size of the bodies: the largest keep a thread busy for a minute on a loaded machine. */
const SIZE = Number(process.env.ATTACK_SIZE ?? 1);
/** A folder is used for so many rounds: later ones start from the state after earlier attacks. */
const ROUNDS_PER_FOLDER = 5;
const seed = Number(process.env.SOAK_SEED ?? Math.floor(Math.random() * 2 ** 31));

it(`survives ${ROUNDS} rounds of all attacks beside honest clients (SOAK_SEED=${seed}) [R0-R17]`, async () => {
  const random = seededRandom(seed);
  const root = mkdtempSync(join(tmpdir(), "setpoint-attack-"));
  let known = new Map<string, Knowledge>();
  try {
    for (let round = 0; round < ROUNDS; round++) {
      if (round % ROUNDS_PER_FOLDER === 0) known = new Map();
      const { peakMb } = await attackRound({
        folder: join(root, String(Math.floor(round / ROUNDS_PER_FOLDER))),
        prefix: `round-${round}`,
        random,
        size: SIZE,
        attackers: 1 + Math.floor(random.next() * 8),
        honestClients: 3,
        known,
      });
      console.log(`round ${round}: at most ${peakMb} MB`);
    }
    expect(known.size).toBeGreaterThan(0);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
