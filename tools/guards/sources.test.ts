import { describe, expect, it } from "vitest";
import { importsOf, isTestSupport, packages, withoutComments } from "./sources.js";

describe("what the guards see", () => {
  it("is every package with its sources", () => {
    const names = packages().map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["setpoint", "@setpoint/control-plane", "@setpoint/cli"]));
    for (const { name, sources } of packages()) expect(sources.length, name).toBeGreaterThan(0);
  });

  it("is every form of import", () => {
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

  it("is code without its comments, and with its addresses", () => {
    expect(withoutComments('a(); // Date.now()\nb("https://x.org"); /* setTimeout */ c();')).toBe(
      'a(); \nb("https://x.org");  c();',
    );
  });

  it("is what users run, apart from what only tests use", () => {
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
