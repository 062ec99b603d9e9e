import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@setpoint/sqlite";
import { systemClock } from "setpoint/clock";
import { afterAll, expect, it } from "vitest";
import { openStore } from "./open-store.js";
import { storeContract } from "./store.contract.js";

const folder = mkdtempSync(join(tmpdir(), "agents-store-"));
const file = join(folder, "agents.db");
afterAll(() => rmSync(folder, { recursive: true }));

storeContract(
  "SQLite",
  () => openStore(file, systemClock),
  async () => {
    for (const ending of ["", "-wal", "-shm"]) rmSync(`${file}${ending}`, { force: true });
  },
);

it("a file that another process holds is waited for, without holding up this one [10]", async () => {
  const held = join(folder, "held.db");
  await using store = await openStore(held, systemClock);
  const other = openDatabase(held);
  other.exec("BEGIN EXCLUSIVE");
  let turns = 0;
  const writing = store.putAgent({ id: "a", uid: "1", type: "BYO", config: "{}" });
  while (turns < 5) {
    await systemClock.sleep(20);
    turns++;
  }
  other.exec("COMMIT");
  other.close();
  expect(await writing).toBe(true);
});
