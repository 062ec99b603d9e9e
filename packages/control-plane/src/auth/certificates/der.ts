import { SetpointError } from "setpoint";

/** Reads and writes the subset of DER that certificates need. */

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  utcTime: 0x17,
  generalizedTime: 0x18,
} as const;

export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  const significant = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
  return Buffer.concat([Buffer.from([0x80 | significant.length]), significant]);
}

export const sequence = (...contents: readonly Uint8Array[]): Buffer => der(TAG.sequence, ...contents);
export const set = (...contents: readonly Uint8Array[]): Buffer => der(TAG.set, ...contents);
export const octetString = (content: Uint8Array): Buffer => der(TAG.octetString, content);
export const utf8String = (text: string): Buffer => der(TAG.utf8String, Buffer.from(text, "utf8"));
export const booleanTrue = (): Buffer => der(TAG.boolean, Buffer.from([0xff]));

/** Encodes a non-negative integer from its big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const rest = Buffer.from(bytes.subarray(start));
  return der(TAG.integer, (rest[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.of(0), rest]) : rest);
}

/** Encodes whole bytes; the last `unusedBits` bits are padding. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return der(TAG.bitString, Buffer.from([unusedBits]), bytes);
}

/** Encodes an object identifier such as `2.5.4.3`. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const digits = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return der(TAG.oid, Buffer.from(bytes));
}

/** Encodes a time as RFC 5280 requires: two digits for the year before 2050, four from then on. */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().slice(0, 19).replace(/[-:T]/g, "");
  const isLate = Number(digits.slice(0, 4)) >= 2050;
  return isLate
    ? der(TAG.generalizedTime, Buffer.from(`${digits}Z`))
    : der(TAG.utcTime, Buffer.from(`${digits.slice(2)}Z`));
}

/** `[number]` with other values inside. */
export function context(number: number, ...contents: readonly Uint8Array[]): Buffer {
  return der(0xa0 | number, ...contents);
}

/** `[number]` in place of a primitive type. */
export function implicit(number: number, content: Uint8Array): Buffer {
  return der(0x80 | number, content);
}

/** One decoded value: its tag, its content, and all of its bytes. */
export interface DerValue {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly whole: Uint8Array;
}

/** Decodes the consecutive values in `bytes`. Throws if any is malformed. */
export function readAll(bytes: Uint8Array): readonly DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const value = readOne(bytes, at);
    values.push(value);
    at += value.whole.length;
  }
  return values;
}

function readOne(bytes: Uint8Array, at: number): DerValue {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined)
    throw new SetpointError("CERTIFICATE_REQUEST_INVALID", "asn1: data truncated");
  let length = first;
  let start = at + 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new SetpointError("CERTIFICATE_REQUEST_INVALID", "asn1: unsupported length");
    length = 0;
    for (let index = 0; index < count; index++) length = length * 256 + (bytes[start + index] ?? 0);
    start += count;
  }
  const end = start + length;
  if (end > bytes.length) throw new SetpointError("CERTIFICATE_REQUEST_INVALID", "asn1: data truncated");
  return { tag, content: bytes.subarray(start, end), whole: bytes.subarray(at, end) };
}

/** Decodes an object identifier to its dotted form. */
export function readOid(content: Uint8Array): string {
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of content) {
    arc = arc * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    arcs.push(arc);
    arc = 0;
  }
  const [head = 0, ...rest] = arcs;
  const first = Math.min(2, Math.floor(head / 40));
  return [first, head - first * 40, ...rest].join(".");
}
