import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isUnreadable, ObjectDecoder } from "../reflector/incoming.js";
import { Widget, widget } from "../reflector/scripted-api.testing.js";
import { Retention } from "../retention.js";
import type { Snapshot } from "./snapshot.js";
import { Store } from "./store.js";

const reader = new ObjectDecoder(Widget, new Retention());

function read(object: Widget) {
  const incoming = reader.readObject(object);
  if (isUnreadable(incoming)) throw new Error(incoming.refused);
  return incoming;
}

const operation = fc.record({
  name: fc.integer({ min: 0, max: 12 }).map(String),
  size: fc.oneof(fc.nat(300), fc.nat(5000), fc.constant(400_000)),
  do: fc.constantFrom("put" as const, "put" as const, "delete" as const, "snapshot" as const, "stage" as const),
});

describe("store", () => {
  it("behaves like a Map, and snapshots stay unchanged", () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 120 }), (operations) => {
        const store = new Store(Widget, { maxParsed: 3 });
        const model = new Map<string, Widget>();
        const snapshots: { snapshot: Snapshot<Widget>; was: Widget }[] = [];
        let revision = 0;
        for (const { do: what, name, size } of operations) {
          const key = `default/${name}`;
          const object = widget(name, ++revision, { spec: { text: "x".repeat(size), revision } });
          const slot = store.slotOf(key);
          if (what === "put") {
            store.put(read(object));
            model.set(key, object);
          } else if (what === "stage") {
            store.assign(key, store.keep(read(object)));
            model.set(key, object);
          } else if (what === "delete") {
            store.delete(key);
            model.delete(key);
          } else if (slot !== undefined) {
            snapshots.push({ snapshot: store.snapshot(slot), was: model.get(key)! });
          }
        }
        expect(store.size).toBe(model.size);
        let bytes = 0;
        for (const [key, object] of model) {
          const slot = store.slotOf(key)!;
          expect(store.read(slot)).toEqual(object);
          expect(store.resourceVersionOf(slot)).toBe(object.metadata.resourceVersion);
          expect(store.hasUid(slot, object.metadata.uid)).toBe(true);
          const { apiVersion: _, kind: __, ...body } = object;
          bytes += JSON.stringify(body).length;
        }
        expect(store.bodyBytes).toBe(bytes);
        expect([...store.keys("default")].sort()).toEqual([...model.keys()].sort());
        for (const { snapshot, was } of snapshots) expect(snapshot.object).toEqual(was);
      }),
      { numRuns: 300 },
    );
  });

  describe("under random updates", () => {
    let state = 1;
    const random = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
    const noise = Buffer.from(Array.from({ length: 1_000_000 }, () => random(95) + 32)).toString("latin1");
    const someNoise = (length: number): string => noise.slice(random(noise.length - 1000)).slice(0, length);

    function storeOf(textOf: () => string): Store<Widget> {
      const store = new Store(Widget);
      for (let update = 0; update < 60_000; update++) {
        store.put(read(widget(`w${random(2000)}`, update + 1, { spec: { text: textOf() } })));
      }
      return store;
    }

    it("uses at most a third more bytes than bodies that have nothing in common", () => {
      const store = storeOf(() => someNoise(400 + random(400)));
      expect(store.bytes / store.bodyBytes).toBeLessThan(1.35);
    });

    it("uses at most half of the bytes of similar bodies", () => {
      const store = storeOf(() => "one of many objects that are alike ".repeat(20) + someNoise(random(40)));
      expect(store.bytes / store.bodyBytes).toBeLessThan(0.5);
    });
  });

  it("keeps resourceVersions of any length unchanged", () => {
    const store = new Store(Widget);
    for (const version of ["1", "9007199254740993", "18446744073709551615", "opaque", "007", ""]) {
      const slot = store.put(read(widget("a", version)));
      expect(store.resourceVersionOf(slot)).toBe(version);
    }
  });

  it("returns the same object to readers of one version, and keeps a bounded number parsed", () => {
    const store = new Store(Widget, { maxParsed: 2 });
    for (const name of ["a", "b", "c"]) store.put(read(widget(name, 1)));
    const first = store.get("default/a");
    expect(store.get("default/a")).toBe(first);
    store.get("default/b");
    store.get("default/c");
    expect(store.get("default/a")).not.toBe(first);
  });
});
