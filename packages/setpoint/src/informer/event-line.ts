import type { Buffer } from "node:buffer";
import type { RequestSummary } from "../client/api-error.js";
import { parseWatchEvent } from "../client/watch-stream.js";
import type { WatchEventType } from "./deltas.js";
import { type Incoming, isRefusal, type ObjectReader } from "./incoming.js";
import { startsWith } from "./scan.js";

/** One line of a watch, understood. */
export type EventLine =
  | { readonly type: WatchEventType; readonly incoming: Incoming }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  /** Not an object of the kind asked for: to be reported and passed over. */
  | { readonly type: "REFUSED"; readonly reason: string };

const TYPES = ["ADDED", "MODIFIED", "DELETED"] as const;
const PREFIXES = TYPES.map((type) => ({
  type,
  bytes: Uint8Array.from(`{"type":"${type}","object":`, (character) => character.charCodeAt(0)),
}));
const CLOSE_BRACE = 0x7d;

/**
 * Reads `bytes[start, end)` as a line of a watch. Throws an `ApiError` for an ERROR event, and `RESPONSE_INVALID` for
 * what is no event.
 */
export function readEventLine(
  request: RequestSummary,
  reader: ObjectReader,
  bytes: Buffer,
  start: number,
  end: number,
): EventLine {
  for (const prefix of PREFIXES) {
    if (!startsWith(bytes, start, prefix.bytes) || bytes[end - 1] !== CLOSE_BRACE) continue;
    try {
      return lineOf(prefix.type, reader.read(bytes, start + prefix.bytes.length, end - 1));
    } catch {
      break; // parsed as a whole below, which says what is wrong with it
    }
  }
  const event = parseWatchEvent(request, bytes.subarray(start, end));
  return event.type === "BOOKMARK" ? event : lineOf(event.type, reader.readObject(event.object));
}

function lineOf(type: WatchEventType, read: ReturnType<ObjectReader["read"]>): EventLine {
  return isRefusal(read) ? { type: "REFUSED", reason: read.refused } : { type, incoming: read };
}
