import { Buffer } from "node:buffer";
import { type Kind, keyOf } from "../kinds/kind.js";
import type { KubeObject, ManagedFieldsEntry } from "../kinds/object.js";
import type { Retention } from "./retention.js";
import { ObjectScanner } from "./scan.js";

/**
 * An object on its way into the store: its identity, and where the bytes to be kept are. The bytes belong to the chunk
 * that they came in; whoever keeps the object copies them.
 */
export interface Incoming {
  readonly key: string;
  readonly resourceVersion: string;
  readonly uid: string;
  /** The body is `bytes[start, cutStart)` followed by `bytes[cutEnd, end)`. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly cutStart: number;
  readonly cutEnd: number;
  readonly end: number;
  /** Where the uid stands in the body; -1 where that is not known. */
  readonly uidAt: number;
  /** The `managedFields` to be kept beside the body, as JSON; empty where none are. */
  readonly managedFields: string;
}

export function bodyLength(incoming: Incoming): number {
  return incoming.end - incoming.start - (incoming.cutEnd - incoming.cutStart);
}

/** Copies the body into `target`; returns how many bytes it has. */
export function copyBody(incoming: Incoming, target: Buffer, offset: number): number {
  const { bytes, start, cutStart, cutEnd, end } = incoming;
  const head = bytes.copy(target, offset, start, cutStart);
  return head + bytes.copy(target, offset + head, cutEnd, end);
}

/** Why bytes are not an object of the kind that was asked for. */
export type Refusal = { readonly refused: string };

/** Turns the bytes of one object into an {@link Incoming}: by scanning where that is enough, else by parsing. */
export class ObjectReader {
  readonly #retention: Retention;
  readonly #expectedKind: string;
  readonly #scanner = new ObjectScanner();
  #keyBytes = Buffer.allocUnsafe(512);

  constructor(kind: Pick<Kind, "kind">, retention: Retention) {
    this.#retention = retention;
    this.#expectedKind = retention.isMetadataOnly ? "PartialObjectMetadata" : kind.kind;
  }

  /** Throws a SyntaxError where the bytes are not JSON. */
  read(bytes: Buffer, start: number, end: number): Incoming | Refusal {
    const found = this.#scanner;
    if (this.#retention.reshape || !found.scan(bytes, start, end)) {
      return this.#parse(JSON.parse(bytes.toString("utf8", start, end)));
    }
    if (found.kindEnd > 0 && !this.#isExpected(bytes, found.kindStart, found.kindEnd)) {
      return this.#refuse(bytes.toString("latin1", found.kindStart, found.kindEnd));
    }
    const hasCut = found.cutEnd > 0;
    const cutStart = hasCut ? found.cutStart : end;
    const cutEnd = hasCut ? found.cutEnd : end;
    const isUidBehindCut = found.uidStart >= cutEnd;
    return {
      key: this.#key(bytes, found),
      resourceVersion: bytes.toString("latin1", found.resourceVersionStart, found.resourceVersionEnd),
      uid: bytes.toString("latin1", found.uidStart, found.uidEnd),
      bytes,
      start,
      cutStart,
      cutEnd,
      end,
      uidAt: found.uidEnd === 0 ? -1 : found.uidStart - start - (isUidBehindCut ? cutEnd - cutStart : 0),
      managedFields: hasCut ? this.#kept(bytes, found.managedFieldsStart, found.managedFieldsEnd) : "",
    };
  }

  /** An object that is already parsed: the answer to an own write. */
  readObject(object: KubeObject): Incoming | Refusal {
    return this.#parse(object);
  }

  #parse(parsed: unknown): Incoming | Refusal {
    const object = parsed as KubeObject | null;
    if (typeof object !== "object" || object === null || typeof object.metadata?.name !== "string") {
      return { refused: "an object without a name" };
    }
    const isOfKind = object.kind === undefined || object.kind === this.#expectedKind;
    if (!isOfKind && !this.#retention.isMetadataOnly) return this.#refuse(String(object.kind));
    const { managedFields, ...metadata } = object.metadata;
    const bare = { ...object, metadata };
    const reshaped = this.#retention.reshape?.(bare) ?? bare;
    const bytes = Buffer.from(JSON.stringify(reshaped));
    const isScanned = this.#scanner.scan(bytes, 0, bytes.length);
    return {
      key: keyOf(object),
      resourceVersion: metadata.resourceVersion ?? "",
      uid: metadata.uid ?? "",
      bytes,
      start: 0,
      cutStart: bytes.length,
      cutEnd: bytes.length,
      end: bytes.length,
      uidAt: isScanned && this.#scanner.uidEnd > 0 ? this.#scanner.uidStart : -1,
      managedFields: managedFields ? this.#retention.keepManagedFields(managedFields) : "",
    };
  }

  #kept(bytes: Buffer, start: number, end: number): string {
    if (!this.#retention.keepsManagedFields) return "";
    return this.#retention.keepManagedFields(JSON.parse(bytes.toString("utf8", start, end)) as ManagedFieldsEntry[]);
  }

  /** `namespace/name` as one flat string; joining two would keep both and the joint besides. */
  #key(bytes: Buffer, found: ObjectScanner): string {
    const namespaceLength = found.namespaceEnd - found.namespaceStart;
    if (namespaceLength === 0) return bytes.toString("latin1", found.nameStart, found.nameEnd);
    const length = namespaceLength + 1 + found.nameEnd - found.nameStart;
    if (length > this.#keyBytes.length) this.#keyBytes = Buffer.allocUnsafe(length);
    const target = this.#keyBytes;
    let at = 0;
    for (let from = found.namespaceStart; from < found.namespaceEnd; from++) target[at++] = bytes[from]!;
    target[at++] = 0x2f;
    for (let from = found.nameStart; from < found.nameEnd; from++) target[at++] = bytes[from]!;
    return target.toString("latin1", 0, at);
  }

  #isExpected(bytes: Buffer, start: number, end: number): boolean {
    const expected = this.#expectedKind;
    if (end - start !== expected.length) return false;
    for (let at = 0; at < expected.length; at++) if (bytes[start + at] !== expected.charCodeAt(at)) return false;
    return true;
  }

  #refuse(kind: string): Refusal {
    return { refused: `an object of kind ${kind} where ${this.#expectedKind} was asked for` };
  }
}
