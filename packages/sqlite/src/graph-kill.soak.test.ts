import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "setpoint/clock";
import { it } from "vitest";
import { builtWorker, killRound } from "./graph-kill.testing.js";

const ROUNDS = Number(process.env.GRAPH_KILLS ?? 200);
/** A graph is used for so many rounds: later ones start from the state that earlier ones left. */
const ROUNDS_PER_FOLDER = 10;
const seed = Number(process.env.SOAK_SEED ?? Math.floor(Math.random() * 2 ** 31));

it(`loses nothing in ${ROUNDS} rounds of kill -9 during edits and runs (SOAK_SEED=${seed})`, async () => {
  using worker = await builtWorker();
  const random = seededRandom(seed);
  const root = mkdtempSync(join(tmpdir(), "graph-kill-"));
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const folder = join(root, String(Math.floor(round / ROUNDS_PER_FOLDER)));
      await killRound(worker.file, folder, Math.floor(random.next() * 2 ** 31), 1 + Math.floor(random.next() * 60));
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
