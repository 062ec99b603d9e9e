import type { KubeObject } from "setpoint";
import { describe, expect, it } from "vitest";
import type { Change, Storage, StoredObject, Subscriber } from "./storage.js";
import { StorageConflict, StorageExpired } from "./storage-error.js";

export const configMap = (key: string, data: Record<string, unknown> = {}): KubeObject => {
  const [namespace, name] = key.split("/") as [string, string];
  const metadata = {
    name,
    namespace,
    uid: `uid-${key}`,
    resourceVersion: "",
    creationTimestamp: "2026-01-01T00:00:00Z",
  };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, ...data } as KubeObject;
};

export const RESOURCE = "/configmaps";

export const put = (storage: Storage, key: string, data: Record<string, unknown> = {}): Promise<StoredObject> =>
  storage.commit({ resource: RESOURCE, key, expected: storage.head(RESOURCE, key), object: configMap(key, data) });

export const remove = (storage: Storage, key: string): Promise<StoredObject> =>
  storage.commit({ resource: RESOURCE, key, expected: storage.head(RESOURCE, key), object: undefined });

export const keysOf = (storage: Storage, revision?: number): string[] =>
  [...storage.snapshot(RESOURCE, revision)!.entries()].map(({ key }) => key);

/** Collects events as `type key revision`. */
export class Recorder implements Subscriber {
  readonly seen: string[] = [];
  readonly batches: (readonly Change[])[] = [];
  endedWith: string | undefined;
  backlog = 0;

  changes(changes: readonly Change[]): void {
    this.batches.push(changes);
    for (const { type, current, revision } of changes) this.seen.push(`${type} ${current.key} ${revision}`);
  }

  backlogBytes(): number {
    return this.backlog;
  }

  ended(reason: string): void {
    this.endedWith = reason;
  }
}

/** The contract of every storage, whatever makes it durable. */
export function storageContract(name: string, open: () => Promise<Storage>): void {
  describe(name, () => {
    it("gives each write the next revision and stamps the object with it", async () => {
      await using storage = await open();
      const start = storage.revision;
      const created = await put(storage, "default/a");
      expect(created.revision).toBe(start + 1);
      expect(created.object.metadata.resourceVersion).toBe(String(start + 1));
      expect(JSON.parse(Buffer.from(created.json).toString())).toEqual(created.object);
      expect(Object.isFrozen(created.object.metadata)).toBe(true);
      expect(storage.get(RESOURCE, "default/a")).toBe(created);
      expect(storage.revision).toBe(start + 1);
      const deleted = await remove(storage, "default/a");
      expect(deleted.object.metadata.resourceVersion).toBe(String(start + 2));
      expect(storage.get(RESOURCE, "default/a")).toBeUndefined();
    });

    it("shows a write to the next writer at once and to readers once it is durable", async () => {
      await using storage = await open();
      const pending = put(storage, "default/a");
      const head = storage.head(RESOURCE, "default/a");
      expect(head).toBeDefined();
      expect(storage.get(RESOURCE, "default/a")).toBeUndefined();
      expect(storage.snapshot(RESOURCE)?.size).toBe(0);
      expect(await pending).toBe(head);
      expect(storage.get(RESOURCE, "default/a")).toBe(head);
    });

    it("accepts a chain of writes to one object within one batch", async () => {
      await using storage = await open();
      const writes = [
        put(storage, "default/a", { data: 1 }),
        put(storage, "default/a", { data: 2 }),
        remove(storage, "default/a"),
      ];
      expect(storage.head(RESOURCE, "default/a")).toBeUndefined();
      writes.push(put(storage, "default/a", { data: 3 }));
      const [first, second, third, fourth] = await Promise.all(writes);
      expect([second, third, fourth].map((stored) => stored!.revision - first!.revision)).toEqual([1, 2, 3]);
      expect(storage.get(RESOURCE, "default/a")).toBe(fourth);
    });

    it("refuses a write based on another state, and changes nothing", async () => {
      await using storage = await open();
      const first = await put(storage, "default/a", { data: 1 });
      const second = await put(storage, "default/a", { data: 2 });
      const stale = { resource: RESOURCE, key: "default/a", expected: first, object: configMap("default/a") };
      expect(() => storage.commit(stale)).toThrow(StorageConflict);
      expect(() => storage.commit({ ...stale, expected: undefined })).toThrow(StorageConflict);
      expect(() => storage.commit({ ...stale, key: "default/b" })).toThrow(StorageConflict);
      expect(storage.head(RESOURCE, "default/a")).toBe(second);
      expect(storage.revision).toBe(second.revision);
    });

    it("lists in key order, within a namespace, from a start", async () => {
      await using storage = await open();
      await Promise.all(["b/1", "a/2", "a-b/1", "a/1", "c/9"].map((key) => put(storage, key)));
      expect(keysOf(storage)).toEqual(["a-b/1", "a/1", "a/2", "b/1", "c/9"]);
      const snapshot = storage.snapshot(RESOURCE)!;
      expect([...snapshot.entries({ namespace: "a" })].map(({ key }) => key)).toEqual(["a/1", "a/2"]);
      expect([...snapshot.entries({ namespace: "a", start: "a/1\0" })].map(({ key }) => key)).toEqual(["a/2"]);
      expect([...snapshot.entries({ start: "a/2" })].map(({ key }) => key)).toEqual(["a/2", "b/1", "c/9"]);
      expect(snapshot.get("b/1")?.key).toBe("b/1");
      expect([...storage.resources()]).toEqual([RESOURCE]);
    });

    it("keeps a snapshot as it was while writes go on", async () => {
      await using storage = await open();
      for (let at = 0; at < 300; at++) void put(storage, `default/${at}`);
      await storage.reached(storage.revision + 300);
      const snapshot = storage.snapshot(RESOURCE)!;
      for (let at = 0; at < 300; at += 2) void remove(storage, `default/${at}`);
      await put(storage, "default/new");
      expect([...snapshot.entries()].length).toBe(300);
      expect(keysOf(storage).length).toBe(151);
    });

    it("shows the past at every revision that is not compacted", async () => {
      await using storage = await open();
      const states = new Map<number, string[]>([[storage.revision, []]]);
      for (let at = 0; at < 40; at++) {
        if (at % 3 === 2) await remove(storage, `default/${at - 1}`);
        else await put(storage, `default/${at}`);
        if (at % 7 === 0) keysOf(storage);
        states.set(storage.revision, keysOf(storage, storage.revision));
      }
      for (const [revision, keys] of [...states].reverse()) expect(keysOf(storage, revision)).toEqual(keys);
      for (const [revision, keys] of states) expect(keysOf(storage, revision)).toEqual(keys);
      const middle = storage.revision - 20;
      storage.compact(middle);
      expect(storage.compactedRevision).toBe(middle);
      expect(storage.snapshot(RESOURCE, middle - 1)).toBeUndefined();
      for (const [revision, keys] of states) if (revision >= middle) expect(keysOf(storage, revision)).toEqual(keys);
    });

    it("replays the changes after a revision, then delivers those to come, each once and in order", async () => {
      await using storage = await open();
      const start = storage.revision;
      await put(storage, "default/a");
      await put(storage, "default/b");
      await storage.commit({ resource: "/secrets", key: "x/y", expected: undefined, object: configMap("x/y") });
      const recorder = new Recorder();
      using _ = storage.subscribe(RESOURCE, start + 1, recorder);
      expect(recorder.seen).toEqual([`added default/b ${start + 2}`]);
      await Promise.all([put(storage, "default/a"), remove(storage, "default/b")]);
      expect(recorder.seen.slice(1)).toEqual([`modified default/a ${start + 4}`, `deleted default/b ${start + 5}`]);
      const [modified, deleted] = recorder.batches.flat().slice(1);
      expect(modified?.previous?.revision).toBe(start + 1);
      expect(deleted?.previous?.revision).toBe(start + 2);
      expect(deleted?.current.object.metadata.resourceVersion).toBe(String(start + 5));
    });

    it("waits for a future revision before it delivers", async () => {
      await using storage = await open();
      const start = storage.revision;
      const recorder = new Recorder();
      using _ = storage.subscribe(RESOURCE, start + 2, recorder);
      const reached = storage.reached(start + 3);
      await put(storage, "default/a");
      await put(storage, "default/b");
      expect(recorder.seen).toEqual([]);
      await put(storage, "default/c");
      await reached;
      expect(recorder.seen).toEqual([`added default/c ${start + 3}`]);
    });

    it("delivers nothing after a subscription is disposed", async () => {
      await using storage = await open();
      const recorder = new Recorder();
      const subscription = storage.subscribe(RESOURCE, storage.revision, recorder);
      await put(storage, "default/a");
      subscription[Symbol.dispose]();
      await put(storage, "default/b");
      expect(recorder.seen.length).toBe(1);
      expect(recorder.endedWith).toBeUndefined();
    });

    it("reports a compacted revision as expired", async () => {
      await using storage = await open();
      const start = storage.revision;
      for (const key of ["default/a", "default/b", "default/c"]) await put(storage, key);
      storage.compact(start + 2);
      expect(() => storage.subscribe(RESOURCE, start + 1, new Recorder())).toThrow(StorageExpired);
      const recorder = new Recorder();
      using _ = storage.subscribe(RESOURCE, start + 2, recorder);
      expect(recorder.seen).toEqual([`added default/c ${start + 3}`]);
    });

    it("ends only a subscriber that does not keep up", async () => {
      await using storage = await open();
      const [slow, quick] = [new Recorder(), new Recorder()];
      using _slow = storage.subscribe(RESOURCE, storage.revision, slow);
      using _quick = storage.subscribe(RESOURCE, storage.revision, quick);
      slow.backlog = 2 ** 40;
      await put(storage, "default/a");
      await put(storage, "default/b");
      expect(slow.endedWith).toBe("overflow");
      expect(slow.seen.length).toBe(1);
      expect(quick.seen.length).toBe(2);
    });

    it("knows the dependents of an owner, across all resources, as they change", async () => {
      await using storage = await open();
      const owned = (key: string, uid: string): KubeObject => {
        const object = configMap(key);
        const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid };
        return { ...object, metadata: { ...object.metadata, ownerReferences: [reference] } };
      };
      const keys = () => [...storage.dependents("one")].map(({ resource, key }) => `${resource} ${key}`).sort();
      const first = await storage.commit({
        resource: RESOURCE,
        key: "a/1",
        expected: undefined,
        object: owned("a/1", "one"),
      });
      await storage.commit({ resource: "/secrets", key: "a/2", expected: undefined, object: owned("a/2", "one") });
      expect(keys()).toEqual(["/configmaps a/1", "/secrets a/2"]);
      await storage.commit({ resource: RESOURCE, key: "a/1", expected: first, object: owned("a/1", "two") });
      expect(keys()).toEqual(["/secrets a/2"]);
      expect([...storage.dependents("two")].length).toBe(1);
      await remove(storage, "a/1");
      expect([...storage.dependents("two")]).toEqual([]);
    });

    it("rejects a wait for a revision when the signal is aborted or the storage closes", async () => {
      const storage = await open();
      const abort = new AbortController();
      const aborted = storage.reached(storage.revision + 1, abort.signal);
      const closed = storage.reached(storage.revision + 1);
      const recorder = new Recorder();
      storage.subscribe(RESOURCE, storage.revision, recorder);
      abort.abort(new Error("enough"));
      await expect(aborted).rejects.toThrow("enough");
      const pending = put(storage, "default/a");
      await Promise.all([storage[Symbol.asyncDispose](), expect(closed).resolves.toBeUndefined()]);
      await pending;
      expect(recorder.endedWith).toBe("closed");
      expect(recorder.seen.length).toBe(1);
      expect(() => put(storage, "default/b")).toThrow("closed");
      await expect(storage.reached(storage.revision + 1)).rejects.toThrow("closed");
    });
  });
}
