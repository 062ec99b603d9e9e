/** One event of a text/event-stream. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

/** Reads the events of a stream as its text arrives. A text without an end is cut by the limit on the whole answer. */
export class EventStreamReader {
  #rest = "";
  #event = "";
  #data: string[] = [];

  /** The events that are complete with this text. */
  push(text: string): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop()!;
    for (const line of lines) {
      if (line === "") {
        if (this.#data.length > 0) events.push({ event: this.#event || "message", data: this.#data.join("\n") });
        this.#event = "";
        this.#data = [];
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") this.#event = value;
      else if (field === "data") this.#data.push(value);
    }
    return events;
  }
}
