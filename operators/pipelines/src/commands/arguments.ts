import { statSync } from "node:fs";
import { type CommandContext, UsageError } from "setpoint/command";
import type { PipelinesOptions } from "../runtime/open-pipelines.js";
import { commandLog } from "./printing.js";

/** Parses `[DIR] NAME...`. The folder is the current one by default. */
export function folderAndNames({ positionals }: CommandContext): {
  readonly folder: string;
  readonly names: readonly string[];
} {
  const at = [0, positionals.length - 1].find((index) => isFolder(positionals[index]));
  if (at === undefined) return { folder: ".", names: positionals };
  return { folder: positionals[at]!, names: positionals.filter((_, index) => index !== at) };
}

/** Parses `[DIR]`. */
export function folderOf({ positionals }: CommandContext): string {
  if (positionals.length > 1) throw new UsageError(`expected one folder, not ${positionals.join(" ")}`);
  return positionals[0] ?? ".";
}

function isFolder(path: string | undefined): boolean {
  return path !== undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The options that say how to read files and build tables. */
export function pipelinesOptions(context: CommandContext): PipelinesOptions {
  const { values, signal } = context;
  const schema = values.env as string | undefined;
  if (schema !== undefined && !/^[A-Za-z_]\w*$/.test(schema)) {
    throw new UsageError(`--env ${schema}: expected letters, digits and underscores`);
  }
  if (schema?.toLowerCase() === "main")
    throw new UsageError("--env main: main is the schema that a run without --env builds");
  const limit = values["memory-limit"] as string | undefined;
  return {
    environment: values.environment as string,
    variables: Object.fromEntries(((values.var ?? []) as readonly string[]).map(variable)),
    ...(schema === undefined ? {} : { schema }),
    ...(limit === undefined ? {} : { memoryLimit: limit }),
    signal,
    log: commandLog(context),
  };
}

function variable(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--var ${text}: expected NAME=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** The whole number in an option. */
export function numberOf({ values }: CommandContext, option: string): number | undefined {
  const value = values[option];
  if (value === undefined) return undefined;
  if (typeof value === "string" && /^\d+$/.test(value)) return Number(value);
  throw new UsageError(`--${option} ${String(value)}: expected a whole number`);
}

/** The JSON in an option. */
export function jsonOf({ values }: CommandContext, option: string): unknown {
  const value = values[option];
  if (value === undefined) return undefined;
  try {
    return JSON.parse(String(value));
  } catch (cause) {
    throw new UsageError(`--${option}: ${(cause as Error).message}`, { cause });
  }
}
