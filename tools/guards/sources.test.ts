import { describe, expect, it } from "vitest";
import { importsOf, isTestSupport, packages, withoutComments } from "./sources.js";

describe("the sources that guards check", () => {
  it("include every package with its sources", () => {
    const names = packages().map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["setpoint", "@setpoint/control-plane", "@setpoint/cli"]));
    for (const { name, sources } of packages()) expect(sources.length, name).toBeGreaterThan(0);
  });

  it("are searched for every form of import", () => {
    const text = [
      'import { a } from "./a.js";',
      'import type { B } from "../b.js";',
      'import "./effect.js";',
      'export { c } from "./c.js";',
      'export type * from "./d.js";',
      'import {\n  e,\n  f,\n} from "node:e";',
      'const g = await import("@setpoint/cli");',
      'type H = import("./h.js").H;',
      '// import { no } from "./comment.js";',
      '/** ```ts\n * import { no } from "./example.js";\n */',
    ].join("\n");
    expect(importsOf(text)).toEqual([
      ...["./a.js", "../b.js", "./effect.js", "./c.js", "./d.js", "node:e", "@setpoint/cli", "./h.js"],
    ]);
  });

  it("are code without comments, but with URLs", () => {
    expect(withoutComments('a(); // Date.now()\nb("https://x.org"); /* setTimeout */ c();')).toBe(
      'a(); \nb("https://x.org");  c();',
    );
  });

  it("distinguish product code from test code", () => {
    const support = [
      "a/b.test.ts",
      "a/b.real.test.ts",
      "a/b.contract.ts",
      "a/b.suite.ts",
      "a/testing/b.ts",
      "a/b.testing.ts",
    ];
    expect(support.every((path) => isTestSupport(path))).toBe(true);
    expect(isTestSupport("packages/setpoint/src/queue/queue.ts")).toBe(false);
  });
});
