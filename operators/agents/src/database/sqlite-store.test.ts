import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

it("a file locked by another process for three seconds is waited for, without blocking this one [10]", async () => {
  const held = join(folder, "held.db");
  await using store = await openStore(held, systemClock);
  const script = `
    import { openDatabase } from ${JSON.stringify(import.meta.resolve("@setpoint/sqlite"))};
    const database = openDatabase(process.argv[1]);
    database.exec("BEGIN EXCLUSIVE");
    console.log("held");
    setTimeout(() => { database.exec("COMMIT"); database.close(); }, 3_000);
  `;
  const other = spawn(process.execPath, ["--input-type=module", "--eval", script, held], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => other.stdout.once("data", resolve));
  let turns = 0;
  const exited = new Promise<void>((resolve) => other.once("exit", () => resolve()));
  const writing = store.putAgent({ id: "a", uid: "1", type: "BYO", config: "{}" });
  let isWritten = false;
  void writing.then(() => (isWritten = true));
  while (!isWritten) {
    await systemClock.sleep(20);
    turns++;
  }
  expect(await writing).toBe(true);
  expect(turns).toBeGreaterThan(5);
  await exited;
});

it("a SQLite database with more than one replica is refused", async () => {
  await expect(openStore(":memory:", systemClock, 2)).rejects.toMatchObject({ code: "AGENTS_DATABASE_SHARED" });
});
