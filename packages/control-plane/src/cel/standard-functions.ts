import { canonicalDuration, canonicalTime, durationNanos } from "../schema/go-time.js";
import { regex } from "../schema/regex.js";
import type { CelFunction } from "./functions.js";
import { int, uint } from "./operators.js";
import {
  Bytes,
  CelError,
  CelType,
  type CelValue,
  Duration,
  isList,
  isMap,
  Optional,
  Timestamp,
  typeName,
  Uint,
} from "./value.js";

export const standardFunctions: Readonly<Record<string, CelFunction>> = {
  size: ([value], budget) => {
    if (typeof value === "string") {
      budget.spendText(value.length);
      return BigInt([...value].length);
    }
    if (isList(value!)) return BigInt(value.length);
    if (isMap(value!)) return BigInt(value.size);
    return value instanceof Bytes ? BigInt(value.value.length) : undefined;
  },
  type: ([value]) => new CelType(typeName(value!)),
  dyn: ([value]) => value,
  bool: ([value]) => {
    if (typeof value === "boolean") return value;
    if (typeof value !== "string") return undefined;
    if (["true", "True", "TRUE", "t", "1"].includes(value)) return true;
    if (["false", "False", "FALSE", "f", "0"].includes(value)) return false;
    throw new CelError("type conversion error from 'string' to 'bool'");
  },
  int: ([value]) => {
    if (typeof value === "bigint") return value;
    if (value instanceof Uint) return int(value.value);
    if (typeof value === "number") return int(truncated(value));
    if (value instanceof Timestamp) return value.nanos / 1_000_000_000n;
    return typeof value === "string" ? int(integerText(value, "int")) : undefined;
  },
  uint: ([value]) => {
    if (value instanceof Uint) return value;
    if (typeof value === "bigint") return uint(value);
    if (typeof value === "number") return uint(truncated(value));
    return typeof value === "string" ? uint(integerText(value, "uint")) : undefined;
  },
  double: ([value]) => {
    if (typeof value === "number") return value;
    if (typeof value === "bigint") return Number(value);
    if (value instanceof Uint) return Number(value.value);
    if (typeof value !== "string") return undefined;
    const number = Number(value);
    if (value.trim() === "" || Number.isNaN(number))
      throw new CelError("type conversion error from 'string' to 'double'");
    return number;
  },
  string: ([value]) => textOf(value!),
  bytes: ([value]) =>
    typeof value === "string" ? new Bytes(Buffer.from(value)) : value instanceof Bytes ? value : undefined,
  duration: ([value]) => {
    if (value instanceof Duration) return value;
    if (typeof value !== "string") return undefined;
    return failing(() => new Duration(durationNanos(value)));
  },
  timestamp: ([value]) => {
    if (value instanceof Timestamp) return value;
    if (typeof value === "bigint") return new Timestamp(value * 1_000_000_000n);
    return typeof value === "string" ? failing(() => timestampOf(value)) : undefined;
  },
  matches: ([value, pattern], budget) => {
    if (typeof value !== "string" || typeof pattern !== "string") return undefined;
    budget.spend(Math.ceil((value.length + 1) / 10) * Math.ceil(Math.max(pattern.length, 1) / 4));
    const compiled = regex(pattern);
    if ("error" in compiled) throw new CelError(compiled.error);
    return compiled.test(value);
  },
  getFullYear: dated((date) => date.getUTCFullYear()),
  getMonth: dated((date) => date.getUTCMonth()),
  getDate: dated((date) => date.getUTCDate()),
  getDayOfMonth: dated((date) => date.getUTCDate() - 1),
  getDayOfWeek: dated((date) => date.getUTCDay()),
  getHours: ([value, ...zone]) =>
    value instanceof Duration ? value.nanos / 3_600_000_000_000n : hours([value!, ...zone]),
  getMinutes: ([value, ...zone]) =>
    value instanceof Duration ? value.nanos / 60_000_000_000n : minutes([value!, ...zone]),
  getSeconds: ([value, ...zone]) =>
    value instanceof Duration ? value.nanos / 1_000_000_000n : seconds([value!, ...zone]),
  getMilliseconds: ([value, ...zone]) =>
    value instanceof Duration ? value.nanos / 1_000_000n : millis([value!, ...zone]),
  "optional.of": ([value]) => new Optional(value!),
  "optional.none": () => new Optional(undefined),
  "optional.ofNonZeroValue": ([value]) => new Optional(isZero(value!) ? undefined : value!),
  hasValue: ([value]) => (value instanceof Optional ? value.value !== undefined : undefined),
  value: ([value]) => {
    if (!(value instanceof Optional)) return undefined;
    if (value.value === undefined) throw new CelError("optional.none() dereference");
    return value.value;
  },
  orValue: ([value, other]) => (value instanceof Optional ? (value.value ?? other!) : undefined),
  or: ([value, other]) => {
    if (!(value instanceof Optional) || !(other instanceof Optional)) return undefined;
    return value.value === undefined ? other : value;
  },
};

const hours = dateParts((date) => date.getUTCHours());
const minutes = dateParts((date) => date.getUTCMinutes());
const seconds = dateParts((date) => date.getUTCSeconds());
const millis = dateParts((date) => date.getUTCMilliseconds());

function dated(part: (date: Date) => number): CelFunction {
  const read = dateParts(part);
  return (args) => read(args);
}

/** A part of a time in UTC, or shifted by an offset such as `+02:00`. */
function dateParts(part: (date: Date) => number): (args: readonly CelValue[]) => CelValue | undefined {
  return ([value, zone]) => {
    if (!(value instanceof Timestamp)) return undefined;
    let ms = Number(value.nanos / 1_000_000n);
    if (typeof zone === "string" && zone !== "UTC") {
      const match = /^([+-]?)(\d{2}):(\d{2})$/.exec(zone);
      if (match === null) throw new CelError(`unknown time zone ${zone}`);
      ms += (match[1] === "-" ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) * 60_000;
    }
    return BigInt(part(new Date(ms)));
  };
}

function truncated(value: number): bigint {
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 64) throw new CelError("integer overflow");
  return BigInt(Math.trunc(value));
}

function integerText(text: string, type: string): bigint {
  if (!/^[+-]?\d+$/.test(text)) throw new CelError(`type conversion error from 'string' to '${type}'`);
  return BigInt(text);
}

function textOf(value: CelValue): CelValue | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "bigint" || typeof value === "boolean" || typeof value === "number") return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Bytes) return new TextDecoder("utf-8", { fatal: true }).decode(value.value);
  if (value instanceof Timestamp)
    return new Date(Number(value.nanos / 1_000_000n)).toISOString().replace(/\.?0*Z$/, "Z");
  if (value instanceof Duration) return canonicalDuration(`${value.nanos}ns`);
  return undefined;
}

function timestampOf(text: string): Timestamp {
  const exact = canonicalTime(text, 6);
  const wholeMs = Date.parse(`${exact.slice(0, 19)}Z`);
  return new Timestamp(BigInt(wholeMs) * 1_000_000n + BigInt(exact.slice(20, 26)) * 1000n);
}

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === "" || value === 0 || value === 0n) return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Optional) return value.value === undefined;
  return (isList(value) && value.length === 0) || (isMap(value) && value.size === 0);
}

function failing<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new CelError(error instanceof Error ? error.message : String(error));
  }
}
