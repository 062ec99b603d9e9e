import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "setpoint/clock";
import { expect, it } from "vitest";
import { killRound } from "./testing/kill-round.js";

const ROUNDS = Number(process.env.DURABILITY_ROUNDS ?? 200);
/** A folder is used for so many rounds: later ones start from an older journal. */
const ROUNDS_PER_FOLDER = 10;
const seed = Number(process.env.SOAK_SEED ?? Math.floor(Math.random() * 2 ** 31));

it(`loses nothing in ${ROUNDS} rounds of kill -9 under 64 clients (SOAK_SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const root = mkdtempSync(join(tmpdir(), "setpoint-durability-"));
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const { acknowledged } = await killRound({
        folder: join(root, String(Math.floor(round / ROUNDS_PER_FOLDER))),
        random,
        prefix: `round-${round}`,
        clients: 64,
        acknowledgedWrites: 500 + Math.floor(random.next() * 500),
        contentBytes: random.next() < 0.5 ? 500 : 12_000,
        // Every other round compacts continuously, so that the kill hits a compaction.
        ...(round % 2 === 1 && { historyChanges: 100 + Math.floor(random.next() * 200) }),
      });
      expect(acknowledged).toBeGreaterThanOrEqual(500);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
