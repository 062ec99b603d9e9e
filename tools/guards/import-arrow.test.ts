import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { importsOf, isTestSupport, type Package, packages } from "./sources.js";

/** docs/architecture.md, section 4: what each folder of `setpoint` stands on, besides itself. */
const BASE = ["clock", "errors"];
const READING = [...BASE, "loop", "kinds", "client", "informer"];
const LOOPS = [...BASE, "loop", "queue"];
const CONTROLLER = [...READING, ...LOOPS, "graph", "controller"];
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  clock: ["errors"],
  loop: BASE,
  queue: [...BASE, "loop"],
  kinds: BASE,
  client: [...BASE, "loop", "kinds"],
  informer: [...BASE, "loop", "kinds", "client"],
  graph: LOOPS,
  controller: [...READING, ...LOOPS, "graph"],
  app: CONTROLLER,
  manager: [...CONTROLLER, "app"],
  command: [...CONTROLLER, "app", "manager"],
  testing: [...CONTROLLER, "app", "manager"],
};

/** What each package may use of the others, by name. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  setpoint: [],
  "@setpoint/sqlite": ["setpoint"],
  "@setpoint/control-plane": ["setpoint", "@setpoint/sqlite"],
  "@setpoint/dashboard": ["setpoint"],
  "@setpoint/cli": ["setpoint", "@setpoint/sqlite", "@setpoint/control-plane", "@setpoint/dashboard", "operators/*"],
  "operators/*": ["setpoint", "@setpoint/sqlite"],
};

/** The bin of `setpoint` is a shim that loads the command line at run time, where that is installed. */
const SHIM = "packages/setpoint/src/bin.ts";

const all = packages();
const sourcesOf = ({ sources }: Package) => sources.filter(({ path }) => !isTestSupport(path));
const packageOf = (specifier: string) => all.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
const ruleOf = ({ name, folder }: Package) => (folder.startsWith("operators/") ? "operators/*" : name);

describe("the arrow of imports", () => {
  it("holds between the folders of setpoint", () => {
    const against: string[] = [];
    const setpoint = all.find(({ name }) => name === "setpoint")!;
    for (const { path, text } of sourcesOf(setpoint)) {
      const [folder, ...rest] = relative(`${setpoint.folder}/src`, path).split("/") as [string, ...string[]];
      if (rest.length === 0) continue;
      const allowed = FOLDERS[folder];
      if (!allowed) {
        against.push(`${path}: the folder ${folder} has no place in the arrow`);
        continue;
      }
      for (const specifier of importsOf(text).filter((name) => name.startsWith("."))) {
        const target = relative(`${setpoint.folder}/src`, join(dirname(path), specifier)).split("/")[0]!;
        if (target !== folder && !allowed.includes(target)) against.push(`${path} imports ${specifier}`);
      }
    }
    expect(against).toEqual([]);
  });

  it("holds between packages, which use each other by name and as far as they export", () => {
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

  it("never leads from what users run to what only tests use", () => {
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

  it("leads only to dependencies that the package declares", () => {
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
