import type { ServedObject } from "../read/served-form.js";

export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export type EventType = "ADDED" | "MODIFIED" | "DELETED";

/**
 * How responses show objects: in full, as a Table, or only their metadata. A presentation belongs to one request.
 * Callers must not change the returned bytes, because responses share them.
 */
export interface Presentation {
  single(served: ServedObject): Uint8Array;
  /** A list, in pieces that the caller may send separately. */
  list(metadata: ListMetadata, items: readonly ServedObject[]): Iterable<Uint8Array>;
  /** One watch event, without its newline. */
  event(type: EventType, served: ServedObject): readonly Uint8Array[];
  /** The object of a bookmark. */
  bookmark(metadata: BookmarkMetadata): unknown;
}

export interface BookmarkMetadata {
  readonly resourceVersion: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

const encoder = new TextEncoder();
export const bytesOf = (text: string): Uint8Array => encoder.encode(text);
export const CLOSING_BRACE = bytesOf("}");

export const EVENT_HEADS: Readonly<Record<EventType, Uint8Array>> = {
  ADDED: bytesOf('{"type":"ADDED","object":'),
  MODIFIED: bytesOf('{"type":"MODIFIED","object":'),
  DELETED: bytesOf('{"type":"DELETED","object":'),
};
