import { describe, expect, it } from "vitest";
import type { Expression } from "./expression.js";
import { parse } from "./parser.js";
import { Bytes, Uint } from "./value.js";

/** The expression with every operation in parentheses. */
function shown(expression: Expression): string {
  switch (expression.kind) {
    case "literal":
      if (expression.value instanceof Uint) return `${expression.value.value}u`;
      if (expression.value instanceof Bytes) return `b${JSON.stringify([...expression.value.value])}`;
      return typeof expression.value === "string" ? JSON.stringify(expression.value) : String(expression.value);
    case "identifier":
      return expression.name;
    case "select": {
      const text = `${shown(expression.operand)}${expression.isOptional ? ".?" : "."}${expression.field}`;
      return expression.isTest ? `has(${text})` : text;
    }
    case "index":
      return `${shown(expression.operand)}[${expression.isOptional ? "?" : ""}${shown(expression.index)}]`;
    case "call": {
      const args = expression.args.map(shown).join(", ");
      return expression.target === undefined
        ? `${expression.name}(${args})`
        : `${shown(expression.target)}.${expression.name}(${args})`;
    }
    case "list":
      return `[${expression.items.map(({ item, isOptional }) => `${isOptional ? "?" : ""}${shown(item)}`).join(", ")}]`;
    case "map":
      return `{${expression.entries.map(({ item: [key, value] }) => `${shown(key)}: ${shown(value)}`).join(", ")}}`;
    case "comprehension": {
      const { macro, range, variable, condition, transform } = expression;
      const parts = [variable, ...[condition, transform].flatMap((part) => (part === undefined ? [] : [shown(part)]))];
      return `${shown(range)}.${macro}{${parts.join(" | ")}}`;
    }
  }
}

describe("parsing CEL", () => {
  it.each([
    ["1 + 2 * 3 == 7 && !x || y", "||(&&(==(+(1, *(2, 3)), 7), !(x)), y)"],
    ["a ? b : c ? d : e", "?:(a, b, ?:(c, d, e))"],
    ["-1 - -x", "-(-1, neg(x))"],
    ["self.a.b[0].c('x').d", 'self.a.b[0].c("x").d'],
    ["has(self.a.b) && size(self.c) > 0u", "&&(has(self.a.b), >(size(self.c), 0u))"],
    ["self.list.all(x, x.name != '')", 'self.list.all{x | !=(x.name, "")}'],
    ["l.map(x, x > 1, x * 2).filter(y, y in [1, 2,])", "l.map{x | >(x, 1) | *(x, 2)}.filter{y | in(y, [1, 2])}"],
    ["self.?a[?0].orValue({'k': 1e3, \"l\": .5})", 'self.?a[?0].orValue({"k": 1000, "l": 0.5})'],
    ['b\'\\x00a\' == b"""\n"""', "==(b[0,97], b[10])"],
    ["r'\\d+' // a comment\n + '\\u00e9\\n\\''", '+("\\\\d+", "é\\n\'")'],
    ["0xFF % -9223372036854775808", "%(255, -9223372036854775808)"],
    ["map(1, 2)", "map(1, 2)"],
  ])("%s", (text, expected) => {
    expect(shown(parse(text))).toBe(expected);
  });

  it.each([
    ["1 +", "mismatched input '<EOF>'"],
    ["(1", "mismatched input '<EOF>'"],
    ["a b", "mismatched input 'b'"],
    ["'open", "token recognition error"],
    ["a # b", "token recognition error at: '#'"],
    ["has(a)", "invalid argument to has() macro"],
    ["l.all(x.y, true)", "argument must be a simple name"],
    ["9223372036854775808", "invalid int literal"],
    ["for", "reserved identifier: for"],
    ["'\\q'", "invalid escape sequence"],
    [`${"(".repeat(300)}1${")".repeat(300)}`, "expression recursion limit exceeded"],
    [`${"!".repeat(300)}true`, "expression recursion limit exceeded"],
  ])("refuses %s", (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });
});
