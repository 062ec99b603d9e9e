import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ObjectScanner, scanList } from "./scan.js";

interface Meta {
  readonly name: string;
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly uid?: string;
  readonly managedFields?: unknown;
}

/** The scanner's result in the parser's form; undefined if it was unsure. */
function scanned(text: string): { object: unknown; meta: Record<string, string> } | undefined {
  const around = Buffer.from(`xx${text}yy`);
  const [start, end] = [2, around.length - 2];
  const found = new ObjectScanner();
  if (!found.scan(around, start, end)) return undefined;
  const slice = (from: number, to: number): string => around.toString("utf8", from, to);
  const body = found.cutEnd > 0 ? slice(start, found.cutStart) + slice(found.cutEnd, end) : slice(start, end);
  return {
    object: JSON.parse(body),
    meta: {
      name: slice(found.nameStart, found.nameEnd),
      namespace: slice(found.namespaceStart, found.namespaceEnd),
      resourceVersion: slice(found.resourceVersionStart, found.resourceVersionEnd),
      uid: slice(found.uidStart, found.uidEnd),
      kind: slice(found.kindStart, found.kindEnd),
      apiVersion: slice(found.apiVersionStart, found.apiVersionEnd),
      managedFields: slice(found.managedFieldsStart, found.managedFieldsEnd),
    },
  };
}

function parsed(text: string): { object: unknown; meta: Record<string, string> } {
  const object = JSON.parse(text);
  const { managedFields, ...metadata } = object.metadata as Meta;
  return {
    object: { ...object, metadata },
    meta: {
      name: metadata.name,
      namespace: metadata.namespace ?? "",
      resourceVersion: metadata.resourceVersion ?? "",
      uid: metadata.uid ?? "",
      kind: object.kind ?? "",
      apiVersion: object.apiVersion ?? "",
      managedFields: managedFields === undefined ? "" : JSON.stringify(managedFields),
    },
  };
}

const plain = fc.stringMatching(/^[a-z0-9.-]{1,20}$/);
const trickyKey = fc.constantFrom(
  "metadata",
  "name",
  "uid",
  "managedFields",
  "resourceVersion",
  "items",
  "kind",
  '"',
  "\\",
  "é",
  "{",
  "]",
);
const tree = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.string({ unit: "binary" }),
    fc.constantFrom('","metadata":{"name":"x"}', "\\", '\\"', "}]", "\u2028", "😀"),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(trickyKey, fc.string()), tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

/** The entries of an object in any order. */
const shuffled = (entries: fc.Arbitrary<[string, unknown][]>): fc.Arbitrary<Record<string, unknown>> =>
  entries.chain((list) =>
    fc
      .shuffledSubarray(list, { minLength: list.length, maxLength: list.length })
      .map((order) => Object.fromEntries(order)),
  );

const metadata = shuffled(
  fc
    .record(
      {
        name: fc.oneof({ weight: 9, arbitrary: plain }, fc.string({ minLength: 1 })),
        namespace: plain,
        resourceVersion: fc.nat().map(String),
        uid: fc.uuid(),
        managedFields: fc.array(tree, { maxLength: 3 }),
        labels: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
        annotations: tree,
        creationTimestamp: plain,
      },
      { requiredKeys: ["name"] },
    )
    .map((record) => Object.entries(record)),
);
const object = shuffled(
  fc
    .record(
      { metadata, kind: plain, apiVersion: plain, spec: tree, status: tree, data: tree },
      { requiredKeys: ["metadata"] },
    )
    .map((record) => Object.entries(record)),
);

describe("scanner", () => {
  it("finds the same as the parser, or reports that it is unsure", () => {
    let unsure = 0;
    let runs = 0;
    fc.assert(
      fc.property(object, (value) => {
        const text = JSON.stringify(value);
        const found = scanned(text);
        runs++;
        if (found) expect(found).toEqual(parsed(text));
        else unsure++;
      }),
      { numRuns: 2000 },
    );
    expect(unsure).toBeLessThan(runs / 4);
  });

  it("rejects truncated text and trailing text", () => {
    fc.assert(
      fc.property(object, fc.nat(), (value, cut) => {
        const text = JSON.stringify(value);
        const bytes = Buffer.from(text);
        const scanner = new ObjectScanner();
        expect(scanner.scan(bytes, 0, cut % bytes.length)).toBe(false);
        const longer = Buffer.from(`${text}}`);
        expect(scanner.scan(longer, 0, longer.length)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["white space", '{ "metadata":{"name":"a"}}'],
    ["white space in metadata", '{"metadata":{"name": "a"}}'],
    ["an escape in a name", '{"metadata":{"name":"\\u0061"}}'],
    ["a name that comes twice", '{"metadata":{"name":"a","name":"b"}}'],
    ["metadata that comes twice", '{"metadata":{"name":"a"},"metadata":{"name":"b"}}'],
    ["no name", '{"metadata":{}}'],
    ["no metadata", '{"spec":{}}'],
    ["an empty object", "{}"],
    ["something else", "[1]"],
  ])("is unsure about %s", (_, text) => {
    const bytes = Buffer.from(text);
    expect(new ObjectScanner().scan(bytes, 0, bytes.length)).toBe(false);
  });

  it("splits a list into its items", () => {
    fc.assert(
      fc.property(fc.array(object, { maxLength: 5 }), tree, (items, remark) => {
        const bytes = Buffer.from(
          JSON.stringify({ kind: "AList", remark, metadata: { resourceVersion: "7" }, items, more: remark }),
        );
        const ranges = scanList(bytes)!;
        expect(ranges.items.map(([from, to]) => bytes.toString("utf8", from, to))).toEqual(
          items.map((item) => JSON.stringify(item)),
        );
        expect(JSON.parse(ranges.envelope)).toMatchObject({
          kind: "AList",
          metadata: { resourceVersion: "7" },
          items: [],
        });
      }),
      { numRuns: 300 },
    );
  });
});
