import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@setpoint/sqlite";
import fc from "fast-check";
import { systemClock } from "setpoint/clock";
import { VirtualClock } from "setpoint/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStorage } from "./open-storage.js";
import { keysOf, put, RESOURCE, Recorder, remove, storageContract } from "./storage.contract.js";
import type { Storage } from "./storage.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-journal-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (dataDir = folder): Storage => openStorage({ clock: systemClock, dataDir });

let opened = 0;
storageContract("the storage with a SQLite journal", async () => open(join(folder, String(opened++))));

describe("the SQLite journal", () => {
  it("keeps objects, revisions and the history of watches over a restart", async () => {
    let revision: number;
    {
      await using storage = open();
      await put(storage, "default/a", { data: "ü\u{1f600}" });
      await put(storage, "default/b");
      await put(storage, "default/a", { data: "2" });
      await remove(storage, "default/b");
      revision = storage.revision;
    }
    await using storage = open();
    expect(storage.revision).toBe(revision);
    expect(keysOf(storage)).toEqual(["default/a"]);
    expect(storage.get(RESOURCE, "default/a")?.object).toMatchObject({
      data: "2",
      metadata: { resourceVersion: String(revision - 1) },
    });
    expect(keysOf(storage, revision - 2)).toEqual(["default/a", "default/b"]);
    const recorder = new Recorder();
    storage.subscribe(RESOURCE, revision - 3, recorder);
    expect(recorder.seen).toEqual([
      `added default/b ${revision - 2}`,
      `modified default/a ${revision - 1}`,
      `deleted default/b ${revision}`,
    ]);
    expect(recorder.batches.flat().at(-1)?.current.object.metadata.resourceVersion).toBe(String(revision));
    expect((await put(storage, "default/c")).revision).toBe(revision + 1);
  });

  it("folds compacted changes into the stored state, and starts from there", async () => {
    const clock = new VirtualClock();
    let revision: number;
    {
      await using storage = openStorage({ clock, dataDir: folder });
      for (let at = 0; at < 1000; at++) {
        if (at % 3 === 2) await remove(storage, `default/${(at - 1) % 50}`);
        else await put(storage, `default/${at % 50}`);
      }
      revision = storage.revision;
      storage.compact(revision - 10);
      await clock.advance(1000);
      expect(clock.pendingTimers).toBe(1);
    }
    const database = openDatabase(join(folder, "journal.db"));
    expect(database.prepare("SELECT count(*) AS count FROM batch").get()).toEqual({ count: 10 });
    database.close();
    const expected: string[] = [];
    {
      await using storage = open();
      expect([storage.revision, storage.compactedRevision]).toEqual([revision, revision - 10]);
      expect(storage.snapshot(RESOURCE, revision - 11)).toBeUndefined();
      expected.push(...keysOf(storage));
      storage.compact(revision);
    }
    await using storage = open();
    expect(keysOf(storage)).toEqual(expected);
  });

  it("recovers a prefix of the writes, with all acknowledged ones, from a copy taken at any moment", async () => {
    const step = fc.record({ key: fc.nat(5), isRemove: fc.boolean(), copies: fc.integer({ min: 0, max: 9 }) });
    let run = -1;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        run++;
        const home = join(folder, String(run));
        await using storage = open(home);
        let acknowledged = 0;
        const states = new Map<number, string[]>([[storage.revision, []]]);
        const live = new Set<string>();
        const copies: { path: string; acknowledged: number }[] = [];
        const writes: Promise<unknown>[] = [];
        let revision = storage.revision;
        for (const { key, isRemove, copies: dice } of steps) {
          const name = `default/${key}`;
          if (isRemove && !live.has(name)) continue;
          const write = isRemove ? remove(storage, name) : put(storage, name);
          if (isRemove) live.delete(name);
          else live.add(name);
          states.set(++revision, [...live].sort());
          writes.push(write.then((stored) => (acknowledged = Math.max(acknowledged, stored.revision))));
          if (dice < 5) await Promise.resolve();
          if (dice < 3) await write;
          if (dice === 0 || dice === 4) {
            const path = join(folder, `${run}-copy-${copies.length}`);
            copies.push({ path, acknowledged });
            cpSync(home, path, { recursive: true });
          }
          if (dice === 1) storage.compact(storage.revision - 2);
        }
        await Promise.all(writes);
        for (const { path, acknowledged } of copies) {
          await using recovered = open(path);
          expect(recovered.revision).toBeGreaterThanOrEqual(acknowledged);
          expect(keysOf(recovered)).toEqual(states.get(recovered.revision));
        }
      }),
      { numRuns: 25 },
    );
  });

  it("refuses a folder that another storage has open, by name", async () => {
    await using _ = open();
    expect(() => open()).toThrow(
      expect.objectContaining({
        code: "STORAGE_LOCKED",
        message: expect.stringContaining("in use by another process"),
      }),
    );
  });

  it("refuses a damaged file with the reason and the cure, wherever the damage is", async () => {
    {
      await using storage = open();
      for (let at = 0; at < 400; at++) void put(storage, `default/${at}`, { data: "x".repeat(500) });
      await put(storage, "default/last");
    }
    const intact = readFileSync(join(folder, "journal.db"));
    // A page may contain a stale copy of a row beside the live one, so the byte is changed in each copy.
    const changeText = (bytes: Buffer): Buffer => {
      for (let at = bytes.indexOf("xxx"); at >= 0; at = bytes.indexOf("xxx", at + 500)) bytes[at + 1] = 0x79;
      return bytes;
    };
    const damages: ((bytes: Buffer) => Buffer)[] = [
      (bytes) => bytes.fill(0x78, 0, 100),
      (bytes) => bytes.fill(0xee, 4096, 8192),
      changeText,
      (bytes) => bytes.subarray(0, bytes.length - 3 * 4096),
    ];
    const message = expect.stringMatching(/is damaged: .*restore the folder/);
    damages.forEach((damage, index) => {
      const copy = join(folder, String(index));
      mkdirSync(copy);
      writeFileSync(join(copy, "journal.db"), damage(Buffer.from(intact)));
      expect(() => open(copy)).toThrow(expect.objectContaining({ code: "STORAGE_DAMAGED", message }));
    });
    await using storage = open();
    expect(keysOf(storage).length).toBe(401);
  });

  it("refuses a file of another program and one of a later format", async () => {
    const path = join(folder, "journal.db");
    {
      using foreign = openDatabase(path);
      foreign.exec("CREATE TABLE note (id)");
    }
    expect(() => open()).toThrow(
      expect.objectContaining({ code: "STORAGE_VERSION", message: expect.stringContaining("another program") }),
    );
    rmSync(path);
    await open()[Symbol.asyncDispose]();
    {
      using later = openDatabase(path);
      later.exec("PRAGMA user_version = 99");
    }
    expect(() => open()).toThrow(
      expect.objectContaining({ code: "STORAGE_VERSION", message: expect.stringContaining("format 99") }),
    );
  });

  it("refuses a path where no folder can be", () => {
    writeFileSync(join(folder, "file"), "");
    expect(() => open(join(folder, "file", "below"))).toThrow(expect.objectContaining({ code: "STORAGE_UNREADABLE" }));
    expect(() => open(join(folder, "file"))).toThrow(expect.objectContaining({ code: "STORAGE_UNREADABLE" }));
  });
});
