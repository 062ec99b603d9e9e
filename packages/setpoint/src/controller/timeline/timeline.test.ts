import { describe, expect, it } from "vitest";
import { type RunRecord, Timeline } from "./timeline.js";

const run = (id: number, key = "team/a"): RunRecord => ({
  id,
  controller: "websites",
  kind: "web.example.com/v1/Website",
  key,
  uid: key,
  causes: [],
  action: "updated",
  waitedMs: 0,
  startedAt: "2026-01-01T00:00:00.000Z",
  durationMs: 1,
  attempt: 0,
  reads: [],
  writes: [],
  effects: [],
  outcome: "done",
});

describe("Timeline", () => {
  it("keeps the last runs, oldest first", () => {
    const timeline = new Timeline(3);
    for (let id = 1; id <= 5; id++) timeline.add(run(id));
    expect([...timeline.runs()].map(({ id }) => id)).toEqual([3, 4, 5]);
  });

  it("shows the runs of one object or controller", () => {
    const timeline = new Timeline();
    timeline.add(run(1));
    timeline.add(run(2, "team/b"));
    expect([...timeline.runs({ key: "team/b" })].map(({ id }) => id)).toEqual([2]);
    expect([...timeline.runs({ controller: "others" })]).toEqual([]);
  });

  it("notifies its subscribers of each run until they unsubscribe", () => {
    const timeline = new Timeline();
    const seen: number[] = [];
    const subscription = timeline.subscribe(({ id }) => void seen.push(id));
    timeline.add(run(timeline.nextId()));
    subscription[Symbol.dispose]();
    timeline.add(run(timeline.nextId()));
    expect(seen).toEqual([1]);
  });
});
