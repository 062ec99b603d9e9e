import { labelMatcher } from "setpoint/kinds";
import { describe, expect, it } from "vitest";
import { StatusError } from "../../api/status-error.js";
import { requestedFields, requestedLabels } from "./request-selectors.js";

function matches(selector: string, labels: Readonly<Record<string, string>>): boolean {
  return labelMatcher(requestedLabels(selector))(labels);
}

function complaint(parse: (text: string) => unknown, selector: string): string {
  try {
    parse(selector);
  } catch (error) {
    if (error instanceof StatusError) return error.message;
  }
  return "none";
}

describe("label selectors", () => {
  it.each([
    ["a", { a: "" }, true],
    ["!a", { a: "" }, false],
    ["a=b", { a: "b" }, true],
    ["a==b", { a: "c" }, false],
    ["a!=b", {}, true],
    ["a in (b, c)", { a: "c" }, true],
    ["a notin (b,c)", { a: "c" }, false],
    ["a notin (b,c)", {}, true],
    ["a in ()", { a: "" }, true],
    ["a in (,b)", { a: "" }, true],
    ["n>2", { n: "3" }, true],
    ["n<2", { n: "3" }, false],
    ["n>2", { n: "x" }, false],
    ["in=x", { in: "x" }, true],
    ["a=b,c", { a: "b", c: "d" }, true],
    ["a=", { a: "" }, true],
    ["constructor", {}, false],
  ] as const)("%s on %j is %s", (selector, labels, expected) => {
    expect(matches(selector, labels)).toBe(expected);
  });

  it.each([
    ["a===b", "unable to parse requirement: found '=', expected: identifier"],
    ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ["a in (x", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["a in x", "unable to parse requirement: found 'x' expected: '('"],
    [
      "a>x",
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    ["!a=b", "found '=', expected: ',' or 'end of string'"],
    [",a", "found ',', expected: !, identifier, or 'end of string'"],
    ["a,", "found '', expected: identifier after ','"],
    [
      "a in (-,b,+)",
      "unable to parse requirement: [values[0][a]: Invalid value: \"+\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'), values[1][a]: Invalid value: \"-\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')]",
    ],
    ["(", "found '(', expected: !, identifier, or 'end of string'"],
  ])("%s is refused as the real server refuses it", (selector, message) => {
    expect(complaint(requestedLabels, selector)).toBe(message);
  });
});

describe("field selectors", () => {
  it("are terms that all must match", () => {
    expect(requestedFields("metadata.name=a,status.phase!=Running,")).toEqual([
      { field: "metadata.name", operator: "=", value: "a" },
      { field: "status.phase", operator: "!=", value: "Running" },
    ]);
    expect(requestedFields("a==b\\,c")).toEqual([{ field: "a", operator: "=", value: "b,c" }]);
  });

  it.each([
    ["foo", "invalid selector: 'foo'; can't understand 'foo'"],
    ["a=b\\x", "invalid field selector: invalid escape sequence: \\x"],
    ["a=b=c", "invalid field selector: unescaped character in value: 61"],
    ["a=b\\", "invalid field selector: invalid escape sequence: \\"],
  ])("%s is refused as the real server refuses it", (selector, message) => {
    expect(complaint(requestedFields, selector)).toBe(message);
  });
});
