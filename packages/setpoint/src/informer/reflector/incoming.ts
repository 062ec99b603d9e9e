import { Buffer } from "node:buffer";
import { copyBytes } from "../../client/transport/copy-bytes.js";
import { type Kind, keyOf } from "../../kinds/kind.js";
import type { KubeObject } from "../../kinds/object.js";
import type { Retention } from "../retention.js";
import { ObjectScanner, startsWith } from "../store/scan.js";
import { KeyBytes } from "../store/slot-table.js";

/** A JavaScript number represents this many digits exactly. */
const EXACT_DIGITS = 15;
const ZERO = 0x30;
const OPEN_BRACE = 0x7b;
const NO_BYTES = Buffer.alloc(0);

/**
 * An object on its way into the store: its identity, and the position of its bytes. The bytes belong to the received
 * chunk, and the reader reuses the instance: copy what you keep.
 */
export class Incoming {
  readonly keyBytes = new KeyBytes();
  #key: string | undefined;
  /**
   * The body is `bytes[start, cutStart)` followed by `bytes[cutEnd, end)`. If `isHeadless`, kind and apiVersion are
   * those of the reader and omitted: `start` is at the comma after them, where the body has its opening brace.
   */
  bytes: Buffer = NO_BYTES;
  start = 0;
  cutStart = 0;
  cutEnd = 0;
  end = 0;
  isHeadless = false;
  uidStart = 0;
  uidEnd = 0;
  resourceVersionStart = 0;
  resourceVersionEnd = 0;
  /** The identity of an object that the scanner did not understand; empty otherwise. */
  parsedUid = "";
  parsedResourceVersion = "";
  /** The object as read from the store, if it is parsed already. */
  parsed: KubeObject | undefined;
  readonly #retention: Retention;
  #managedFields: string | undefined;
  #managedFieldsStart = 0;
  #managedFieldsEnd = 0;

  constructor(retention: Retention) {
    this.#retention = retention;
  }

  /** The `managedFields` to keep with the body, as JSON; empty for none. Computed on first use. */
  get managedFields(): string {
    this.#managedFields ??= this.#retention.keepManagedFields(
      this.bytes.subarray(this.#managedFieldsStart, this.#managedFieldsEnd),
    );
    return this.#managedFields;
  }

  /** Sets them as text, or their position in `bytes`. */
  setManagedFields(kept: string | undefined, start = 0, end = 0): void {
    this.#managedFields = kept;
    this.#managedFieldsStart = start;
    this.#managedFieldsEnd = end;
  }

  get key(): string {
    return (this.#key ??= this.keyBytes.toString());
  }

  /** `keyBytes` has changed. */
  renamed(): void {
    this.#key = undefined;
  }

  get uid(): string {
    return this.uidEnd === 0 ? this.parsedUid : this.bytes.toString("latin1", this.uidStart, this.uidEnd);
  }

  get resourceVersion(): string {
    if (this.resourceVersionEnd === 0) return this.parsedResourceVersion;
    return this.bytes.toString("latin1", this.resourceVersionStart, this.resourceVersionEnd);
  }

  /** The resourceVersion if a number represents it exactly, otherwise -1. */
  get revision(): number {
    const start = this.resourceVersionStart;
    const length = this.resourceVersionEnd - start;
    if (length === 0 || length > EXACT_DIGITS || (length > 1 && this.bytes[start] === ZERO)) return -1;
    let revision = 0;
    for (let at = start; at < this.resourceVersionEnd; at++) {
      const digit = this.bytes[at]! - ZERO;
      if (digit < 0 || digit > 9) return -1;
      revision = revision * 10 + digit;
    }
    return revision;
  }

  /** The position of the uid in the body; -1 if unknown. */
  get uidAt(): number {
    if (this.uidEnd === 0) return -1;
    const isBehindCut = this.uidStart >= this.cutEnd;
    return this.uidStart - this.start - (isBehindCut ? this.cutEnd - this.cutStart : 0);
  }

  get bodyLength(): number {
    return this.end - this.start - (this.cutEnd - this.cutStart);
  }

  copyBody(target: Buffer, offset: number): void {
    copyBytes(this.bytes, this.start, this.cutStart, target, offset);
    copyBytes(this.bytes, this.cutEnd, this.end, target, offset + this.cutStart - this.start);
    if (this.isHeadless) target[offset] = OPEN_BRACE;
  }
}

/** Why bytes are not an object of the kind that was asked for. */
export interface Unreadable {
  readonly refused: string;
}

export function isUnreadable(read: Incoming | Unreadable): read is Unreadable {
  return !(read instanceof Incoming);
}

/** `{"apiVersion":"…","kind":"…",`: the common start of all objects of a kind. */
export function headOf(members: Pick<Kind, "kind" | "apiVersion">): string {
  return `${JSON.stringify(members).slice(0, -1)},`;
}

function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Turns the bytes of one object into an {@link Incoming}: by scanning if possible, otherwise by parsing. */
export class ObjectDecoder {
  readonly #retention: Retention;
  readonly #expectedKind: string;
  readonly #scanner = new ObjectScanner();
  /** The result of every read, reused. */
  readonly incoming: Incoming;
  /**
   * The start of compact JSON of the kind, in either order: the same for all objects, so it is not stored. Both have
   * the same length.
   */
  readonly #heads: readonly [Buffer, Buffer];

  constructor(kind: Pick<Kind, "kind" | "apiVersion">, retention: Retention) {
    const { apiVersion, kind: name } = kind;
    this.#retention = retention;
    this.#heads = [Buffer.from(headOf({ apiVersion, kind: name })), Buffer.from(headOf({ kind: name, apiVersion }))];
    this.incoming = new Incoming(retention);
    this.#expectedKind = retention.isMetadataOnly ? "PartialObjectMetadata" : kind.kind;
  }

  /** The result is valid until the next call. Throws a SyntaxError where the bytes are not JSON. */
  read(bytes: Buffer, start: number, end: number): Incoming | Unreadable {
    const found = this.#scanner;
    if (this.#retention.reshape || !found.scan(bytes, start, end)) {
      return this.#parse(JSON.parse(bytes.toString("utf8", start, end)));
    }
    if (found.kindEnd > 0 && !this.#isExpected(bytes, found.kindStart, found.kindEnd)) {
      return this.#refuse(bytes.toString("latin1", found.kindStart, found.kindEnd));
    }
    const { namespaceStart, namespaceEnd, nameStart, nameEnd } = found;
    this.incoming.keyBytes.join(bytes, namespaceStart, namespaceEnd, nameStart, nameEnd);
    const incoming = this.#fill(bytes, start, end);
    if (!this.#retention.keepsManagedFields || found.cutEnd === 0) incoming.setManagedFields("");
    else incoming.setManagedFields(undefined, found.managedFieldsStart, found.managedFieldsEnd);
    return incoming;
  }

  /** Releases the bytes of the last read. */
  release(): void {
    this.incoming.bytes = NO_BYTES;
    this.incoming.parsed = undefined;
  }

  /** The same of an object that is already parsed: the answer to an own write. */
  readObject(object: KubeObject): Incoming | Unreadable {
    return this.#parse(object);
  }

  #parse(parsed: unknown): Incoming | Unreadable {
    const object = parsed as KubeObject | null;
    if (typeof object !== "object" || object === null || typeof object.metadata?.name !== "string") {
      return { refused: "an object without a name" };
    }
    const isOfKind = object.kind === undefined || object.kind === this.#expectedKind;
    if (!isOfKind && !this.#retention.isMetadataOnly) return this.#refuse(String(object.kind));
    const { metadata } = object;
    const { reshape } = this.#retention;
    // Omitting a field from a copy costs many times as much as setting it.
    const shown = reshape?.(withoutManagedFields(object)) ?? {
      ...object,
      metadata: { ...metadata, managedFields: undefined },
    };
    const bytes = Buffer.from(JSON.stringify(shown));
    this.#scanner.scan(bytes, 0, bytes.length);
    this.incoming.keyBytes.set(keyOf(object));
    const incoming = this.#fill(bytes, 0, bytes.length);
    const kept = this.#retention.kept(metadata.managedFields ?? []);
    incoming.setManagedFields(kept.length > 0 ? JSON.stringify(kept) : "");
    if (!reshape && !this.#retention.isMetadataOnly) {
      incoming.parsed =
        kept.length > 0 ? { ...object, metadata: { ...metadata, managedFields: kept } } : withoutManagedFields(object);
    }
    incoming.parsedUid = metadata.uid ?? "";
    incoming.parsedResourceVersion = metadata.resourceVersion ?? "";
    return incoming;
  }

  #fill(bytes: Buffer, start: number, end: number): Incoming {
    const found = this.#scanner;
    const incoming = this.incoming;
    const isUnderstood = found.isUnderstood;
    incoming.renamed();
    incoming.bytes = bytes;
    incoming.isHeadless = isUnderstood && this.#hasHead(bytes, start);
    incoming.start = incoming.isHeadless ? start + this.#heads[0].length - 1 : start;
    incoming.end = end;
    incoming.cutStart = isUnderstood && found.cutEnd > 0 ? found.cutStart : end;
    incoming.cutEnd = isUnderstood && found.cutEnd > 0 ? found.cutEnd : end;
    incoming.uidStart = isUnderstood ? found.uidStart : 0;
    incoming.uidEnd = isUnderstood ? found.uidEnd : 0;
    incoming.resourceVersionStart = isUnderstood ? found.resourceVersionStart : 0;
    incoming.resourceVersionEnd = isUnderstood ? found.resourceVersionEnd : 0;
    incoming.parsed = undefined;
    incoming.parsedUid = incoming.parsedResourceVersion = "";
    return incoming;
  }

  #hasHead(bytes: Buffer, start: number): boolean {
    return startsWith(bytes, start, this.#heads[0]) || startsWith(bytes, start, this.#heads[1]);
  }

  #isExpected(bytes: Buffer, start: number, end: number): boolean {
    const expected = this.#expectedKind;
    if (end - start !== expected.length) return false;
    for (let at = 0; at < expected.length; at++) if (bytes[start + at] !== expected.charCodeAt(at)) return false;
    return true;
  }

  #refuse(kind: string): Unreadable {
    return { refused: `an object of kind ${kind} instead of ${this.#expectedKind}` };
  }
}
