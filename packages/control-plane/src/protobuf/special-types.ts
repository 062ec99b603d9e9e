import type { Json } from "../api/json.js";
import type { Special } from "../facts/message.js";
import { checkDepth } from "../schema/depth.js";
import { ProtobufError, WireReader } from "./wire-reader.js";

const SECONDS_OF_YEAR_1 = -62_135_596_800;
const SECONDS_OF_YEAR_10000 = 253_402_300_800;
/** As kube-apiserver spells it. */
const QUANTITY_PATTERN = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";
const QUANTITY = new RegExp(QUANTITY_PATTERN);

/** The JSON of structs with their own marshaller. Empty bytes are the zero value. */
export function decodeSpecial(special: Special, bytes: Uint8Array, decodeSchema: (bytes: Uint8Array) => Json): Json {
  switch (special) {
    case "Time":
      return timestamp(fieldsOf("Timestamp", bytes), 0);
    case "MicroTime":
      return timestamp(fieldsOf("Timestamp", bytes), 6);
    case "Duration":
      return duration(fieldsOf("Duration", bytes).numbers.get(1) ?? 0);
    case "Quantity":
      return quantity(fieldsOf("Quantity", bytes).parts.get(1)?.[0]);
    case "IntOrString":
      return intOrString(fieldsOf("IntOrString", bytes));
    case "RawExtension":
    case "FieldsV1":
    case "JSON":
      return embeddedJson(fieldsOf(special, bytes).parts.get(1)?.at(-1));
    case "SchemaOrBool": {
      const { numbers, parts } = fieldsOf("JSONSchemaPropsOrBool", bytes);
      const schema = parts.get(2);
      return schema ? decodeSchema(Buffer.concat(schema)) : (numbers.get(1) ?? 0) !== 0;
    }
    case "SchemaOrArray": {
      const { parts } = fieldsOf("JSONSchemaPropsOrArray", bytes);
      const schemas = parts.get(2);
      if (schemas) return schemas.map(decodeSchema);
      const schema = parts.get(1);
      return schema ? decodeSchema(Buffer.concat(schema)) : null;
    }
    case "SchemaOrStrings": {
      const { parts } = fieldsOf("JSONSchemaPropsOrStringArray", bytes);
      const names = parts.get(2);
      if (names) return names.map((name) => Buffer.from(name).toString("utf8"));
      const schema = parts.get(1);
      return schema ? decodeSchema(Buffer.concat(schema)) : null;
    }
  }
}

/** Whether this is Go's zero time, which is null in JSON and which `omitzero` omits. */
export function isZeroTime(bytes: Uint8Array): boolean {
  return timestamp(fieldsOf("Timestamp", bytes), 0) === null;
}

interface Fields {
  readonly numbers: ReadonlyMap<number, number>;
  readonly parts: ReadonlyMap<number, readonly Uint8Array[]>;
  readonly isEmpty: boolean;
}

/** All the fields of a small message, by number. */
function fieldsOf(message: string, bytes: Uint8Array): Fields {
  const numbers = new Map<number, number>();
  const parts = new Map<number, Uint8Array[]>();
  const reader = new WireReader(bytes);
  while (reader.next(() => message)) {
    const { number, wireType } = reader;
    if (wireType === 0) numbers.set(number, reader.int64());
    else if (wireType === 2) {
      const known = parts.get(number);
      if (known) known.push(reader.bytes());
      else parts.set(number, [reader.bytes()]);
    } else reader.skip(wireType);
  }
  return { numbers, parts, isEmpty: bytes.length === 0 };
}

function timestamp({ numbers, isEmpty }: Fields, digits: 0 | 6): Json {
  if (isEmpty) return null;
  const seconds = numbers.get(1) ?? 0;
  const micros = digits === 0 ? 0 : Math.trunc((numbers.get(2) ?? 0) / 1000);
  if (seconds === SECONDS_OF_YEAR_1 && micros === 0) return null;
  if (seconds < SECONDS_OF_YEAR_1 || seconds >= SECONDS_OF_YEAR_10000 || micros < 0 || micros > 999_999) {
    throw new ProtobufError("Time.MarshalJSON: year outside of range [0,9999]");
  }
  const instant = new Date(seconds * 1000).toISOString().slice(0, 19);
  return digits === 0 ? `${instant}Z` : `${instant}.${String(micros).padStart(6, "0")}Z`;
}

/** Formats like Go's `Duration.String`: `1h0m0s`, `1.5s`, `100ms`, `0s`. */
function duration(nanos: number): string {
  if (nanos === 0) return "0s";
  const sign = nanos < 0 ? "-" : "";
  const size = Math.abs(nanos);
  if (size < 1e3) return `${sign}${size}ns`;
  if (size < 1e6) return `${sign}${decimal(size, 3)}µs`;
  if (size < 1e9) return `${sign}${decimal(size, 6)}ms`;
  const minutes = Math.floor(size / 60e9);
  const seconds = `${decimal(size % 60e9, 9)}s`;
  if (minutes === 0) return sign + seconds;
  return minutes < 60
    ? `${sign}${minutes}m${seconds}`
    : `${sign}${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`;
}

/** `value` / 10^places without trailing zeros. */
function decimal(value: number, places: number): string {
  const digits = String(value).padStart(places + 1, "0");
  const fraction = digits.slice(-places).replace(/0+$/, "");
  return digits.slice(0, -places) + (fraction === "" ? "" : `.${fraction}`);
}

function quantity(bytes: Uint8Array | undefined): string {
  if (bytes === undefined) return "0";
  const value = Buffer.from(bytes).toString("utf8");
  if (value.length > 256 || !QUANTITY.test(value)) {
    throw new ProtobufError(`quantities must match the regular expression '${QUANTITY_PATTERN}'`);
  }
  return value;
}

function intOrString({ numbers, parts }: Fields): Json {
  const type = numbers.get(1) ?? 0;
  if (type === 0) return (numbers.get(2) ?? 0) | 0;
  if (type === 1) return Buffer.from(parts.get(3)?.at(-1) ?? []).toString("utf8");
  throw new ProtobufError("impossible IntOrString.Type");
}

function embeddedJson(bytes: Uint8Array | undefined): Json {
  if (bytes === undefined || bytes.length === 0) return null;
  let value: Json;
  try {
    value = JSON.parse(Buffer.from(bytes).toString("utf8")) as Json;
  } catch (cause) {
    throw new ProtobufError(`failed to parse RawExtension bytes as JSON: ${(cause as Error).message}`, { cause });
  }
  checkDepth(value);
  return value;
}
