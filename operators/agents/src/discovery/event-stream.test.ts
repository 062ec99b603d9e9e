import { expect, it } from "vitest";
import { EventStreamReader } from "./event-stream.js";

it.each(["\n", "\r\n", "\r"])("events are the same wherever their text is cut, with lines that end in %j", (end) => {
  const lines = [
    "event: endpoint",
    "data: /messages",
    "",
    ": ping",
    "data: a",
    "data:b",
    "",
    "id: 1",
    "",
    "data",
    "",
    "",
  ];
  const text = lines.join(end);
  const expected = [
    { event: "endpoint", data: "/messages" },
    { event: "message", data: "a\nb" },
    { event: "message", data: "" },
  ];
  for (let size = 1; size <= text.length; size++) {
    const reader = new EventStreamReader();
    const events = [];
    for (let at = 0; at < text.length; at += size) events.push(...reader.push(text.slice(at, at + size)));
    // Only the next character shows whether a trailing \r is a complete line end.
    if (end === "\r") events.push(...reader.push(": more"));
    expect(events, `pieces of ${size}`).toEqual(expected);
  }
});
