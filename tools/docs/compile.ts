import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../guards/sources.js";
import { type Block, DECLARATION, modulesOf, type Page } from "./block.js";
import { importsLeftOut } from "./known-names.js";

/** A compiler error on a line of a page. */
export interface Finding {
  /** `docs/kinds.md`. */
  readonly page: string;
  /** `docs/kinds.md:12: TS2304: Cannot find name 'resuorce'.` */
  readonly text: string;
}

/** `'x' is declared but never used`, and similar errors. */
const UNUSED = /^TS6(133|192|196|198|199):/;

/**
 * Compiles the TypeScript of all pages as one program, with the settings of the examples, against the built packages.
 * Each line keeps its number: a module is its page with everything else blanked.
 */
export async function compile(pages: readonly Page[]): Promise<readonly Finding[]> {
  const modules = pages.flatMap((page) => modulesOf(page).map((blocks) => ({ page: page.path, blocks })));
  mkdirSync(join(root, "examples/dist"), { recursive: true });
  // Within the workspace, so that the modules resolve the packages.
  const folder = mkdtempSync(join(root, "examples/dist/docs-"));
  try {
    const texts = modules.map(({ blocks }) => moduleOf(blocks));
    for (const [at, lines] of texts.entries()) writeFileSync(join(folder, `${at}.mts`), lines.join("\n"));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(configuration(folder, texts.length)));
    return findingsIn(await tsc(folder), (file) => {
      const at = Number(/^(\d+)\.mts$/.exec(file)?.[1] ?? Number.NaN);
      const page = modules[at]?.page ?? relative(root, join(folder, file));
      return { page, lines: texts[at] ?? [] };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function moduleOf(blocks: readonly Block[]): readonly string[] {
  const lines = [importsLeftOut(blocks)];
  for (const block of blocks) {
    while (lines.length < block.line - 1) lines.push("");
    lines.push(...block.lines);
  }
  return lines;
}

function configuration(folder: string, modules: number): unknown {
  return {
    extends: relative(folder, join(root, "tsconfig.base.json")),
    compilerOptions: { composite: false, declaration: false, emitDeclarationOnly: false, noEmit: true },
    files: [
      relative(folder, join(root, "tools/docs/stand-ins.ts")),
      ...Array.from({ length: modules }, (_, at) => `${at}.mts`),
    ],
  };
}

function tsc(folder: string): Promise<string> {
  const args = [join(root, "node_modules/typescript/bin/tsc"), "-p", ".", "--pretty", "false"];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      // The compiler exits with 1 or 2 if there are errors.
      if (error && (typeof error.code !== "number" || error.code > 2)) reject(new Error(stderr, { cause: error }));
      else resolve(stdout);
    });
  });
}

interface Module {
  readonly page: string;
  readonly lines: readonly string[];
}

function findingsIn(output: string, moduleAt: (file: string) => Module): readonly Finding[] {
  return output
    .split(/\n(?! )/)
    .filter((text) => text !== "")
    .flatMap((text) => {
      const [, file, line, message] = /^(.+?)\((\d+),\d+\): error (.*)$/s.exec(text) ?? [];
      if (!file || !message) throw new Error(`the compiler did not run: ${text}`);
      const { page, lines } = moduleAt(file);
      const code = lines[Number(line) - 1] ?? "";
      // Blocks may declare names that they do not use; line 1 holds the imports that blocks leave out.
      const isFree = UNUSED.test(message) && (Number(line) === 1 || DECLARATION.test(code));
      return isFree ? [] : [{ page, text: `${page}:${line}: ${message}` }];
    });
}
