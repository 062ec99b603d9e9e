import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "setpoint/clock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FileWatch } from "./file-watch.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-watch-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (seen: string[], pollMs?: number) =>
  FileWatch.open({
    folder,
    clock: systemClock,
    onChange: async (paths) => void seen.push(...paths),
    quietMs: 20,
    ...(pollMs === undefined ? {} : { pollMs }),
  });

describe("a watch of files", () => {
  it("reports files that are created, changed, moved and deleted, also in new folders", async () => {
    writeFileSync(join(folder, "a.sql"), "SELECT 1");
    const seen: string[] = [];
    await using _ = await open(seen);
    mkdirSync(join(folder, "models"));
    await vi.waitFor(() => {
      writeFileSync(join(folder, "models", "b.sql"), "SELECT 2");
      expect(seen).toContain("models/b.sql");
    });
    writeFileSync(join(folder, "a.sql"), "SELECT 42");
    await vi.waitFor(() => expect(seen).toContain("a.sql"));
    seen.length = 0;
    renameSync(join(folder, "a.sql"), join(folder, "c.sql"));
    await vi.waitFor(() => expect(seen.sort()).toEqual(["a.sql", "c.sql"]));
  });

  it("ignores the folder of the state", async () => {
    mkdirSync(join(folder, ".setpoint"));
    const seen: string[] = [];
    await using _ = await open(seen, 20);
    writeFileSync(join(folder, ".setpoint", "main.duckdb"), "x");
    writeFileSync(join(folder, "a.sql"), "SELECT 1");
    await vi.waitFor(() => expect(seen).toContain("a.sql"));
    expect(seen).toEqual(["a.sql"]);
  });

  it("never calls its listener concurrently, and loses no change meanwhile", async () => {
    let [running, most] = [0, 0];
    const seen = new Set<string>();
    await using _ = await FileWatch.open({
      folder,
      clock: systemClock,
      quietMs: 1,
      pollMs: 10,
      onChange: async (paths) => {
        most = Math.max(most, ++running);
        await systemClock.sleep(15);
        for (const path of paths) seen.add(path);
        running--;
      },
    });
    for (let n = 0; n < 20; n++) {
      writeFileSync(join(folder, `${n}.sql`), "SELECT 1");
      await systemClock.sleep(3);
    }
    await vi.waitFor(() => expect(seen.size).toBe(20));
    expect(most).toBe(1);
  });
});
