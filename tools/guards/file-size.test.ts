import { dirname } from "node:path";
import { expect, it } from "vitest";
import { isTestSupport, packages } from "./sources.js";

const LONGEST = 500;
const MOST_FILES = 25;

/** Generated files may have any length. */
const isGenerated = (text: string): boolean => /^\/\/ Generated /.test(text);

it("source files are short: none has over 500 lines without a reason on top", () => {
  const files = packages()
    .flatMap(({ sources }) => sources)
    .filter(({ text }) => !isGenerated(text))
    .map(({ path, text }) => ({ path, text, lines: text.split("\n").length - 1 }))
    .sort((a, b) => b.lines - a.lines);
  const isTest = ({ path }: { path: string }) => /\.test\.ts$/.test(path);
  const code = files.filter((file) => !isTest(file));
  const report = (title: string, some: readonly { path: string; lines: number }[]) =>
    console.info([title, ...some.map(({ path, lines }) => `  ${lines} ${path}`)].join("\n"));
  report(`${code.length} files of code, median ${code[code.length >> 1]?.lines} lines; the longest:`, code.slice(0, 5));
  report(
    `tests over ${LONGEST} lines:`,
    files.filter((file) => isTest(file) && file.lines > LONGEST),
  );
  const over = code.filter(({ text, lines }) => lines > LONGEST && !/^\/[/*]+.*\blong\b/i.test(text));
  expect(over.map(({ path, lines }) => `${path}: ${lines} lines`)).toEqual([]);
});

it("folders have subfolders: none has more than 25 source files", () => {
  const files = packages().flatMap(({ sources }) =>
    sources.map(({ path }) => path).filter((path) => !isTestSupport(path)),
  );
  const counts = new Map<string, number>();
  for (const folder of files.map((path) => dirname(path))) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  const crowded = [...counts].filter(([, count]) => count > MOST_FILES);
  expect(crowded.map(([folder, count]) => `${folder}: ${count} files`)).toEqual([]);
});
