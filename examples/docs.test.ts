import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const text = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

/** Whether a link of a page points to an existing file and, if it names one, an existing heading. */
function leads(target: URL, path: string | undefined, page: string, heading: string | undefined): boolean {
  if (path && !existsSync(target)) return false;
  if (heading === undefined) return true;
  const linked = path ? readFileSync(target, "utf8") : text(page);
  const headings = [...linked.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
  return headings.includes(heading);
}

describe("the docs", () => {
  it.each([
    ["docs/guide.md", 5],
    ["docs/moving.md", 3],
    ["docs/testing.md", 4],
  ])("show code of %s exactly as in the examples, which are compiled and run", (page, least) => {
    const blocks = [...text(page).matchAll(/```ts ?(\S*)\n([\s\S]*?)```/g)];
    expect(blocks.length).toBeGreaterThan(least);
    const strayed = blocks.filter(([, file, code]) => !file || !text(file).includes(code!));
    expect(strayed.map(([block]) => block)).toEqual([]);
  });

  it("link to existing files and headings", () => {
    const pages = [
      "README.md",
      "examples/README.md",
      ...readdirSync(new URL("../docs", import.meta.url)).map((name) => `docs/${name}`),
    ];
    const dead = pages
      .filter((page) => page.endsWith(".md"))
      .flatMap((page) =>
        [...text(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)]
          .filter(
            ([, path, heading]) =>
              !leads(new URL(path || ".", new URL(`../${page}`, import.meta.url)), path, page, heading),
          )
          .map(([link]) => `${page}: ${link}`),
      );
    expect(dead).toEqual([]);
  });

  it("name existing files and functions in the map of the app SDK", () => {
    const rows = [...text("docs/app-sdk.md").matchAll(/^\|[^|]+\| `([\w/-]+\.ts)`\s*\| `(#?\w+)`/gm)];
    expect(rows.length).toBeGreaterThan(38);
    const missing = rows.filter(([, file, name]) => {
      const declared = new RegExp(`(class|function|const) ${name}\\b|^  (static |async )*${name}[(<]`, "m");
      return !declared.test(text(`packages/setpoint/src/${file}`));
    });
    expect(missing.map(([, file, name]) => `${file} ${name}`)).toEqual([]);
  });

  it("map each box of the two diagrams of the app SDK", () => {
    const [, coldStart, hotPath] = text("docs/app-sdk.md").split(/^## (?:Cold start|Hot path|Metrics of each stage)$/m);
    const boxes = (table?: string): readonly string[] =>
      [...(table ?? "").matchAll(/^\| ((?:\d+[ab]?,? )+)/gm)].flatMap(([, ids]) => ids!.trim().split(/,? /));
    const numbered = (count: number) => Array.from({ length: count }, (_, at) => String(at + 1));
    expect(boxes(coldStart)).toEqual(numbered(19));
    const forked = ["4", "5", "7"];
    expect(boxes(hotPath)).toEqual(numbered(12).flatMap((id) => (forked.includes(id) ? [`${id}a`, `${id}b`] : [id])));
  });

  it("name an existing test for each defect of others", () => {
    const rows = [...text("docs/defects.md").matchAll(/^\|[^|]+\| `([\w/.-]+\.test\.ts)`\s*\| `([^|]+)`\s*\|$/gm)];
    expect(rows.length).toBe(text("docs/defects.md").match(/\.test\.ts`/g)?.length);
    const missing = rows.filter(([, file, title]) => !text(`packages/setpoint/src/${file}`).includes(`it("${title}"`));
    expect(missing.map(([, file, title]) => `${file}: ${title}`)).toEqual([]);
  });
});
