import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../api/json.js";
import type { Schema } from "../../facts/schema.js";
import { ruleTree } from "./rule-tree.js";
import { validateRules } from "./rule-validation.js";

/** The responses of a real server to a CRD with these rules. */
const schema: Schema = {
  type: "object",
  "x-kubernetes-validations": [{ rule: "self.metadata.name.startsWith('x')", message: "name must start with x" }],
  properties: {
    spec: {
      type: "object",
      "x-kubernetes-validations": [
        { rule: "self.min <= self.max" },
        {
          rule: "!has(self.max) || self.max < 100",
          message: "max too big",
          reason: "FieldValueForbidden",
          fieldPath: ".max",
        },
        { rule: "self.min >= 0", messageExpression: "'min is negative'" },
        { rule: "self.min >= oldSelf.min", message: "min must not shrink" },
      ],
      properties: {
        min: { type: "integer" },
        max: { type: "integer" },
        name: { type: "string", "x-kubernetes-validations": [{ rule: "self == 'ok' || self.startsWith('v')" }] },
        list: {
          type: "array",
          "x-kubernetes-validations": [{ rule: "self.all(x, x > 0)", reason: "FieldValueDuplicate" }],
          items: { type: "integer", "x-kubernetes-validations": [{ rule: "self % 2 == 0", message: "must be even" }] },
        },
        m: {
          type: "object",
          additionalProperties: { type: "string", "x-kubernetes-validations": [{ rule: "self != 'bad'" }] },
        },
        "some-dash": { type: "string" },
        when: {
          type: "string",
          format: "date-time",
          "x-kubernetes-validations": [{ rule: "self > timestamp('2020-01-01T00:00:00Z')" }],
        },
        immutable: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "immutable" }] },
      },
    },
  },
};

function thing(name: string, spec: Json): JsonObject {
  return { apiVersion: "example.com/v1", kind: "Rule", metadata: { name }, spec };
}

/** The schema of objects whose spec has these fields and rules. */
function withRules(rules: readonly string[], properties: Readonly<Record<string, Schema>>): Schema {
  const validations = rules.map((rule) => ({ rule }));
  return {
    type: "object",
    properties: { spec: { type: "object", "x-kubernetes-validations": validations, properties } },
  };
}

function findings(object: JsonObject, old?: JsonObject, rules = schema): string[] {
  return validateRules(ruleTree(rules)!, object, { old }).map(
    ({ type, field, detail }) => `${type} ${field}: ${detail}`,
  );
}

describe("rules of a schema", () => {
  it.each<[Json, string[]]>([
    [{ min: 5, max: 3 }, ["FieldValueInvalid spec: Invalid value: failed rule: self.min <= self.max"]],
    [
      { min: -1, max: 200 },
      [
        "FieldValueForbidden spec.max: Forbidden: max too big",
        "FieldValueInvalid spec: Invalid value: min is negative",
      ],
    ],
    [
      { min: 1, max: 2, name: "nope", list: [1, -2], m: { a: "bad" }, when: "2019-01-01T00:00:00Z" },
      [
        "FieldValueInvalid spec.name: Invalid value: \"nope\": failed rule: self == 'ok' || self.startsWith('v')",
        "FieldValueDuplicate spec.list: Duplicate value",
        "FieldValueInvalid spec.list[0]: Invalid value: 1: must be even",
        "FieldValueInvalid spec.m[a]: Invalid value: \"bad\": failed rule: self != 'bad'",
        "FieldValueInvalid spec.when: Invalid value: \"2019-01-01T00:00:00Z\": failed rule: self > timestamp('2020-01-01T00:00:00Z')",
      ],
    ],
    [
      { max: 2 },
      [
        'FieldValueInvalid spec: Invalid value: "object": no such key: min evaluating rule: self.min <= self.max',
        'FieldValueInvalid spec: Invalid value: "object": no such key: min evaluating rule: self.min >= 0',
      ],
    ],
  ])("%j", (spec, expected) => {
    expect(findings(thing("x", spec))).toEqual(expected);
    expect(findings(thing("y", spec))).toEqual([
      "FieldValueInvalid <nil>: Invalid value: name must start with x",
      ...expected,
    ]);
  });

  it("of transitions compare with the old value", () => {
    const old = thing("x", { min: 5, max: 9, immutable: "a" });
    expect(findings(thing("x", { min: 3, max: 9, immutable: "b" }), old)).toEqual([
      "FieldValueInvalid spec: Invalid value: min must not shrink",
      'FieldValueInvalid spec.immutable: Invalid value: "b": immutable',
    ]);
  });

  it("ignore unchanged violations", () => {
    const broken = thing("x", { min: 5, max: 3 });
    expect(findings(broken, broken)).toEqual([]);
  });

  it("are not evaluated if the object is invalid already", () => {
    const errors = validateRules(ruleTree(schema)!, thing("x", {}), {
      errors: [{ type: "FieldValueTypeInvalid", field: "spec.min", detail: "" }],
    });
    expect(errors).toMatchObject([
      {
        field: "<nil>",
        detail: expect.stringContaining("Invalid value: null: some validation rules were not checked"),
      },
    ]);
  });

  it("escape field names that CEL does not allow", () => {
    const rule = "self.some__dash__name == 'v' && self.__namespace__ == 'n'";
    const dashed = withRules([rule], { "some-name": { type: "string" }, namespace: { type: "string" } });
    expect(findings(thing("x", { "some-name": "v", namespace: "n" }), undefined, dashed)).toEqual([]);
  });

  it("find nothing in an empty list, not even a missing value", () => {
    const rules = ["!(size(self.name) in [])", "size(self.name) in [1]"];
    const empty = withRules(rules, { name: { type: "string" } });
    expect(findings(thing("x", {}), undefined, empty)).toEqual([
      'FieldValueInvalid spec: Invalid value: "object": no such key: name evaluating rule: size(self.name) in [1]',
    ]);
  });

  it.each([
    ["{[1]: self.n}.exists(k, k == [1])", undefined],
    ["[1] in {[1]: self.n}", "Invalid value: failed rule"],
    [
      "{b'a': self.n}.size() == 1",
      'Invalid value: "object": internal error: runtime error: hash of unhashable type types.Bytes',
    ],
    ["{[self.n]: 1}[[self.n]] == 1", 'Invalid value: "object": invalid qualifier type: *types.baseList'],
    ["{type(self.n): 1}[type(self.n)] == 1", 'Invalid value: "object": invalid qualifier type: *types.Type'],
  ])("treat odd keys of maps as the real server does: %s", (rule, wrong) => {
    const odd = withRules([rule], { n: { type: "integer" } });
    const found = findings(thing("x", { n: 1 }), undefined, odd);
    expect(found).toEqual(wrong === undefined ? [] : [expect.stringContaining(wrong)]);
  });

  it.each([
    ["a set and a list in another order", "self.set + ['c', 'a'] == ['c', 'b', 'a']", true],
    ["a set, a list and a list", "(self.set + ['c']) + ['a', 'd'] == ['d', 'c', 'b', 'a']", true],
    ["a list and a set", "['c'] + self.set == ['a', 'b', 'c']", false],
    [
      "the result of a macro, which is unchanged",
      "[self.set.map(x, x)].all(l, size(l + ['c']) == 3 && size(l) == 2)",
      true,
    ],
    ["nothing and a set, which is the set", "[] + self.set == ['b', 'a']", true],
    ["keyed items and some of them", "self.keyed + self.keyed.filter(e, e.k == 'y') == self.keyed.reverse()", true],
    ["items that once had keys", "self.keyed.filter(e, true) + [] == self.keyed.reverse()", false],
  ])("give a sum of %s the type of its first operand", (_what, rule, holds) => {
    const item: Schema = { type: "object", properties: { k: { type: "string" } }, required: ["k"] };
    const sums = withRules([rule], {
      set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
      keyed: { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], items: item },
    });
    const spec = { set: ["a", "b"], keyed: [{ k: "x" }, { k: "y" }] };
    expect(findings(thing("x", spec), undefined, sums)).toEqual(holds ? [] : [expect.stringContaining("failed rule")]);
  });

  it.each([
    ["a list", "[1]", "*types.baseList"],
    ["a sum of lists", "[1] + [2]", "*types.concatList"],
    ["a sum that begins with the result of a macro", "self.list.map(x, x) + [1]", "*types.concatList"],
    ["a list of the object", "self.list", "*common.unstructuredList"],
    ["a sum that begins with it", "self.list + [2]", "*common.unstructuredList"],
    ["a set of the object", "self.set", "*common.unstructuredSetList"],
    ["a map", "{1: 2}", "*types.baseMap"],
    ["a map of the object", "self.map", "*common.unstructuredMap"],
  ])("name %s that is no valid key as Go does", (_what, key, type) => {
    const items: Schema = { type: "integer" };
    const lists = withRules([`{}[?${key}].orValue(true)`], {
      list: { type: "array", items },
      set: { type: "array", items, "x-kubernetes-list-type": "set" },
      map: { type: "object", additionalProperties: items },
    });
    const [found] = findings(thing("x", { list: [1], set: [1], map: { a: 1 } }), undefined, lists);
    expect(found?.split("invalid qualifier type: ")[1]?.split(" ")[0]).toBe(type);
  });

  it("print a double that is no valid key as Go does", () => {
    const doubles = withRules(["{1.5: true}[self.d]"], { d: { type: "number" } });
    const found = (d: number) => findings(thing("x", { d }), undefined, doubles).join();
    expect(found(1.5)).toBe("");
    expect(found(3)).toContain("no such key: 3 ");
    expect(found(1e10)).toContain("no such key: 1e+10 ");
  });

  it("stop when they exceed their cost limit", () => {
    const costly: Schema = {
      type: "object",
      properties: {
        spec: {
          type: "array",
          "x-kubernetes-validations": [{ rule: "self.all(a, self.all(b, self.all(c, a + b + c != '')))" }],
          items: { type: "string" },
        },
      },
    };
    const [finding] = findings(thing("x", new Array(200).fill("x")), undefined, costly);
    expect(finding).toContain("operation cancelled: actual cost limit exceeded");
  });
});
