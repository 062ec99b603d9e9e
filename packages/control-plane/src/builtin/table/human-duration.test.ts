import { describe, expect, it } from "vitest";
import { humanDuration } from "./human-duration.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("ages", () => {
  it.each([
    [-2 * SECOND, "<invalid>"],
    [0, "0s"],
    [119 * SECOND, "119s"],
    [2 * MINUTE, "2m"],
    [9 * MINUTE + 5 * SECOND, "9m5s"],
    [61 * MINUTE, "61m"],
    [3 * HOUR, "3h"],
    [5 * HOUR + 3 * MINUTE, "5h3m"],
    [47 * HOUR, "47h"],
    [3 * DAY + 2 * HOUR, "3d2h"],
    [318 * DAY, "318d"],
    [800 * DAY, "2y70d"],
    [9 * 365 * DAY, "9y"],
  ])("%i ms is %s", (ms, text) => {
    expect(humanDuration(ms)).toBe(text);
  });
});
