import { describe, expect, it } from "vitest";
import { Budget } from "./budget.js";
import { evaluate } from "./evaluator.js";
import { parse } from "./parser.js";
import type { CelValue } from "./value.js";

const variables = new Map<string, CelValue>([
  [
    "self",
    new Map<CelValue, CelValue>([
      ["replicas", 3n],
      ["ratio", 0.5],
      ["name", "web-1"],
      ["tags", ["a", "b", "c"]],
      ["labels", new Map<CelValue, CelValue>([["app", "web"]])],
      ["ports", [new Map<CelValue, CelValue>([["port", 80n]]), new Map<CelValue, CelValue>([["port", 443n]])]],
      ["none", null],
    ]),
  ],
]);

function value(text: string, limit = 100_000): CelValue {
  return evaluate(parse(text), variables, new Budget(limit));
}

describe("evaluating CEL", () => {
  it.each([
    "self.replicas > 2 && self.replicas <= 3",
    "self.replicas * 2 + 1 == 7 && 7 / 2 == 3 && -7 % 3 == -1",
    "1 == 1.0 && 1u == 1 && 2 > 1.5",
    "self.ratio + 0.5 == 1.0",
    "has(self.name) && !has(self.missing)",
    "self.missing == 1 || true",
    "!(false && self.missing == 1)",
    "'app' in self.labels && self.labels.app == 'web' && self['labels']['app'] == 'web'",
    "self.tags.all(t, t.size() == 1) && self.tags.exists(t, t == 'b') && self.tags.exists_one(t, t > 'b')",
    "self.ports.map(p, p.port) == [80, 443] && self.ports.filter(p, p.port > 100).size() == 1",
    "self.ports.map(p, p.port > 100, p.port * 2) == [886]",
    "self.ports.exists(p, p.nope == 1 || p.port == 80)",
    "self.labels.all(k, self.labels[k] != '')",
    "self.name.startsWith('web') && self.name.matches('^[a-z]+-[0-9]+$') && self.name.contains('-')",
    "self.name.split('-') == ['web', '1'] && ['a', 'b'].join('+') == 'a+b' && 'aXa'.lowerAscii() == 'axa'",
    "'abcabc'.replace('a', 'x', 1) == 'xbcabc' && 'abc'.substring(1) == 'bc' && 'tacocat'.indexOf('c', 3) == 4",
    "'abc 123 def'.find('[0-9]+') == '123' && '1 2 3'.findAll('[0-9]', 2) == ['1', '2']",
    "[3, 1, 2].sum() == 6 && [3, 1, 2].max() == 3 && [1, 2].isSorted() && [1, 2, 2].indexOf(2) == 1",
    "sets.contains([1, 2], [2]) && sets.equivalent([1, 1, 2], [2, 1]) && !sets.intersects([1], [2])",
    "int('42') == 42 && string(42) == '42' && double('1.5') == 1.5 && uint(3) == 3u && type(1) == type(2)",
    "duration('90s') == duration('1m30s') && duration('1h').getMinutes() == 60",
    "timestamp('2024-01-01T00:00:00Z') + duration('24h') == timestamp('2024-01-02T00:00:00Z')",
    "timestamp('2024-03-05T06:07:08Z').getMonth() == 2 && timestamp('2024-03-05T06:07:08Z').getHours('+01:00') == 7",
    "self.?missing.orValue(5) == 5 && self.?name.hasValue() && self.tags[?7].orValue('z') == 'z'",
    "self.?name.optMap(n, n + '!').value() == 'web-1!' && optional.none().or(optional.of(1)).value() == 1",
    "{'a': 1, ?'b': optional.none()} == {'a': 1} && [?optional.of(1), 2] == [1, 2]",
    "self.none == null && size('héé') == 3 && b'a' + b'b' == b'ab'",
    "(self.replicas > 5 ? 'many' : 'few') == 'few'",
  ])("%s", (text) => {
    expect(value(text)).toBe(true);
  });

  it.each([
    ["self.missing", "no such key: missing"],
    ["self.tags[9]", "index out of bounds: 9"],
    ["1 + 1.0", "no such overload"],
    ["1 / 0", "division by zero"],
    ["9223372036854775807 + 1", "integer overflow"],
    ["nobody", "undeclared reference to 'nobody'"],
    ["self.name.frobnicate()", "undeclared reference to 'frobnicate'"],
    ["'a' && true", "no such overload"],
    ["int('x')", "type conversion error from 'string' to 'int'"],
    ["'a'.matches('(')", "error parsing regexp"],
  ])("%s has no value", (text, message) => {
    expect(() => value(text)).toThrow(message);
  });

  it("stops what costs too much, also below && and ||", () => {
    const loops = "self.tags.all(a, self.tags.all(b, self.tags.all(c, self.tags.all(d, a + b + c + d != ''))))";
    expect(() => value(loops, 100)).toThrow("cost limit exceeded");
    expect(() => value(`${loops} || true`, 100)).toThrow("cost limit exceeded");
  });
});
