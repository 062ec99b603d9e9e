import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Package, packages, root, withoutComments } from "./sources.js";

/** The names that a module exports; types are marked, because they do not exist at run time. */
function exportsOf(path: string, onlyTypes = false): readonly string[] {
  const code = withoutComments(readFileSync(join(root, path), "utf8"));
  const names: string[] = [];
  for (const [, type, list] of code.matchAll(/\bexport (type )?\{([^}]*)\}/g)) {
    for (const item of list!
      .split(",")
      .map((part) => part.trim())
      .filter(Boolean)) {
      const isType = onlyTypes || type !== undefined || item.startsWith("type ");
      const name = item
        .replace(/^type /, "")
        .split(" as ")
        .at(-1)!;
      names.push(isType ? `type ${name}` : name);
    }
  }
  for (const [, type, alias, from] of code.matchAll(/\bexport (type )?\*(?: as (\w+))? from "([^"]+)"/g)) {
    if (alias) names.push(alias);
    else names.push(...exportsOf(join(dirname(path), from!.replace(/\.js$/, ".ts")), onlyTypes || type !== undefined));
  }
  const declared = /\bexport (?:declare )?(?:abstract )?(?:async )?(const|let|function\*?|class|interface|type) (\w+)/g;
  for (const [, keyword, name] of code.matchAll(declared)) {
    const isType = onlyTypes || keyword === "interface" || keyword === "type";
    names.push(isType ? `type ${name}` : name!);
  }
  return [...new Set(names)].sort((a, b) => (a.replace("type ", "") < b.replace("type ", "") ? -1 : 1));
}

/** The entry points of a package, as users import them, with their sources. */
function entriesOf({ name, folder, manifest }: Package): readonly [string, string][] {
  return Object.entries(manifest.exports ?? {}).flatMap(([entry, target]): [string, string][] => {
    if (typeof target === "string" || entry.includes("*")) return [];
    const source = `${folder}/${target.default.replace("./dist/", "src/").replace(/\.js$/, ".ts")}`;
    return existsSync(join(root, source)) ? [[entry.replace(/^\./, name), source]] : [];
  });
}

describe("the public surface", () => {
  it.each(packages().map((one) => [one.name, one] as const))("of %s matches its list", async (name, one) => {
    const sections = entriesOf(one).map(([entry, source]) => [
      `${entry}:`,
      ...exportsOf(source).map((item) => `  ${item}`),
    ]);
    const list = fileURLToPath(new URL(`surface/${name.replace("@", "").replace("/", "-")}.txt`, import.meta.url));
    await expect(`${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`).toMatchFileSnapshot(list);
  });

  it("has no default exports", () => {
    const found = packages().flatMap(({ sources }) => sources.filter(({ text }) => /^export default /m.test(text)));
    expect(found.map(({ path }) => path)).toEqual([]);
  });
});
