import type { Buffer } from "node:buffer";
import type { RequestSummary } from "../../client/request-summary.js";
import { parseWatchEvent } from "../../client/watch-stream.js";
import type { WatchEventType } from "../deltas.js";
import { startsWith } from "../store/scan.js";
import { type Incoming, isUnreadable, type ObjectDecoder, type Unreadable } from "./incoming.js";

/** One parsed line of a watch; valid until the next one is read. */
export type WatchLine =
  | { readonly type: WatchEventType; readonly incoming: Incoming }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  /** Not an object of the requested kind: report and skip it. */
  | { readonly type: "REFUSED"; readonly reason: string };

const TYPES = ["ADDED", "MODIFIED", "DELETED"] as const;
const PREFIXES = TYPES.map((type) => Uint8Array.from(`{"type":"${type}","object":`, (text) => text.charCodeAt(0)));
const CLOSE_BRACE = 0x7d;

/** Reads the lines of one watch. Results are reused, so that an event needs no new object. */
export class EventReader {
  readonly #request: RequestSummary;
  readonly #objects: ObjectDecoder;
  readonly #answers: { readonly type: WatchEventType; readonly incoming: Incoming }[];

  constructor(request: RequestSummary, objects: ObjectDecoder) {
    this.#request = request;
    this.#objects = objects;
    this.#answers = TYPES.map((type) => ({ type, incoming: objects.incoming }));
  }

  /**
   * Reads `bytes[start, end)` as a line. Throws an `ApiError` for an ERROR event, and `RESPONSE_INVALID` for a line
   * that is not an event.
   */
  read(bytes: Buffer, start: number, end: number): WatchLine {
    for (let type = 0; type < PREFIXES.length; type++) {
      const prefix = PREFIXES[type]!;
      if (!startsWith(bytes, start, prefix) || bytes[end - 1] !== CLOSE_BRACE) continue;
      try {
        return this.#answer(type, this.#objects.read(bytes, start + prefix.length, end - 1));
      } catch {
        break; // parsed as a whole below, which reports the error
      }
    }
    const event = parseWatchEvent(this.#request, bytes.subarray(start, end));
    if (event.type === "BOOKMARK") return event;
    return this.#answer(TYPES.indexOf(event.type), this.#objects.readObject(event.object));
  }

  #answer(type: number, read: Incoming | Unreadable): WatchLine {
    return isUnreadable(read) ? { type: "REFUSED", reason: read.refused } : this.#answers[type]!;
  }
}
