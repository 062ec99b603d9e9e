import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { layersOf, layerTable } from "./layers.js";
import { importsOf, isTestSupport, type Package, packages, root } from "./sources.js";

/** The packages that each package may import, by name. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  setpoint: [],
  "@setpoint/sqlite": ["setpoint"],
  "@setpoint/control-plane": ["setpoint", "@setpoint/sqlite"],
  "@setpoint/cli": ["setpoint", "@setpoint/sqlite", "@setpoint/control-plane", "operators/*"],
  "operators/*": ["setpoint", "@setpoint/sqlite"],
};

/** The bin of `setpoint` is a shim that loads the command line at run time if that is installed. */
const SHIM = "packages/setpoint/src/bin.ts";

const all = packages();
const sourcesOf = ({ sources }: Package) => sources.filter(({ path }) => !isTestSupport(path));
const packageOf = (specifier: string) => all.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
const ruleOf = ({ name, folder }: Package) => (folder.startsWith("operators/") ? "operators/*" : name);

/** The imports of files in folders, each with its source and target folder. */
function folderImports(one: Package) {
  const base = `${one.folder}/src`;
  return sourcesOf(one).flatMap(({ path, text }) => {
    const [folder, ...rest] = relative(base, path).split("/") as [string, ...string[]];
    if (rest.length === 0) return [];
    return importsOf(text)
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => ({
        path,
        folder,
        specifier,
        target: relative(base, join(dirname(path), specifier)).split("/")[0]!,
      }));
  });
}

describe("the import arrow", () => {
  it.each(Object.entries(layersOf))("holds between the folders of %s", (name, layers) => {
    const one = all.find((candidate) => candidate.name === name)!;
    const against = folderImports(one).flatMap(({ path, folder, specifier, target }) => {
      const allowed = layers[folder];
      if (!allowed) return [`${path}: the folder ${folder} has no place in the arrow`];
      return target === folder || allowed.includes(target) ? [] : [`${path} imports ${specifier}`];
    });
    expect(against).toEqual([]);
  });

  it("is a table without cycles", () => {
    for (const layers of Object.values(layersOf)) {
      const folders = Object.keys(layers);
      const upward = Object.entries(layers).flatMap(([folder, below]) =>
        below.filter((one) => folders.indexOf(one) >= folders.indexOf(folder)).map((one) => `${folder} → ${one}`),
      );
      expect(upward).toEqual([]);
    }
  });

  it("matches docs/architecture.md", () => {
    const page = readFileSync(join(root, "docs/architecture.md"), "utf8").replace(/ +/g, " ").replace(/-{3,}/g, "---");
    for (const layers of Object.values(layersOf)) expect(page).toContain(layerTable(layers));
  });

  it("holds between packages, which import each other by name and exported entry points", () => {
    const against: string[] = [];
    for (const one of all) {
      for (const { path, text } of sourcesOf(one)) {
        for (const specifier of importsOf(text)) {
          if (specifier.startsWith(".")) {
            const target = join(dirname(path), specifier);
            if (!target.startsWith(`${one.folder}/src/`))
              against.push(`${path} reaches out of its package: ${specifier}`);
            continue;
          }
          const other = packageOf(specifier);
          if (!other || other === one || (path === SHIM && other.name === "@setpoint/cli")) continue;
          if (!PACKAGES[ruleOf(one)]?.includes(ruleOf(other))) against.push(`${path} imports ${specifier}`);
        }
      }
    }
    expect(against).toEqual([]);
  });

  it("never leads from product code to test code", () => {
    const against = all.flatMap((one) =>
      sourcesOf(one).flatMap(({ path, text }) =>
        importsOf(text)
          .filter((specifier) => specifier.startsWith("."))
          .map((specifier) => join(dirname(path), specifier).replace(/\.js$/, ".ts"))
          .filter((target) => isTestSupport(target))
          .map((target) => `${path} imports ${target}`),
      ),
    );
    expect(against).toEqual([]);
  });

  it("leads only to declared dependencies", () => {
    const undeclared = all.flatMap(({ manifest, ...one }) => {
      const declared = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies };
      const own = new Set([manifest.name, ...Object.keys(declared)]);
      return sourcesOf({ manifest, ...one }).flatMap(({ path, text }) =>
        importsOf(text)
          .filter((specifier) => !/^(\.|node:)/.test(specifier))
          .filter(
            (specifier) =>
              !own.has(
                specifier
                  .split("/")
                  .slice(0, specifier.startsWith("@") ? 2 : 1)
                  .join("/"),
              ),
          )
          .map((specifier) => `${path} imports ${specifier}`),
      );
    });
    expect(undeclared).toEqual([]);
  });
});
