import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { root } from "../guards/sources.js";
import { blocksOf, type Page } from "./block.js";
import { compile, type Finding } from "./compile.js";

const pages: readonly Page[] = [
  "README.md",
  ...["docs", "packages", "operators", "examples"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  ),
]
  .filter((path) => path.endsWith(".md") && !/(^|\/)(node_modules|dist)\//.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

/** A page on which every block has an error, in a marked line. */
const WRONG: Page = {
  path: "docs/wrong.md",
  text: [
    "# A name that no package exports, and one that nobody uses",
    "```ts",
    'import { connect, resuorce } from "setpoint"; // wrong, twice',
    "export const made = resuorce;",
    "```",
    "An option that there is not, in a block that goes on:",
    "```ts",
    "const again = made;",
    "controller(Website, {",
    "  reconcyle() {}, // wrong",
    "});",
    "```",
    "A name without imports, in a block that begins anew:",
    "```ts",
    "const again = controler(Website, { reconcile }); // wrong",
    "```",
    "The type of a status:",
    "```ts",
    'controller(Website, { reconcile: (_site, ctx) => ctx.status({ ready: "yes" }) }); // wrong',
    "```",
  ].join("\n"),
};

describe("the code of the docs", () => {
  let findings: readonly Finding[];
  beforeAll(async () => {
    findings = await compile([...pages, WRONG]);
  });

  it("compiles", () => {
    expect(findings.filter(({ page }) => page !== WRONG.path).map(({ text }) => text)).toEqual([]);
  });

  it("would fail to compile with a wrong name, option or type, and names page and line", () => {
    const found = findings.filter(({ page }) => page === WRONG.path).map(({ text }) => text);
    const lines = WRONG.text.split("\n").flatMap((line, at) => (line.includes("// wrong") ? [at + 1] : []));
    expect(new Set(found.map((text) => Number(text.split(":")[1])))).toEqual(new Set(lines));
    expect(found).toContainEqual(
      expect.stringMatching(/^docs\/wrong\.md:3: TS\d+: .*has no exported member.*resuorce/),
    );
    expect(found).toContainEqual(expect.stringMatching(/^docs\/wrong\.md:3: TS6133: 'connect' is declared but/));
  });

  it("is an exact excerpt of an example if it names one", () => {
    const excerpts = pages.flatMap(blocksOf).filter(({ tag }) => tag !== "");
    expect(excerpts.length).toBeGreaterThan(15);
    const strayed = excerpts.filter(({ tag, lines }) => {
      const file = join(root, tag);
      return (
        !/^examples\/.*\.ts$/.test(tag) || !existsSync(file) || !readFileSync(file, "utf8").includes(lines.join("\n"))
      );
    });
    expect(strayed.map(({ page, line, tag }) => `${page}:${line}: ${tag}`)).toEqual([]);
  });

  it("is checked in every block", () => {
    const fences = pages.flatMap(({ path, text }) => {
      const known = new Set(blocksOf({ path, text }).map(({ line }) => line - 1));
      return text.split("\n").flatMap((line, at) => {
        const isCode = /^\s*(`{3,}|~{3,})\s*([cm]?[jt]sx?|(java|type)script)\b/i.test(line);
        return isCode && !known.has(at + 1) ? [`${path}: ${line}`] : [];
      });
    });
    // The loop of the README is JavaScript, so that Node runs it unchanged; a test of the command line does.
    expect(fences).toEqual(["README.md: ```js"]);
  });
});
