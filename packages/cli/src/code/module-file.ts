import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { App, Loop, Resource } from "setpoint";
import { UsageError } from "setpoint/command";

/** Advice for modules whose functions make their controllers. */
export const EXPORT_WHAT_IS_MADE =
  "export what it declares. The command calls no functions: export their results, made with stand-ins for what they need";

/** The declarations that a user's module exports. */
export interface Declarations {
  readonly resources: readonly Resource[];
  /** Controllers, watchers and apps. */
  readonly loops: readonly (Loop | App)[];
}

/**
 * Imports a module and finds the kinds, loops and apps that it exports, also within lists, and their kinds.
 * TypeScript is read by Node itself where it can (22.18 and later), else by a bundler that is installed beside the file.
 * The module runs: it must not start anything when it is imported.
 */
export async function loadDeclarations(path: string): Promise<Declarations> {
  const file = resolve(path);
  if (!existsSync(file)) throw new UsageError(`${path}: no such file`);
  return declarationsOf(await importModule(file), path);
}

/** The declarations among a module's exports. Throws a `UsageError` if there are none. */
export function declarationsOf(exported: Readonly<Record<string, unknown>>, path: string): Declarations {
  const values = Object.values(exported).flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]));
  const apps = [...new Set(values.filter(isApp))];
  const loops = [...new Set([...values.filter(isLoop), ...apps.flatMap((app) => app.loops)])];
  const kinds = loops.flatMap((loop) =>
    loop.type === "controller" ? [loop.kind, ...loop.owns.map(({ kind }) => kind)] : [loop.kind],
  );
  const resources = [...new Set([...values, ...kinds, ...apps.flatMap((app) => app.kinds)].filter(isResource))];
  if (loops.length === 0 && apps.length === 0 && resources.length === 0) {
    throw new UsageError(`${path} exports no resource(…), controller(…), watcher(…) or app(…): ${EXPORT_WHAT_IS_MADE}`);
  }
  return { resources, loops: [...apps, ...loops] };
}

function isLoop(value: unknown): value is Loop {
  const { type, kind, name } = (value ?? {}) as Partial<Loop>;
  return (type === "controller" || type === "watcher") && typeof kind === "object" && typeof name === "string";
}

function isApp(value: unknown): value is App {
  const { type, kinds, loops } = (value ?? {}) as Partial<App>;
  return type === "app" && Array.isArray(kinds) && Array.isArray(loops);
}

function isResource(value: unknown): value is Resource {
  const { crd, declaration } = (value ?? {}) as Partial<Resource>;
  return typeof crd === "function" && typeof declaration === "object";
}

async function importModule(file: string): Promise<Record<string, unknown>> {
  const isTypeScript = /\.[cm]?ts$/.test(file);
  if (!isTypeScript || readsTypeScript()) return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  // Next to the original, so that its imports resolve.
  const translated = join(dirname(file), `.${basename(file)}.${process.pid}.mjs`);
  try {
    writeFileSync(translated, await translate(file));
    return (await import(pathToFileURL(translated).href)) as Record<string, unknown>;
  } finally {
    rmSync(translated, { force: true });
  }
}

function readsTypeScript(): boolean {
  return Boolean((process as { features?: { typescript?: unknown } }).features?.typescript);
}

interface Rolldown {
  build(options: object): Promise<{ readonly output: readonly [{ readonly code: string }] }>;
}

interface Esbuild {
  build(options: object): Promise<{ readonly outputFiles: readonly [{ readonly text: string }] }>;
}

/** Bundles one file of JavaScript: packages stay imports, other files of the project are included. */
async function translate(file: string): Promise<string> {
  const strip = (nodeModule as { stripTypeScriptTypes?: (code: string) => string }).stripTypeScriptTypes;
  const rolldown = await installed<Rolldown>("rolldown", file);
  if (rolldown) {
    const isPackage = (id: string): boolean => !/^[./]/.test(id);
    const resolveTs = { extensionAlias: { ".js": [".ts", ".js"] } };
    const options = { input: file, external: isPackage, platform: "node", resolve: resolveTs, write: false };
    return (await rolldown.build({ ...options, logLevel: "warn", output: { format: "esm" } })).output[0].code;
  }
  const esbuild = await installed<Esbuild>("esbuild", file);
  if (esbuild) {
    const options = { entryPoints: [file], bundle: true, packages: "external", platform: "node", format: "esm" };
    return (await esbuild.build({ ...options, write: false, logLevel: "silent" })).outputFiles[0].text;
  }
  if (strip) return strip(readFileSync(file, "utf8"));
  throw new UsageError(
    `${file}: Node ${process.versions.node} cannot load TypeScript. Use Node 22.18 or later, or: npm install --save-dev rolldown`,
  );
}

/** A package resolved from the user's file, otherwise from this one; undefined if it is not installed. */
async function installed<T>(name: string, file: string): Promise<T | undefined> {
  for (const from of [pathToFileURL(file).href, import.meta.url]) {
    try {
      const path = nodeModule.createRequire(from).resolve(name);
      return (await import(pathToFileURL(path).href)) as T;
    } catch (error) {
      if (
        !["MODULE_NOT_FOUND", "ERR_PACKAGE_PATH_NOT_EXPORTED"].includes(String((error as NodeJS.ErrnoException).code))
      )
        throw error;
    }
  }
  return undefined;
}
