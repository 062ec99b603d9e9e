import type { Change } from "./storage.js";

/** One change in the journal. */
export interface JournalRecord {
  readonly revision: number;
  readonly resource: string;
  readonly key: string;
  /** Undefined for a delete. */
  readonly json: Uint8Array | undefined;
}

/** Revision (8 bytes), bytes of resource (2), of key (2), of JSON (4). */
const HEAD_BYTES = 16;
/** Stands in place of the JSON length and marks a delete. */
const DELETED = 0xffff_ffff;

/** Encodes a batch of changes as one blob: one row per change would cost ten times as much to insert. */
export function encodeBatch(changes: readonly Change[]): Buffer {
  let size = 0;
  for (const { type, current } of changes) {
    size += HEAD_BYTES + Buffer.byteLength(current.resource) + Buffer.byteLength(current.key);
    if (type !== "deleted") size += current.json.byteLength;
  }
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const { type, revision, current } of changes) {
    const { resource, key } = current;
    const resourceBytes = bytes.write(resource, at + HEAD_BYTES);
    const keyBytes = bytes.write(key, at + HEAD_BYTES + resourceBytes);
    bytes.writeDoubleLE(revision, at);
    bytes.writeUInt16LE(resourceBytes, at + 8);
    bytes.writeUInt16LE(keyBytes, at + 10);
    bytes.writeUInt32LE(type === "deleted" ? DELETED : current.json.byteLength, at + 12);
    at += HEAD_BYTES + resourceBytes + keyBytes;
    if (type === "deleted") continue;
    bytes.set(current.json, at);
    at += current.json.byteLength;
  }
  return bytes;
}

/** Decodes the records of a batch, in revision order. Throws a `RangeError` if the bytes are not a batch. */
export function* decodeBatch(batch: Uint8Array): Iterable<JournalRecord> {
  const bytes = Buffer.from(batch.buffer, batch.byteOffset, batch.byteLength);
  for (let at = 0; at < bytes.length; ) {
    const revision = bytes.readDoubleLE(at);
    const keyAt = at + HEAD_BYTES + bytes.readUInt16LE(at + 8);
    const jsonAt = keyAt + bytes.readUInt16LE(at + 10);
    const jsonBytes = bytes.readUInt32LE(at + 12);
    const resource = bytes.toString("utf8", at + HEAD_BYTES, keyAt);
    const key = bytes.toString("utf8", keyAt, jsonAt);
    const isDeleted = jsonBytes === DELETED;
    at = isDeleted ? jsonAt : jsonAt + jsonBytes;
    if (at > bytes.length) throw new RangeError("a record is longer than its batch");
    yield { revision, resource, key, json: isDeleted ? undefined : bytes.subarray(jsonAt, at) };
  }
}
