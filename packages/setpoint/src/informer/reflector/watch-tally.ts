import type { WatchEventType } from "../deltas.js";

/** Why an event of a watch was not used. */
export type WatchErrorType =
  /** The server ended the stream with an error. */
  | "error_event"
  /** An object of another kind, or without a name. */
  | "translation_error"
  /** A line that is not an event. */
  | "unparseable_object";

/** What the watches of a kind have delivered so far: plain numbers, because every event counts. For metrics. */
export interface WatchTally {
  readonly events: Record<WatchEventType | "BOOKMARK", number>;
  readonly errors: Record<WatchErrorType, number>;
}

export function watchTally(): WatchTally {
  return {
    events: { ADDED: 0, MODIFIED: 0, DELETED: 0, BOOKMARK: 0 },
    errors: { error_event: 0, translation_error: 0, unparseable_object: 0 },
  };
}
