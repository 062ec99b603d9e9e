import { describe, expect, it } from "vitest";
import { StatusError } from "../../api/status-error.js";
import { parseLabelSelector } from "./label-selector.js";

function matches(selector: string, labels: Readonly<Record<string, string>>): boolean {
  return parseLabelSelector(selector).matches(labels);
}

function complaint(selector: string): string {
  try {
    parseLabelSelector(selector);
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
    ["(", "found '(', expected: !, identifier, or 'end of string'"],
  ])("%s is refused as the real server refuses it", (selector, message) => {
    expect(complaint(selector)).toBe(message);
  });
});
