import { describe, expect, it } from "vitest";
import { isTestSupport, packages, withoutComments } from "./sources.js";

/** Programs: their state ends with the process. */
const PROGRAMS: readonly string[] = [
  "packages/setpoint/src/bin.ts",
  "operators/pipelines/src/engine/duckdb/engine-process.ts",
];

const WRITES = "set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin";

/** State that a module keeps between calls: variables that change, and collections or objects that it writes to. */
function stateOf(text: string): readonly string[] {
  const code = withoutComments(text);
  const variables = [...code.matchAll(/^(?:export )?(?:let|var) (\w+)/gm)].map((match) => match[1]!);
  const fields = [...code.matchAll(/^ +(?:private )?static (?!readonly )(#?\w+)(?:: [^=(]+)? = /gm)].map(
    (match) => match[1]!,
  );
  const written = [...code.matchAll(/^(?:export )?const (\w+)[^\n]* =\s*(?:new (?:Map|Set|WeakMap|WeakSet)\b|\[|\{)/gm)]
    .map((match) => match[1]!)
    .concat(
      [...code.matchAll(/^(?:export )?const (\w+) = new (?:Map|Set|WeakMap|WeakSet)</gm)].map((match) => match[1]!),
    )
    .filter((name) => {
      const write = `(?<![\\w.#])${name}(?:\\.(?:${WRITES})\\(|(?:\\.\\w+|\\[[^\\]]+\\]) (?:[-+*/]|\\?\\?|\\|\\|)?= |\\.\\w+(?:\\+\\+|--))`;
      return new RegExp(write).test(code);
    });
  return [...new Set([...variables, ...fields, ...written])];
}

describe("module state", () => {
  it("is found in each of its forms", () => {
    const text = [
      "let a = 1;",
      "export let b: string | undefined;",
      "const c = new Map<string, number>();",
      "const d = new WeakMap<\n  object,\n  number\n>();",
      "const e: string[] = [];",
      "const f = { count: 0 };",
      "class G {\n  static h = 0;\n  static readonly i = 0;\n}",
      "const CONSTANTS: ReadonlySet<string> = new Set();",
      "// let j = 1;",
      "function k() {\n  let l = 0;\n  c.set(l, 1);\n  d.set(c, 1);\n  e.push(l);\n  f.count = 3;\n}",
    ].join("\n");
    expect(stateOf(text)).toEqual(["a", "b", "h", "c", "d", "e", "f"]);
  });

  it("does not exist in the product", () => {
    const found = packages().flatMap(({ sources }) =>
      sources
        .filter(({ path }) => !isTestSupport(path) && !PROGRAMS.includes(path))
        .flatMap(({ path, text }) => stateOf(text).map((name) => `${path}: ${name}`)),
    );
    expect(found).toEqual([]);
  });
});
