import fc from "fast-check";
import { expect, it } from "vitest";
import { decodeBatch, encodeBatch } from "./journal-batch.js";
import { configMap } from "./storage.contract.js";
import type { Change } from "./storage.js";
import { StoredState } from "./stored-state.js";

const change: fc.Arbitrary<Change> = fc
  .record({
    type: fc.constantFrom("added" as const, "modified" as const, "deleted" as const),
    revision: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    resource: fc.string({ unit: "grapheme", maxLength: 20 }),
    key: fc.string({ unit: "grapheme", maxLength: 20 }),
    data: fc.jsonValue(),
  })
  .map(({ type, revision, resource, key, data }) => {
    const current = StoredState.of(resource, key, revision, configMap("a/b", { data }));
    return { type, revision, current };
  });

it("returns every change of a batch, in order", () => {
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const expected = changes.map(({ type, revision, current }) => {
        const json = type === "deleted" ? undefined : Buffer.from(current.json).toString();
        return { revision, resource: current.resource, key: current.key, json };
      });
      const decoded = [...decodeBatch(encodeBatch(changes))];
      expect(
        decoded.map((record) => ({ ...record, json: record.json && Buffer.from(record.json).toString() })),
      ).toEqual(expected);
    }),
  );
});

it("refuses truncated bytes", () => {
  const current = StoredState.of("/configmaps", "a/b", 7, configMap("a/b"));
  const batch = encodeBatch([{ type: "added", revision: 7, current }]);
  for (let size = 1; size < batch.length; size++)
    expect(() => [...decodeBatch(batch.subarray(0, size))]).toThrow(RangeError);
});
