import { describe, expect, it } from "vitest";
import { Bytes, Uint } from "../values/value.js";
import type { Expression } from "./expression.js";
import { parse } from "./parser.js";

/** The expression with every operation in parentheses. */
function shown(expression: Expression): string {
  switch (expression.kind) {
    case "literal": {
      const { value } = expression;
      if (value instanceof Uint) return `${value.value}u`;
      if (value instanceof Bytes) return `b${JSON.stringify([...value.value])}`;
      return typeof value === "string" ? JSON.stringify(value) : String(value);
    }
    case "identifier":
      return expression.name;
    case "select": {
      const text = `${shown(expression.operand)}.${expression.field}`;
      return expression.isTest ? `has(${text})` : text;
    }
    case "call": {
      const args = expression.args.map(shown).join(", ");
      const target = expression.target === undefined ? "" : `${shown(expression.target)}.`;
      return `${target}${expression.name}(${args})`;
    }
    case "list":
      return `[${expression.items.map(({ value, isOptional }) => `${isOptional ? "?" : ""}${shown(value)}`).join(", ")}]`;
    case "map":
      return `{${expression.entries.map(({ key, value }) => `${shown(key)}: ${shown(value)}`).join(", ")}}`;
    case "struct":
      return `${expression.name}{${expression.fields.map(({ name, value }) => `${name}: ${shown(value)}`).join(", ")}}`;
    case "comprehension":
      return `loop(${shown(expression.range)}, ${expression.variable}, ${shown(expression.step)})`;
  }
}

describe("parsing CEL", () => {
  it.each([
    ["1 + 2 * 3 == 7 && !x || y", "_||_(_&&_(_==_(_+_(1, _*_(2, 3)), 7), !_(x)), y)"],
    ["a ? b : c ? d : e", "_?_:_(a, b, _?_:_(c, d, e))"],
    ["-1 - -x", "_-_(-1, -_(x))"],
    ["self.a.b[0].c('x').d", '_[_](self.a.b, 0).c("x").d'],
    ["has(self.a.b) && size(self.c) > 0u", "_&&_(has(self.a.b), _>_(size(self.c), 0u))"],
    ["a && b && c && d", "_&&_(_&&_(a, b), _&&_(c, d))"],
    ["l.all(x, x.name != '')", 'loop(l, x, _&&_(@result, _!=_(x.name, "")))'],
    ["l.map(x, x > 1, x * 2)", "loop(l, x, _?_:_(_>_(x, 1), _+_(@result, [_*_(x, 2)]), @result))"],
    ["self.?a[?0].orValue({'k': 1e3, \"l\": .5})", '_[?_](_?._(self, "a"), 0).orValue({"k": 1000, "l": 0.5})'],
    ['b\'\\x00a\' == b"""\n"""', "_==_(b[0,97], b[10])"],
    ["r'\\d+' // a comment\n + '\\u00e9\\n\\''", '_+_("\\\\d+", "é\\n\'")'],
    ["0xFF % -9223372036854775808", "_%_(255, -9223372036854775808)"],
    ["map(1, 2)", "map(1, 2)"],
    ["a.b.C{x: 1, ?y: z}", "a.b.C{x: 1, y: z}"],
  ])("%s", (text, expected) => {
    expect(shown(parse(text))).toBe(expected);
  });

  it.each([
    ["'open", "token recognition error at: ''open'"],
    ["a # b", "token recognition error at: '#'"],
    ["l.all(x.y, true)", "argument must be a simple name"],
    ["l.all(x, x, true)", "duplicate variable name: x"],
    ["a.`b-c`", "unsupported syntax"],
    [`${"(".repeat(300)}1${")".repeat(300)}`, "expression recursion limit exceeded: 250"],
    ["x".repeat(100_001), "expression code point size exceeds limit"],
  ])("refuses %s", (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });
});
