import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./sources.js";

interface Lockfile {
  readonly packages: Readonly<
    Record<string, { resolved?: string; link?: boolean; integrity?: string; hasInstallScript?: boolean; dev?: boolean }>
  >;
}

const lockfile = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lockfile;
const locked = Object.entries(lockfile.packages);

it("the lockfile names no registry host", () => {
  expect(locked.filter(([, entry]) => entry.resolved && !entry.link).map(([path]) => path)).toEqual([]);
});

it("the lockfile pins what it locks by its content", () => {
  const loose = locked.filter(([path, entry]) => path.includes("node_modules/") && !entry.link && !entry.integrity);
  expect(loose.map(([path]) => path)).toEqual([]);
});

it("nothing that users install has an install script", () => {
  expect(locked.filter(([, entry]) => entry.hasInstallScript && !entry.dev).map(([path]) => path)).toEqual([]);
});
