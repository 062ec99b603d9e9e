import type { Clock } from "../../clock/clock.js";
import type { LogFields, Logger } from "../../loop/logger.js";

export type LogLevel = "debug" | "info" | "warn" | "error";

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export interface JsonLoggerOptions {
  readonly clock: Clock;
  /** Defaults to `info`. */
  readonly level?: LogLevel;
  /** Receives one line, without its line break. Defaults to standard error. */
  readonly write?: (line: string) => void;
}

/**
 * One JSON object per line: time, level, message, then the fields. Fields that would overwrite those, or the bound
 * fields, go under `fields`. Errors have code, message and causes; errors without a code, which are mostly bugs, also
 * have their stack.
 */
export function jsonLogger(options: JsonLoggerOptions, bound: LogFields = {}): Logger {
  const { clock, level = "info", write = (line) => void process.stderr.write(`${line}\n`) } = options;
  const log = (at: LogLevel, message: string, fields: LogFields = {}): void => {
    if (RANK[at] < RANK[level]) return;
    const time = new Date(clock.now()).toISOString();
    write(lineOf({ time, level: at, message }, beside(bound, fields)));
  };
  return {
    debug: (message, fields) => log("debug", message, fields),
    info: (message, fields) => log("info", message, fields),
    warn: (message, fields) => log("warn", message, fields),
    error: (message, fields) => log("error", message, fields),
    with: (fields) => jsonLogger(options, beside(bound, fields)),
  };
}

/** All fields; those whose name is taken go under `fields`. */
function beside(known: LogFields, more: LogFields): LogFields {
  const isTaken = ([key, value]: [string, unknown]): boolean => Object.hasOwn(known, key) && known[key] !== value;
  const given = Object.entries(more);
  const apart = Object.fromEntries(given.filter(isTaken));
  if (Object.keys(apart).length === 0) return { ...known, ...more };
  const free = Object.fromEntries(given.filter((entry) => !isTaken(entry)));
  return { ...known, ...free, fields: { ...(known.fields ?? free.fields ?? {}), ...apart } };
}

/** A value that JSON cannot express, such as a circular object, must not make logging fail. */
function lineOf(head: LogFields, fields: LogFields): string {
  try {
    return JSON.stringify(beside(head, fields), shown);
  } catch (error) {
    return JSON.stringify({ ...head, unreadable: Object.keys(fields), error }, shown);
  }
}

function shown(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (!(value instanceof Error)) return value;
  const { code } = value as Error & { code?: unknown };
  return {
    ...(typeof code === "string" ? { code } : {}),
    message: value.message,
    ...(typeof code === "string" || value.stack === undefined ? {} : { stack: value.stack }),
    ...(value.cause === undefined ? {} : { cause: value.cause }),
  };
}
