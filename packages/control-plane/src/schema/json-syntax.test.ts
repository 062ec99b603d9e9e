import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { goSyntaxError } from "./json-syntax.js";

describe("errors of JSON syntax", () => {
  it.each([
    ["", "unexpected end of JSON input"],
    ["{", "unexpected end of JSON input"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
    ["[1 2]", "invalid character '2' after array element"],
    ['{"a":1} x', "invalid character 'x' after top-level value"],
    ["x", "invalid character 'x' looking for beginning of value"],
    ["nul", "unexpected end of JSON input"],
    ["nulx", "invalid character 'x' in literal null (expecting 'l')"],
    ['"\\q"', "invalid character 'q' in string escape code"],
    ['"\\u12x4"', "invalid character 'x' in \\u hexadecimal character escape"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ["-x", "invalid character 'x' in numeric literal"],
    ["1.x", "invalid character 'x' after decimal point in numeric literal"],
    ["1ex", "invalid character 'x' in exponent of numeric literal"],
    ["01", "invalid character '1' after top-level value"],
  ])("%j is worded as Go words it", (text, message) => {
    expect(goSyntaxError(text)).toBe(message);
  });

  it("has an error for every invalid text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(typeof goSyntaxError(text)).toBe("string");
      }),
    );
  });
});
