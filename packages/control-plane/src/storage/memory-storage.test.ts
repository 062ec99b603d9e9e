import fc from "fast-check";
import { systemClock } from "setpoint/clock";
import { VirtualClock } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import type { Journal } from "./journal.js";
import { MemoryStorage } from "./memory-storage.js";
import { keysOf, put, RESOURCE, Recorder, remove, storageContract } from "./storage.contract.js";
import { StorageFailure } from "./storage-error.js";

storageContract("MemoryStorage without a journal", async () => new MemoryStorage({ clock: systemClock }));

describe("MemoryStorage", () => {
  it("agrees with a model under random writes, snapshots, watches and compactions", async () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.record({ type: fc.constant("put" as const), key: fc.nat(30) }) },
      { weight: 4, arbitrary: fc.record({ type: fc.constant("remove" as const), key: fc.nat(30) }) },
      { weight: 2, arbitrary: fc.constant({ type: "settle" as const }) },
      { weight: 2, arbitrary: fc.record({ type: fc.constant("watch" as const), back: fc.nat(20) }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant("compact" as const), back: fc.nat(30) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 200, size: "max" }), async (steps) => {
        await using storage = new MemoryStorage({ clock: systemClock });
        const past: { revision: number; keys: string[] }[] = [{ revision: 1, keys: [] }];
        const events: string[] = [];
        const live = new Set<string>();
        const writes: Promise<unknown>[] = [];
        const watches: { from: number; recorder: Recorder }[] = [];
        let revision = 1;
        const accepted = (type: string, key: string): void => {
          events.push(`${type} ${key} ${++revision}`);
          past.push({ revision, keys: [...live].sort() });
        };
        for (const step of steps) {
          if (step.type === "put") {
            const key = `default/${step.key}`;
            writes.push(put(storage, key));
            const type = live.has(key) ? "modified" : "added";
            live.add(key);
            accepted(type, key);
          } else if (step.type === "remove") {
            const key = `default/${step.key}`;
            if (!live.delete(key)) continue;
            writes.push(remove(storage, key));
            accepted("deleted", key);
          } else if (step.type === "settle") {
            await Promise.all(writes);
          } else if (step.type === "watch") {
            const from = Math.max(storage.compactedRevision, storage.revision - step.back);
            const recorder = new Recorder();
            storage.subscribe(RESOURCE, from, recorder);
            watches.push({ from, recorder });
          } else {
            storage.compact(storage.revision - step.back);
          }
        }
        await Promise.all(writes);
        for (const { revision, keys } of past) {
          if (revision < storage.compactedRevision) expect(storage.snapshot(RESOURCE, revision)).toBeUndefined();
          else expect(keysOf(storage, revision)).toEqual(keys);
        }
        for (const { from, recorder } of watches) expect(recorder.seen).toEqual(events.slice(Math.max(0, from - 1)));
      }),
      { numRuns: 100 },
    );
  });

  it("undoes everything that is not durable when the journal fails, and goes on", async () => {
    let error: StorageFailure | undefined;
    const journal: Journal = {
      restore: () => ({ revision: 1, compactedRevision: 0, objects: [], changes: [] }),
      append: async () => {
        await systemClock.sleep(1);
        if (error) throw error;
      },
      compact: () => {},
      [Symbol.asyncDispose]: async () => {},
    };
    await using storage = new MemoryStorage({ clock: systemClock, journal });
    const kept = await put(storage, "default/a", { data: 1 });
    const recorder = new Recorder();
    storage.subscribe(RESOURCE, storage.revision, recorder);
    error = new StorageFailure("STORAGE_DISK_FULL", "no space left");
    const first = put(storage, "default/a", { data: 2 });
    await Promise.resolve();
    const second = put(storage, "default/a", { data: 3 });
    const third = put(storage, "default/b");
    const outcomes = await Promise.allSettled([first, second, third]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(storage.head(RESOURCE, "default/a")).toBe(kept);
    expect(storage.head(RESOURCE, "default/b")).toBeUndefined();
    expect(storage.revision).toBe(kept.revision);
    error = undefined;
    const next = await put(storage, "default/b");
    expect(next.revision).toBeGreaterThan(kept.revision + 3);
    expect(recorder.seen).toEqual([`added default/b ${next.revision}`]);
  });

  it("forgets changes after five minutes, however the wall clock jumps", async () => {
    const clock = new VirtualClock();
    await using storage = new MemoryStorage({ clock });
    const first = await put(storage, "default/a");
    clock.stepWall(-3_600_000);
    await clock.advance(4 * 60_000);
    clock.stepWall(7_200_000);
    const second = await put(storage, "default/b");
    expect(storage.compactedRevision).toBeLessThan(first.revision);
    await clock.advance(2 * 60_000);
    expect(storage.compactedRevision).toBe(first.revision);
    await clock.advance(5 * 60_000);
    expect(storage.compactedRevision).toBe(second.revision);
    expect(clock.pendingTimers).toBe(0);
    expect(keysOf(storage)).toEqual(["default/a", "default/b"]);
  });

  it("keeps its history within bounds of number and bytes", async () => {
    await using counted = new MemoryStorage({ clock: systemClock, limits: { historyChanges: 100 } });
    for (let at = 0; at < 1000; at++) await put(counted, `default/${at % 7}`);
    expect(counted.revision - counted.compactedRevision).toBeLessThanOrEqual(100);
    expect(counted.revision - counted.compactedRevision).toBeGreaterThanOrEqual(89);
    await using weighed = new MemoryStorage({ clock: systemClock, limits: { historyBytes: 100_000 } });
    for (let at = 0; at < 100; at++) await put(weighed, "default/a", { data: "x".repeat(5000) });
    expect(weighed.revision - weighed.compactedRevision).toBeLessThanOrEqual(20);
  });

  it("lets a subscriber that resumes from far behind keep what it got at once", async () => {
    await using storage = new MemoryStorage({ clock: systemClock, limits: { backlogBytes: 1000 } });
    const start = storage.revision;
    for (let at = 0; at < 50; at++) await put(storage, `default/${at}`);
    const recorder = new Recorder();
    storage.subscribe(RESOURCE, start, recorder);
    recorder.backlog = recorder.batches.flat().reduce((bytes, { current }) => bytes + current.json.byteLength, 0);
    await put(storage, "default/more");
    expect(recorder.endedWith).toBeUndefined();
    recorder.backlog += 1001;
    await put(storage, "default/most");
    expect(recorder.endedWith).toBe("overflow");
  });
});
