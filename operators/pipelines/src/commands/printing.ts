import type { Logger } from "setpoint";
import type { CommandContext } from "setpoint/command";
import { stringify } from "yaml";
import type { QueryResult } from "../engine/engine.js";
import type { Project } from "../project/project.js";
import { problemText } from "../runtime/resource-view.js";

/** Prints a value for scripts: one line of JSON, or a document of YAML. */
export function printValue({ stdout, values }: CommandContext, value: unknown): void {
  stdout(values.output === "yaml" ? `---\n${stringify(value).trimEnd()}` : JSON.stringify(value));
}

/** Whether a script reads the output. */
export function isForScript({ values }: CommandContext): boolean {
  return values.output !== undefined;
}

/** Rows under their headings. Control characters are shown as escapes, so that no value can move the cursor. */
export function table(headings: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cells = [headings, ...rows].map((row) => row.map(cellText));
  const widths = headings.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function cellText(value: unknown): string {
  const text =
    value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : `${value}`;
  return text.replaceAll(/\p{Cc}/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

export function printRows(context: CommandContext, { columns, rows, isCut }: QueryResult): void {
  if (isForScript(context)) {
    printValue(context, rows);
    return;
  }
  const names = columns.map(({ name }) => name);
  context.stdout(
    table(
      names,
      rows.map((row) => names.map((name) => row[name])),
    ),
  );
  if (isCut) context.stderr(`(${rows.length} rows of more: see --limit)`);
}

/** Prints the problems of the files, one line each. Returns the number of errors. */
export function printProblems({ stderr }: CommandContext, { problems }: Project): number {
  for (const problem of problems) stderr(`${problem.severity}: ${problemText(problem)}`);
  return problems.filter(({ severity }) => severity === "error").length;
}

/** A logger that prints warnings and errors to standard error. */
export function commandLog({ stderr }: CommandContext): Logger {
  const log: Logger = {
    debug: () => {},
    info: () => {},
    warn: (message) => stderr(`warning: ${message}`),
    error: (message) => stderr(`error: ${message}`),
    with: () => log,
  };
  return log;
}

/** `1.2 s`, `350 ms`, `3 min` */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}
