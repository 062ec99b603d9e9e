import { expect, it } from "vitest";
import { packages } from "./sources.js";

const LONGEST = 500;

/** Generated files are as long as their subject. */
const isGenerated = (text: string): boolean => /^\/\/ Generated /.test(text);

it("files of code are short: none over 500 lines without a reason on top", () => {
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
