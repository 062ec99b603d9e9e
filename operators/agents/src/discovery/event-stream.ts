/** One event of a text/event-stream. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

/** Parses events incrementally. It has no limit of its own: the caller limits the size of the whole answer. */
export class EventStreamReader {
  /** Pieces of the incomplete line. Joined only once, because a line may have megabytes. */
  #line: string[] = [];
  /** A trailing `\r`, which may be the first half of `\r\n`. */
  #held = "";
  #event = "";
  #data: string[] = [];

  /** Returns the events that this text completes. */
  push(text: string): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = (this.#held + text).split(/\r\n|\n|\r(?!$)/);
    const last = lines.pop()!;
    this.#held = last.endsWith("\r") ? "\r" : "";
    if (lines.length > 0) {
      lines[0] = this.#line.join("") + lines[0];
      this.#line = [];
    }
    this.#line.push(this.#held === "" ? last : last.slice(0, -1));
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
