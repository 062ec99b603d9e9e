import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./sources.js";

interface Lockfile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly resolved?: string;
        readonly link?: boolean;
        readonly integrity?: string;
        readonly hasInstallScript?: boolean;
        readonly dev?: boolean;
        readonly optionalDependencies?: Readonly<Record<string, string>>;
      }
    >
  >;
}

const lockfile = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lockfile;
const locked = Object.entries(lockfile.packages);

it("the lockfile names no registry host", () => {
  expect(locked.filter(([, entry]) => entry.resolved && !entry.link).map(([path]) => path)).toEqual([]);
});

it("the lockfile pins its content by hash", () => {
  const loose = locked.filter(([path, entry]) => path.includes("node_modules/") && !entry.link && !entry.integrity);
  expect(loose.map(([path]) => path)).toEqual([]);
});

it("no dependency of users has an install script", () => {
  expect(locked.filter(([, entry]) => entry.hasInstallScript && !entry.dev).map(([path]) => path)).toEqual([]);
});

it("the lockfile contains the binaries of every platform", () => {
  const missing = locked.flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !lockfile.packages[`node_modules/${name}`] && !lockfile.packages[`${path}/node_modules/${name}`],
    ),
  );
  expect(missing).toEqual([]);
});
