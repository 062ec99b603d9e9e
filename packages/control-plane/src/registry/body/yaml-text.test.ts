import { describe, expect, it } from "vitest";
import { readYamlText } from "./yaml-text.js";

function valueIn(text: string): unknown {
  const reading = readYamlText(text);
  if (reading.type === "refused") throw new Error(reading.why);
  return JSON.parse(reading.json);
}

describe("YAML", () => {
  it.each([
    ["a: 1\nb: [x, 'y', \"z\"]\nc: {d: null, e: true}", { a: 1, b: ["x", "y", "z"], c: { d: null, e: true } }],
    ["a: yes\nb: 0x10\nc: 1:30\nd: 2026-01-01", { a: true, b: 16, c: "1:30", d: "2026-01-01" }],
    ["", null],
    ["a:\n  - b: 1\n    c: |\n      x\n      y\n", { a: [{ b: 1, c: "x\ny\n" }] }],
    ["1: a\ntrue: b\n~: c", { 1: "a", true: "b", "": "c" }],
    ["__proto__: {a: 1}", JSON.parse('{"__proto__":{"a":1}}')],
    ["a: !!binary aGk=", { a: "hi" }],
  ])("of %j is parsed", (text, value) => {
    expect(valueIn(text)).toEqual(value);
  });

  it("resolves aliases to the latest anchor of their name", () => {
    expect(valueIn("a: &x [1]\nb: *x\nc: &x 2\nd: *x")).toEqual({ a: [1], b: [1], c: 2, d: 2 });
    expect(valueIn("a: &k key\nb: {*k : 1}")).toEqual({ a: "key", b: { key: 1 } });
  });

  it("merges maps: the first one wins, and sibling keys win over all", () => {
    const text = "a: &a {x: 1, w: 1}\nb: &b {w: 2, z: 2}\nc:\n  <<: [*a, *b]\n  z: 3\nd:\n  <<: *a";
    expect(valueIn(text)).toMatchObject({ c: { x: 1, w: 1, z: 3 }, d: { x: 1, w: 1 } });
  });

  it("reports duplicate keys with their lines, and the last one counts", () => {
    const reading = readYamlText("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n");
    expect(reading).toMatchObject({
      json: '{"a":3,"b":{"c":2}}',
      duplicates: ['line 4: key "c" already set in map', 'line 5: key "a" already set in map'],
    });
  });

  it.each([
    ["a: *x", "yaml: unknown anchor 'x' referenced"],
    ["a: &x [*x]", "yaml: anchor 'x' value contains itself"],
    ["? [a]\n: b", "yaml: invalid map key"],
    ["<<: 1", "yaml: map merge requires map or sequence of maps as the value"],
    ["a: [1", "yaml: line 1: did not find expected ',' or ']'"],
    ["a: b: c\n", expect.stringMatching(/^yaml: line 1: /)],
  ])("of %j is refused", (text, why) => {
    expect(readYamlText(text)).toEqual({ type: "refused", why });
  });

  it("may consist mostly of aliases while it is small, as on the real server", () => {
    const text = `a: &x [${"1,".repeat(99)}1]\nb: [${"*x,".repeat(900)}*x]`;
    expect((valueIn(text) as { b: unknown[] }).b).toHaveLength(901);
  });

  it.each([
    ["a large list", `x: &a [${"{},".repeat(50_000)}{}]\ny: [${"*a,".repeat(98)}*a]`],
    [
      "lists of lists",
      ["a0: &a0 [1,1]", ...Array.from({ length: 40 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at},*a${at}]`)].join(
        "\n",
      ),
    ],
    ["a long text", `x: &a "${"s".repeat(300_000)}"\ny: [${"*a,".repeat(90)}*a]`],
    [
      "a large map that is merged",
      `x: &a {${Array.from({ length: 5_000 }, (_, at) => `k${at}: 1`).join()}}\ny:\n${"- {<<: *a}\n".repeat(5_000)}`,
    ],
  ])("that repeats %s by aliases is refused, however small it is", (_title, text) => {
    expect(readYamlText(text)).toEqual({ type: "refused", why: "yaml: document contains excessive aliasing" });
  });

  it("with as many aliases as fit is parsed, each of them once", () => {
    const text = `x: &a 1\nz: [${"*a,".repeat(100_000)}*a]`;
    expect((valueIn(text) as { z: unknown[] }).z).toHaveLength(100_001);
  });

  it("with many duplicate keys reports the first hundred", () => {
    const reading = readYamlText("a: 1\n".repeat(5_000));
    expect(reading.type === "read" && reading.duplicates).toHaveLength(100);
  });
});
