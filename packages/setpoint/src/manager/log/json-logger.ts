import type { Clock } from "../../clock/clock.js";
import type { LogFields, Logger } from "../../loop/logger.js";

export type LogLevel = "debug" | "info" | "warn" | "error";

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export interface JsonLoggerOptions {
  readonly clock: Clock;
  /** Defaults to `info`. */
  readonly level?: LogLevel;
  /** Takes one line, without its end. Defaults to standard error. */
  readonly write?: (line: string) => void;
}

/**
 * One JSON object a line: time, level, message, then the fields; one that would take the place of those, or of what the log is
 * bound to, stands under `fields`. Errors are shown by code, message and causes; those
 * without a code, which are mistakes in code more often than not, by their stack as well.
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

/** All of these fields: those whose name means something else already stand apart. */
function beside(known: LogFields, more: LogFields): LogFields {
  const isTaken = ([key, value]: [string, unknown]): boolean => Object.hasOwn(known, key) && known[key] !== value;
  const given = Object.entries(more);
  const apart = Object.fromEntries(given.filter(isTaken));
  if (Object.keys(apart).length === 0) return { ...known, ...more };
  const free = Object.fromEntries(given.filter((entry) => !isTaken(entry)));
  return { ...known, ...free, fields: { ...(known.fields ?? free.fields ?? {}), ...apart } };
}

/** What cannot be written as JSON, as an object that contains itself, must not fail those who log it. */
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
