import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));

export interface Source {
  /** From the root of the repository: `packages/setpoint/src/queue/queue.ts`. */
  readonly path: string;
  readonly text: string;
}

export interface Package {
  readonly name: string;
  readonly folder: string;
  readonly manifest: Manifest;
  readonly sources: readonly Source[];
}

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, string | { readonly default: string }>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

/** The published packages, with their TypeScript files. */
export function packages(): readonly Package[] {
  const folders = ["packages", "operators"].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => `${group}/${name}`),
  );
  return folders
    .filter((folder) => existsSync(join(root, folder, "package.json")))
    .map((folder) => {
      const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;
      const sources = filesBelow(join(root, folder, "src"))
        .filter((path) => path.endsWith(".ts") || path.endsWith(".tsx"))
        .map((path) => ({ path: relative(root, path), text: readFileSync(path, "utf8") }));
      return { name: manifest.name, folder, manifest, sources };
    });
}

/** Whether a file is a test or test support, which may import and use clocks freely because users do not run it. */
export function isTestSupport(path: string): boolean {
  return /\.(test|suite|contract|testing|fixture)\.ts$|\/testing\/|\.soak\./.test(path);
}

/** Product code: includes `setpoint/testing`, unlike other test support. */
export function isProduct(path: string): boolean {
  return !isTestSupport(path) || /^packages\/setpoint\/src\/testing\/[\w-]+\.ts$/.test(path);
}

/** The code without its comments. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[^:"'`\\])\/\/[^\n]*/g, "$1");
}

/** The imports of a file, including types and dynamic imports. */
export function importsOf(text: string): readonly string[] {
  const found = withoutComments(text).matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|\bimport\s+)"([^"]+)"/g);
  return [...found].map((match) => match[1]!);
}
