import type { ServedObject } from "../read/served-form.js";

export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export type EventType = "ADDED" | "MODIFIED" | "DELETED";

/**
 * How objects are written into answers: as themselves, as a Table, or as their metadata alone. A presentation belongs
 * to one request; parts of what it returns are shared and must not be changed.
 */
export interface Presentation {
  /** One object. */
  single(served: ServedObject): Uint8Array;
  /** A list, in pieces that the caller may send one by one. */
  list(metadata: ListMetadata, items: readonly ServedObject[]): Iterable<Uint8Array>;
  /** One watch event without its end of line. */
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
