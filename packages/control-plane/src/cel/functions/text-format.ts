import { goQuote } from "../../api/go-format.js";
import type { Type } from "../types/type.js";
import { ListValue, MapValue } from "../values/collection.js";
import { formatDouble } from "../values/number.js";
import { formatTimestamp } from "../values/time.js";
import { Bytes, type CelValue, Duration, Failure, Timestamp, TypeValue, Uint } from "../values/value.js";
import { typeName } from "../values/value-type.js";
import { formatSeconds } from "./conversions.js";

const DEFAULT_PRECISION = 6;

/** The clauses of `format`: accepted types, and the message for others. */
const CLAUSES: Readonly<Record<string, Clause>> = {
  s: {
    format: textOf,
    kinds: ["list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null"],
    complaint:
      "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
  },
  d: {
    format: (value) => integer(value)?.toString(),
    kinds: ["int", "uint"],
    complaint: "decimal clause can only be used on integers",
  },
  f: {
    format: (value, precision) => ofDouble(value, (number) => fixed(number, precision)),
    kinds: ["double"],
    complaint: "fixed-point clause can only be used on doubles",
  },
  e: {
    format: (value) => ofDouble(value, scientific),
    kinds: ["double"],
    complaint: "scientific clause can only be used on doubles",
  },
  b: {
    format: (value) => (typeof value === "boolean" ? String(Number(value)) : integer(value)?.toString(2)),
    kinds: ["bool", "int", "uint"],
    complaint: "only integers and bools can be formatted as binary",
  },
  x: {
    format: hexadecimal,
    kinds: ["int", "uint", "string", "bytes"],
    complaint: "only integers, byte buffers, and strings can be formatted as hex",
  },
  X: {
    format: (value) => hexadecimal(value)?.toUpperCase(),
    kinds: ["int", "uint", "string", "bytes"],
    complaint: "only integers, byte buffers, and strings can be formatted as hex",
  },
  o: {
    format: (value) => integer(value)?.toString(8),
    kinds: ["int", "uint"],
    complaint: "octal clause can only be used on integers",
  },
};

interface Clause {
  readonly format: Format;
  readonly kinds: readonly Type["kind"][];
  readonly complaint: string;
}

/** Undefined for a value of another type. */
type Format = (value: CelValue, precision: number) => string | undefined;

/** A `%` clause in a format string. */
interface Place {
  readonly letter: string;
  readonly precision: number;
  readonly end: number;
}

/** Fills in the clauses of a format string. */
export function formatText(text: string, args: ListValue): CelValue {
  return walkFormat(text, args.length, (clause, index) => formatClause(clause, args.items[index]!));
}

/**
 * Walks over a format string and replaces each clause by the result of `fill`. Returns a failure if the string is
 * invalid or if `fill` returns one.
 */
export function walkFormat(
  text: string,
  argumentCount: number,
  fill: (clause: { readonly letter: string; readonly precision: number }, index: number) => string | Failure,
): string | Failure {
  let result = "";
  let used = 0;
  for (let at = 0; at < text.length; ) {
    if (text[at] !== "%") {
      result += text[at++];
    } else if (text[at + 1] === "%") {
      result += "%";
      at += 2;
    } else {
      if (used >= argumentCount) return new Failure(`index ${used} out of range`);
      if (at + 1 >= text.length) return new Failure("unexpected end of string");
      const clause = clauseAt(text, at + 1);
      if (clause instanceof Failure) return clause;
      const filled = fill(clause, used++);
      if (filled instanceof Failure) return filled;
      result += filled;
      at = clause.end;
    }
  }
  return result;
}

function clauseAt(text: string, at: number): Place | Failure {
  const unread = (why: string): Failure => new Failure(`could not parse formatting clause: ${why}`);
  const precision = /^\.(\d*)/.exec(text.slice(at));
  const end = at + (precision?.[0].length ?? 0);
  if (end >= text.length) return unread("error while parsing precision: could not find end of precision specifier");
  if (precision?.[1] === "") {
    const why = 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax';
    return unread(`error while parsing precision: ${why}`);
  }
  const letter = text[end]!;
  if (!Object.hasOwn(CLAUSES, letter)) return unread(`unrecognized formatting clause "${letter}"`);
  return { letter, precision: precision === null ? DEFAULT_PRECISION : Number(precision[1]), end: end + 1 };
}

function formatClause({ letter, precision }: { letter: string; precision: number }, value: CelValue): string | Failure {
  const { format } = CLAUSES[letter]!;
  return format(value, precision) ?? new Failure(formatComplaint(letter, typeName(value)));
}

/** The message for a clause whose argument has the wrong type. */
export function formatComplaint(letter: string, type: string): string {
  return `error during formatting: ${CLAUSES[letter]!.complaint}, was given ${type}`;
}

/** The kinds of types that a clause accepts. */
export function formatKinds(letter: string): readonly Type["kind"][] {
  return CLAUSES[letter]!.kinds;
}

function textOf(value: CelValue): string | undefined {
  if (value === null) return "null";
  switch (typeof value) {
    case "string":
      return value;
    case "boolean":
    case "bigint":
      return String(value);
    case "number":
      return formatDouble(value);
  }
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Bytes) return Buffer.from(value.value).toString();
  if (value instanceof Duration) return formatSeconds(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof ListValue) {
    const items = value.items.map(shown);
    return items.includes(undefined) ? undefined : `[${items.join(", ")}]`;
  }
  if (!(value instanceof MapValue)) return undefined;
  const entries = value.keys.map((key) => [shown(key), shown(value.get(key)!)] as const);
  if (entries.some((entry) => entry.includes(undefined))) return undefined;
  const sorted = entries.sort(([a], [b]) => (a! < b! ? -1 : a! > b! ? 1 : 0));
  return `{${sorted.map(([key, item]) => `${key}:${item}`).join(", ")}}`;
}

/** A value inside a list or map, formatted as in an expression. */
function shown(value: CelValue): string | undefined {
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return Number.isFinite(value) ? value.toFixed(DEFAULT_PRECISION) : `"${value}"`;
  const text = textOf(value);
  if (text === undefined) return undefined;
  if (value instanceof Bytes) return `b${goQuote(text)}`;
  if (value instanceof Timestamp) return `timestamp("${text}")`;
  return value instanceof Duration ? `duration("${text}")` : text;
}

function integer(value: CelValue): bigint | undefined {
  if (typeof value === "bigint") return value;
  return value instanceof Uint ? value.value : undefined;
}

function ofDouble(value: CelValue, format: (number: number) => string): string | undefined {
  const number = typeof value === "string" && /^(?:NaN|-?Infinity)$/.test(value) ? Number(value) : value;
  if (typeof number !== "number") return undefined;
  if (Number.isNaN(number)) return "NaN";
  return Number.isFinite(number) ? format(number) : `${number < 0 ? "-" : ""}∞`;
}

/** Groups thousands, as in American English. */
function fixed(value: number, precision: number): string {
  const [whole = "", fraction] = value.toFixed(precision).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function scientific(value: number): string {
  const [digits = "", exponent = "0"] = value.toExponential(DEFAULT_PRECISION).split("e");
  const power = Math.abs(Number(exponent)).toString().padStart(2, "0");
  const raised = [...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("");
  return `${digits}×10${Number(exponent) < 0 ? "⁻" : ""}${raised}`;
}

function hexadecimal(value: CelValue): string | undefined {
  if (typeof value === "string") return Buffer.from(value).toString("hex");
  if (value instanceof Bytes) return Buffer.from(value.value).toString("hex");
  return integer(value)?.toString(16);
}
