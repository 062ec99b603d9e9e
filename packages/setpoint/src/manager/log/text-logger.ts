import type { LogFields, Logger } from "../../loop/logger.js";
import { messageOf, shown } from "../../loop/outcome.js";
import type { JsonLoggerOptions, LogLevel } from "./json-logger.js";

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/**
 * One line for people: time of day, level, message, then the fields. Errors show code and message; errors without a
 * code, which are mostly bugs, also show their stack.
 */
export function textLogger(options: JsonLoggerOptions, bound: LogFields = {}): Logger {
  const { clock, level = "info", write = (line) => void process.stderr.write(`${line}\n`) } = options;
  const log = (at: LogLevel, message: string, fields: LogFields = {}): void => {
    if (RANK[at] < RANK[level]) return;
    const time = new Date(clock.now()).toISOString().slice(11, 19);
    const all = Object.entries({ ...bound, ...fields }).filter(([, value]) => value !== undefined);
    const texts = all.map(([name, value]) => `${name}=${fieldText(name, value, message)}`);
    const plain = texts.filter((text) => !text.endsWith("="));
    write([`${time} ${at.toUpperCase().padEnd(5)} ${printable(message)}`, ...plain].join("  "));
    for (const [, value] of all) if (value instanceof Error && !hasCode(value) && value.stack) write(value.stack);
  };
  return {
    debug: (message, fields) => log("debug", message, fields),
    info: (message, fields) => log("info", message, fields),
    warn: (message, fields) => log("warn", message, fields),
    error: (message, fields) => log("error", message, fields),
    with: (fields) => textLogger(options, { ...bound, ...fields }),
  };
}

/** Empty where the message says it already. */
function fieldText(name: string, value: unknown, message: string): string {
  if (value instanceof Error) {
    const said = message.includes(value.message) ? "" : `${messageOf(value)}`;
    return printable([hasCode(value) ? value.code : "", said].filter((text) => text !== "").join(": "));
  }
  if (name === "manager") return "";
  const text = typeof value === "string" ? value : shown(value);
  return printable(/\s/.test(text) ? JSON.stringify(text) : text);
}

function hasCode(error: Error): error is Error & { readonly code: string } {
  return typeof (error as { code?: unknown }).code === "string";
}

/** Others wrote some of it: no control character reaches the terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, " ");
}
