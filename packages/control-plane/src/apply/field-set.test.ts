import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  difference,
  EMPTY_SET,
  equalSets,
  type FieldSet,
  hasPath,
  intersection,
  isEmptySet,
  leaves,
  parseFieldSet,
  paths,
  pathText,
  recursiveDifference,
  setOf,
  union,
} from "./field-set.js";

const element = fc.constantFrom("f:a", "f:b", "f:c", 'k:{"name":"x"}', 'k:{"port":80}', 'v:"s"', "v:10", "v:9", "i:0");
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const members = fc.array(path, { maxLength: 12 });

function texts(set: FieldSet): string[] {
  return [...paths(set)].map((found) => found.join("/")).sort();
}

function model(found: readonly (readonly string[])[]): Set<string> {
  return new Set(found.map((one) => one.join("/")));
}

describe("field set", () => {
  it("holds exactly the paths inserted", () => {
    fc.assert(
      fc.property(members, (all) => {
        const set = setOf(...all);
        expect(texts(set)).toEqual([...model(all)].sort());
        for (const one of all) expect(hasPath(set, one)).toBe(true);
        expect(isEmptySet(set)).toBe(all.length === 0);
      }),
    );
  });

  it("unites, intersects and subtracts like a plain set of paths", () => {
    fc.assert(
      fc.property(members, members, (left, right) => {
        const [a, b] = [setOf(...left), setOf(...right)];
        const [inA, inB] = [model(left), model(right)];
        expect(texts(union(a, b))).toEqual([...new Set([...inA, ...inB])].sort());
        expect(texts(intersection(a, b))).toEqual([...inA].filter((one) => inB.has(one)).sort());
        expect(texts(difference(a, b))).toEqual([...inA].filter((one) => !inB.has(one)).sort());
      }),
    );
  });

  it("subtracts everything below a member recursively", () => {
    fc.assert(
      fc.property(members, members, (left, right) => {
        const removed = (one: string): boolean =>
          right.some((other) => one === other.join("/") || one.startsWith(`${other.join("/")}/`));
        const expected = [...model(left)].filter((one) => !removed(one)).sort();
        expect(texts(recursiveDifference(setOf(...left), setOf(...right)))).toEqual(expected);
      }),
    );
  });

  it("has one form for the same content, however it was built", () => {
    fc.assert(
      fc.property(members, members, (left, right) => {
        const forward = union(setOf(...left), setOf(...right));
        const backward = union(setOf(...right), setOf(...left));
        const direct = setOf(...left, ...right);
        expect(JSON.stringify(forward)).toBe(JSON.stringify(backward));
        expect(JSON.stringify(forward)).toBe(JSON.stringify(direct));
        expect(equalSets(forward, direct)).toBe(true);
        const undone = difference(union(setOf(...left), setOf(...right)), setOf(...right));
        expect(JSON.stringify(undone)).toBe(JSON.stringify(difference(setOf(...left), setOf(...right))));
      }),
    );
  });

  it("is its own wire form", () => {
    fc.assert(
      fc.property(members, (all) => {
        const set = setOf(...all);
        const read = parseFieldSet(JSON.parse(JSON.stringify(set)));
        expect(JSON.stringify(read)).toBe(JSON.stringify(set));
      }),
    );
  });

  it("changes neither operand", () => {
    fc.assert(
      fc.property(members, members, (left, right) => {
        const [a, b] = [setOf(...left), setOf(...right)];
        const before = JSON.stringify([a, b]);
        for (const operation of [union, intersection, difference, recursiveDifference]) operation(a, b);
        expect(JSON.stringify([a, b])).toBe(before);
      }),
    );
  });

  it("knows its leaves", () => {
    expect(leaves(setOf(["f:a"], ["f:a", "f:b"], ["f:c"]))).toEqual(setOf(["f:a", "f:b"], ["f:c"]));
  });

  it("orders fields, then keys by their values, then values as numbers", () => {
    const set = setOf(['v:"b"'], ["v:10"], ["v:9"], ['k:{"port":443}'], ['k:{"port":80}'], ["f:b"], ["f:a"]);
    expect(Object.keys(set)).toEqual(["f:a", "f:b", 'k:{"port":80}', 'k:{"port":443}', "v:9", "v:10", 'v:"b"']);
  });

  it("prints a path as the real server does", () => {
    const shown = pathText(["f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', "f:name"]);
    expect(shown).toBe('.spec.ports[port=80,protocol="TCP"].name');
    expect(pathText(["f:set", 'v:"a"'])).toBe('.set[="a"]');
  });
});

describe("parsing fieldsV1", () => {
  it("writes keys canonically and drops unknown ones", () => {
    const set = parseFieldSet({ 'k:{"b":1,"a":2}': {}, "x:future": {}, "f:b": { ".": {}, "f:c": {} }, "f:a": null });
    expect(JSON.stringify(set)).toBe('{"f:a":{},"f:b":{".":{},"f:c":{}},"k:{\\"a\\":2,\\"b\\":1}":{}}');
  });

  it.each([[{ nonsense: {} }], [{ "v:{": {} }], [{ "f:a": 1 }], [[]]])("refuses %j", (value) => {
    expect(() => parseFieldSet(value)).toThrow();
  });

  it("treats an absent value as the empty set", () => {
    expect(parseFieldSet({})).toEqual(EMPTY_SET);
  });
});
