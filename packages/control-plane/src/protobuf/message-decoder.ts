import { type Json, type MutableJsonObject, setField } from "../api/json.js";
import type { FieldType, Message, MessageField, Scalar } from "../facts/message.js";
import { decodeSpecial, isZeroTime } from "./special-types.js";
import { ProtobufError, WireReader, type WireType } from "./wire-reader.js";

/** Deeper than any object of a built-in kind, yet shallow enough for the stack. */
const DEEPEST = 500;

/**
 * The wire data of one field: the parts of a split message, the items of a list, the entries of a map, or the last of
 * several scalars.
 */
type Raw =
  | { readonly kind: "scalar"; value: Json }
  | { readonly kind: "parts"; readonly parts: Uint8Array[] }
  | { readonly kind: "items"; readonly items: Json[] }
  | { readonly kind: "entries"; readonly entries: MutableJsonObject };

/** Decodes a message into the JSON that Go writes for the same struct, including zero values. */
export function decodeMessage(message: Message, bytes: Uint8Array, depth = 0): MutableJsonObject {
  if (depth > DEEPEST) throw new ProtobufError(`proto: ${shortName(message)}: exceeded maximum nesting depth`);
  const found: (Raw | undefined)[] = new Array(message.fields.length);
  const reader = new WireReader(bytes);
  while (reader.next(() => shortName(message))) {
    const field = message.byNumber.get(reader.number);
    if (field === undefined) reader.skip(reader.wireType);
    else found[field.index] = readField(field, field.type, reader, found[field.index], depth);
  }
  const object: MutableJsonObject = {};
  for (const field of message.fields) writeField(object, field, found[field.index], depth);
  return object;
}

function shortName(message: Message): string {
  return message.name.slice(message.name.lastIndexOf(".") + 1);
}

function readField(
  field: MessageField,
  type: FieldType,
  reader: WireReader,
  earlier: Raw | undefined,
  depth: number,
): Raw {
  switch (type.kind) {
    case "pointer":
      return readField(field, type.to, reader, earlier, depth);
    case "scalar":
      return { kind: "scalar", value: readScalar(field, type.scalar, reader.wireType, reader) };
    case "message":
    case "special":
    case "wrapped-list": {
      expectWireType(field, reader.wireType, 2);
      const raw = earlier?.kind === "parts" ? earlier : { kind: "parts" as const, parts: [] };
      raw.parts.push(reader.bytes());
      return raw;
    }
    case "list": {
      const raw = earlier?.kind === "items" ? earlier : { kind: "items" as const, items: [] };
      readItem(field, type.of, reader, raw.items, depth);
      return raw;
    }
    case "map": {
      expectWireType(field, reader.wireType, 2);
      const raw = earlier?.kind === "entries" ? earlier : { kind: "entries" as const, entries: {} };
      readEntry(field, type.of, reader.bytes(), raw.entries, depth);
      return raw;
    }
  }
}

/** Reads one item of a list. Numbers may also be packed, many in one field. */
function readItem(field: MessageField, type: FieldType, reader: WireReader, items: Json[], depth: number): void {
  const isPackable = type.kind === "scalar" && type.scalar !== "string" && type.scalar !== "bytes";
  if (isPackable && reader.wireType === 2) {
    const packed = new WireReader(reader.bytes());
    const itemType = wireTypeOf(type.scalar);
    while (!packed.isAtEnd) items.push(readScalar(field, type.scalar, itemType, packed));
    return;
  }
  items.push(jsonOf(type, readField(field, type, reader, undefined, depth), depth));
}

function readEntry(
  field: MessageField,
  type: FieldType,
  bytes: Uint8Array,
  entries: MutableJsonObject,
  depth: number,
): void {
  const reader = new WireReader(bytes);
  let key = "";
  let value: Raw | undefined;
  while (reader.next(() => field.goName)) {
    if (reader.number === 1) key = readScalar(field, "string", reader.wireType, reader) as string;
    else if (reader.number === 2) value = readField(field, type, reader, undefined, depth);
    else reader.skip(reader.wireType);
  }
  const isAbsentBytes = value === undefined && type.kind === "scalar" && type.scalar === "bytes";
  setField(entries, key, isAbsentBytes ? "" : jsonOf(type, value, depth));
}

function wireTypeOf(scalar: Scalar): WireType {
  if (scalar === "string" || scalar === "bytes") return 2;
  return scalar === "float64" ? 1 : 0;
}

function expectWireType(field: MessageField, actual: number, expected: WireType): void {
  if (actual === expected) return;
  throw new ProtobufError(`proto: wrong wireType = ${actual} for field ${field.goName}`);
}

function readScalar(field: MessageField, scalar: Scalar, wireType: number, reader: WireReader): Json {
  expectWireType(field, wireType, wireTypeOf(scalar));
  switch (scalar) {
    case "string":
      return reader.string();
    case "bytes":
      return reader.bytes().toString("base64");
    case "bool":
      return reader.bool();
    case "int32":
      return reader.int32();
    case "int64":
      return reader.int64();
    case "float64":
      return reader.double();
  }
}

/** The JSON of a value that may be absent. Callers never ask for an absent pointer. */
function jsonOf(type: FieldType, raw: Raw | undefined, depth: number): Json {
  switch (type.kind) {
    case "pointer":
      return raw === undefined ? null : jsonOf(type.to, raw, depth);
    case "scalar":
      return raw?.kind === "scalar" ? raw.value : zeroOf(type.scalar);
    case "message":
      return decodeMessage(type.message, joined(raw), depth + 1);
    case "special":
      return decodeSpecial(type.special, joined(raw), (part) => decodeMessage(type.schema!, part, depth + 1));
    case "wrapped-list":
      return raw === undefined ? null : wrappedItems(type.of, joined(raw), depth);
    case "list":
      return raw?.kind === "items" ? raw.items : null;
    case "map":
      return raw?.kind === "entries" ? raw.entries : null;
  }
}

/** Concatenates the parts of a split message. */
function joined(raw: Raw | undefined): Uint8Array {
  if (raw?.kind !== "parts") return new Uint8Array();
  return raw.parts.length === 1 ? raw.parts[0]! : Buffer.concat(raw.parts);
}

const ITEMS: Omit<MessageField, "type"> = { index: 0, number: 1, goName: "Items", json: "items", omit: "empty" };

function wrappedItems(of: FieldType, bytes: Uint8Array, depth: number): Json {
  const reader = new WireReader(bytes);
  const field: MessageField = { ...ITEMS, type: of };
  const items: Json[] = [];
  while (reader.next(() => "Items")) {
    if (reader.number === 1) readItem(field, of, reader, items, depth);
    else reader.skip(reader.wireType);
  }
  return items;
}

function zeroOf(scalar: Scalar): Json {
  if (scalar === "string") return "";
  if (scalar === "bool") return false;
  return scalar === "bytes" ? null : 0;
}

function writeField(object: MutableJsonObject, field: MessageField, raw: Raw | undefined, depth: number): void {
  const { type } = field;
  if (field.json === "") {
    if (type.kind === "pointer" && raw === undefined) return;
    const inlined = jsonOf(type, raw, depth);
    for (const [key, value] of Object.entries(inlined as MutableJsonObject)) setField(object, key, value);
    return;
  }
  if (field.omit !== "never" && isEmpty(type, raw)) return;
  if (field.omit === "zero" && type.kind === "special" && isZeroTime(joined(raw))) return;
  object[field.json] = jsonOf(type, raw, depth);
}

/** Whether Go's `omitempty` omits the field. It never omits a struct. */
function isEmpty(type: FieldType, raw: Raw | undefined): boolean {
  switch (type.kind) {
    case "message":
    case "special":
      return false;
    case "scalar":
      return raw?.kind !== "scalar" || raw.value === zeroOf(type.scalar) || raw.value === "";
    default:
      return raw === undefined;
  }
}
