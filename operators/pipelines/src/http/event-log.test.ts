import { describe, expect, it } from "vitest";
import { EventLog } from "./event-log.js";

describe("the log of changes", () => {
  it("continues where a follower was cut off", () => {
    const log = new EventLog("a");
    log.add("changed", 1);
    const { lastId } = log;
    log.add("changed", 2);
    log.add("removed", 3);
    expect(log.since(lastId)?.map(({ data }) => data)).toEqual([2, 3]);
    expect(log.since(log.lastId)).toEqual([]);
  });

  it("does not continue for an id of another process, an invented one, or one that is too old", () => {
    const log = new EventLog("a");
    const first = log.lastId;
    for (let n = 0; n < 10_001; n++) log.add("changed", n);
    expect(log.since(first)).toBeUndefined();
    expect(log.since("b-1")).toBeUndefined();
    expect(log.since("a-99999")).toBeUndefined();
    expect(log.since("nonsense")).toBeUndefined();
    expect(log.since("a-1")).toHaveLength(10_000);
  });
});
