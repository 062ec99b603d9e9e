import { Range } from "../costs/range.js";
import { BOOL, BYTES, DOUBLE, DURATION, DYN, INT, parameter, STRING, TIMESTAMP, typeOf, UINT } from "../types/type.js";
import { formatDouble, int, plainDouble, truncatedInt, truncatedUint, uint } from "../values/number.js";
import { floorDivided, formatTimestamp, parseDuration, parseTimestamp, timestamp } from "../values/time.js";
import { Bytes, type CelValue, type Duration, Failure, type Timestamp, TypeValue, type Uint } from "../values/value.js";
import { sizeOf, typeName } from "../values/value-type.js";
import { declare, type FunctionCost, type FunctionDeclaration, type Implementation, overload } from "./declaration.js";
import { TEXT_FACTOR } from "./text-cost.js";

const A = parameter("A");
const same: Implementation = (value) => value!;

/** A character takes at most four bytes. */
function recoding(resize: (size: Range) => Range): FunctionCost {
  return {
    estimate: ({ args: [value] }) => ({ cost: value!.size.scaled(TEXT_FACTOR), size: resize(value!.size) }),
    track: ([value]) => Math.ceil(sizeOf(value!) * TEXT_FACTOR),
  };
}

/** Functions named after their result type. Calls with a literal are evaluated at compile time. */
export const conversions: readonly FunctionDeclaration[] = [
  declare("bool", [
    overload("bool_to_bool", [BOOL], BOOL, same),
    overload("string_to_bool", [STRING], BOOL, (text) => {
      if (["1", "t", "T", "true", "TRUE", "True"].includes(text as string)) return true;
      if (["0", "f", "F", "false", "FALSE", "False"].includes(text as string)) return false;
      return impossible("string", "bool");
    }),
  ]),
  declare("bytes", [
    overload("bytes_to_bytes", [BYTES], BYTES, same),
    overload(
      "string_to_bytes",
      [STRING],
      BYTES,
      (text) => new Bytes(Buffer.from(text as string)),
      recoding(({ min, max }) => new Range(min, BigInt.asUintN(64, max * 4n))),
    ),
  ]),
  declare("double", [
    overload("double_to_double", [DOUBLE], DOUBLE, same),
    overload("int64_to_double", [INT], DOUBLE, (value) => Number(value as bigint)),
    overload("string_to_double", [STRING], DOUBLE, (text) => doubleOf(text as string)),
    overload("uint64_to_double", [UINT], DOUBLE, (value) => Number((value as Uint).value)),
  ]),
  declare("duration", [
    overload("duration_to_duration", [DURATION], DURATION, same),
    overload("int64_to_duration", [INT], DURATION, () => impossible("int", "google.protobuf.Duration")),
    overload(
      "string_to_duration",
      [STRING],
      DURATION,
      (text) => parseDuration(text as string) ?? impossible("string", "google.protobuf.Duration"),
    ),
  ]),
  declare("dyn", [overload("to_dyn", [A], DYN, same)]),
  declare("int", [
    overload("int64_to_int64", [INT], INT, same),
    overload("double_to_int64", [DOUBLE], INT, (value) => truncatedInt(value as number)),
    overload("duration_to_int64", [DURATION], INT, (value) => (value as Duration).nanos),
    overload("string_to_int64", [STRING], INT, (text) => intOf(text as string)),
    overload("timestamp_to_int64", [TIMESTAMP], INT, (value) =>
      floorDivided((value as Timestamp).nanos, 1_000_000_000n),
    ),
    overload("uint64_to_int64", [UINT], INT, (value) => int((value as Uint).value)),
  ]),
  declare("string", [
    overload("string_to_string", [STRING], STRING, same),
    overload("bool_to_string", [BOOL], STRING, String),
    overload(
      "bytes_to_string",
      [BYTES],
      STRING,
      (value) => textOf((value as Bytes).value),
      recoding(({ min, max }) => new Range(min / 4n, max)),
    ),
    overload("double_to_string", [DOUBLE], STRING, (value) => formatDouble(value as number)),
    overload("duration_to_string", [DURATION], STRING, (value) => formatSeconds(value as Duration)),
    overload("int64_to_string", [INT], STRING, String),
    overload("timestamp_to_string", [TIMESTAMP], STRING, (value) => formatTimestamp(value as Timestamp)),
    overload("uint64_to_string", [UINT], STRING, (value) => String((value as Uint).value)),
  ]),
  declare("timestamp", [
    overload("timestamp_to_timestamp", [TIMESTAMP], TIMESTAMP, same),
    overload("int64_to_timestamp", [INT], TIMESTAMP, (seconds) => timestamp((seconds as bigint) * 1_000_000_000n)),
    overload(
      "string_to_timestamp",
      [STRING],
      TIMESTAMP,
      (text) => parseTimestamp(text as string) ?? impossible("string", "google.protobuf.Timestamp"),
    ),
  ]),
  declare("type", [overload("type", [A], typeOf(A), (value) => new TypeValue(typeName(value!)))]),
  declare("uint", [
    overload("uint64_to_uint64", [UINT], UINT, same),
    overload("double_to_uint64", [DOUBLE], UINT, (value) => truncatedUint(value as number)),
    overload("int64_to_uint64", [INT], UINT, (value) => uint(value as bigint)),
    overload("string_to_uint64", [STRING], UINT, (text) => uintOf(text as string)),
  ]),
];

/** Seconds with their fraction, as in `string(duration)`. */
export function formatSeconds({ nanos }: Duration): string {
  return `${plainDouble(Number(nanos / 1_000_000_000n) + Number(nanos % 1_000_000_000n) / 1e9)}s`;
}

function impossible(from: string, to: string): Failure {
  return new Failure(`type conversion error from '${from}' to '${to}'`);
}

function intOf(text: string): CelValue {
  if (!/^[+-]?\d+$/.test(text)) return impossible("string", "int");
  const value = int(BigInt(text.replace(/^\+/, "")));
  return value instanceof Failure ? impossible("string", "int") : value;
}

function uintOf(text: string): CelValue {
  if (!/^\d+$/.test(text)) return impossible("string", "uint");
  const value = uint(BigInt(text));
  return value instanceof Failure ? impossible("string", "uint") : value;
}

function doubleOf(text: string): CelValue {
  const special = /^([+-]?)(?:(inf|infinity)|nan)$/i.exec(text);
  if (special !== null && special[2] === undefined && special[1] === "") return Number.NaN;
  if (special?.[2] !== undefined) return special[1] === "-" ? -Infinity : Infinity;
  const value = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : impossible("string", "double");
}

function textOf(bytes: Uint8Array): CelValue {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new Failure("invalid UTF-8 in bytes, cannot convert to string");
  }
}
