import type { Status, StatusDetails } from "../api/status-error.js";

const encoder = new TextEncoder();
const MAGIC = [0x6b, 0x38, 0x73, 0x00];

/**
 * Encodes a Status as protobuf like kube-apiserver, which also writes the empty fields of Go structs. For clients
 * that request protobuf; other responses are JSON.
 */
export function encodeStatus(status: Status): Uint8Array {
  const raw = [
    ...field(1, [...text(1, ""), ...text(2, ""), ...text(3, "")]),
    ...text(2, status.status),
    ...text(3, status.message),
    ...text(4, status.reason ?? ""),
    ...(status.details === undefined || Object.keys(status.details).length === 0
      ? []
      : field(5, details(status.details))),
    ...number(6, status.code),
  ];
  const typeMeta = [...text(1, status.apiVersion), ...text(2, status.kind)];
  return Uint8Array.from([...MAGIC, ...field(1, typeMeta), ...field(2, raw), ...text(3, ""), ...text(4, "")]);
}

function details({ name = "", group = "", kind = "", causes = [], retryAfterSeconds = 0, uid = "" }: StatusDetails) {
  return [
    ...text(1, name),
    ...text(2, group),
    ...text(3, kind),
    ...causes.flatMap((cause) =>
      field(4, [...text(1, cause.reason ?? ""), ...text(2, cause.message), ...text(3, cause.field ?? "")]),
    ),
    ...number(5, retryAfterSeconds),
    ...text(6, uid),
  ];
}

function text(tag: number, value: string): number[] {
  return field(tag, [...encoder.encode(value)]);
}

/** A length-prefixed field. */
function field(tag: number, bytes: readonly number[]): number[] {
  return [(tag << 3) | 2, ...varint(bytes.length), ...bytes];
}

function number(tag: number, value: number): number[] {
  return [tag << 3, ...varint(value)];
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}
