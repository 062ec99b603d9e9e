import { describe, expect, it } from "vitest";
import { parseSchedule } from "./schedule.js";
import { formatInZone } from "./time-zone.js";

const at = (text: string): number => Date.parse(text);
const following = (schedule: string, after: string, count: number, zone = "UTC"): readonly string[] => {
  const next = parseSchedule(schedule, zone);
  const found: string[] = [];
  for (let ms = at(after); found.length < count; ) {
    ms = next(ms) ?? Number.NaN;
    found.push(formatInZone(ms, zone));
  }
  return found;
};

describe("a schedule", () => {
  it.each([
    ["* * * * *", ["2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z"]],
    ["*/15 3 * * *", ["2026-01-01T03:00:00Z", "2026-01-01T03:15:00Z"]],
    ["0 0 29 2 *", ["2028-02-29T00:00:00Z"]],
    [
      "30 6-16/4 * * mon-fri",
      ["2026-01-01T06:30:00Z", "2026-01-01T10:30:00Z", "2026-01-01T14:30:00Z", "2026-01-02T06:30:00Z"],
    ],
    ["0 12 13 * 5", ["2026-01-02T12:00:00Z", "2026-01-09T12:00:00Z", "2026-01-13T12:00:00Z"]],
    ["@hourly", ["2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z"]],
    ["@every 90s", ["2026-01-01T00:01:30Z", "2026-01-01T00:03:00Z"]],
  ])("%s comes next at the right times", (schedule, expected) => {
    expect(following(schedule, "2026-01-01T00:00:00Z", expected.length)).toEqual(expected);
  });

  it("follows its time zone, also when daylight saving changes", () => {
    expect(following("30 2 * * *", "2026-03-27T12:00:00Z", 3, "Europe/Berlin")).toEqual([
      "2026-03-28T02:30:00+01:00",
      "2026-03-30T02:30:00+02:00",
      "2026-03-31T02:30:00+02:00",
    ]);
  });

  it("has no next time on a day that does not exist", () => {
    expect(parseSchedule("59 23 31 2 *", "UTC")(at("2026-01-01T00:00:00Z"))).toBeUndefined();
  });

  it.each([
    ["* * * *", "expected exactly 5 fields, found 4"],
    ["60 * * * *", "end of range (60) above maximum (59)"],
    ["* * 0 * *", "beginning of range (0) below minimum (1)"],
    ["5-1 * * * *", "beyond end of range"],
    ["*/0 * * * *", "step of range should be a positive number"],
    ["x * * * *", "failed to parse int from x"],
    ["@every soon", "failed to parse duration"],
  ])("refuses %s", (schedule, message) => {
    expect(() => parseSchedule(schedule, "UTC")).toThrow(message);
  });

  it("refuses an unknown time zone", () => {
    expect(() => parseSchedule("* * * * *", "Moon/Base")).toThrow(RangeError);
  });
});
