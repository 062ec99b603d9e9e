import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../../api/json.js";
import { readSliced, slicedJson, writeInSteps } from "./sliced-json.js";

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const keyed = (count: number, value: Json): Record<string, Json> =>
  Object.fromEntries(times(count, (at) => [`k${at}`, value]));

describe("JSON in slices", () => {
  it.each<[string, Json]>([
    ["a text", "x"],
    ["a small object", { a: [1, { b: null }] }],
    ["a large map", { data: keyed(20_000, "") }],
    ["a large list of maps", { items: times(6_000, (at) => ({ at })) }],
    [
      "a large map within another, and one beside it",
      { a: { ...keyed(6_000, 1), b: { c: keyed(6_000, [1]) } }, d: keyed(9_000, 2) },
    ],
    ["lists in lists", times(3, () => times(4_000, (at) => [at]))],
    ["a large map in an item of a list", { items: [1, { inner: keyed(8_000, {}) }, 2] }],
    ["numbers for keys, which come first", { ...keyed(6_000, 1), 7: "seven", 3: "three" }],
  ])("parses to the same value, with keys in order: %s", async (_title, value) => {
    expect(JSON.stringify(await readSliced(slicedJson(value)))).toBe(JSON.stringify(value));
  });

  it("is written field by field like at once, without values that JSON cannot express", async () => {
    const metadata = { name: "x", labels: undefined, annotations: { a: "b" }, managedFields: [{ a: undefined }] };
    const object = {
      kind: "A",
      metadata,
      data: { c: undefined, d: [undefined, 1] },
      e: undefined,
      f: null,
      metadatas: {},
    };
    let pauses = 0;
    const text = await writeInSteps(object as unknown as Record<string, Json>, async () => void pauses++);
    expect(text).toBe(JSON.stringify(object));
    expect(pauses).toBe(5);
  });

  it("treats __proto__ as an ordinary key", async () => {
    const value = JSON.parse(`{"a":{"__proto__":{"x":1},${times(6_000, (at) => `"k${at}":1`).join()}}}`) as Json;
    const read = await readSliced(slicedJson(value));
    expect(JSON.stringify(read)).toBe(JSON.stringify(value));
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it("parses to the same value, for any value", async () => {
    const large = fc.constantFrom<Json>(
      keyed(5_500, 0),
      times(5_500, () => 0),
    );
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>,
        large,
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.string(), tie("value"), { maxKeys: 3, noNullPrototype: true }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(value, async (each) => {
        const plain = JSON.stringify(each);
        const parsed = JSON.parse(plain) as Json;
        expect(JSON.stringify(await readSliced(slicedJson(parsed)))).toBe(plain);
      }),
      { numRuns: 50 },
    );
  });

  it("yields to others between slices of some thousand values", async () => {
    const value = { data: keyed(50_000, "") };
    const sliced = slicedJson(value);
    let pauses = 0;
    const pause = async (): Promise<void> => void pauses++;
    await readSliced(sliced, pause);
    expect(pauses).toBeGreaterThanOrEqual(10);
    const longest = Math.max(
      sliced.json.length,
      ...sliced.parts.flatMap(({ slices }) => slices.map(({ length }) => length)),
    );
    expect(longest).toBeLessThan(100_000);
  });
});
