import { expect, it } from "vitest";
import { goDurationMs, goSeconds } from "./go-duration.js";

it.each([
  ["30s", 30],
  ["1m30.5s", 90.5],
  ["1.005s", 1.005],
  ["1h2m3s4ms5us6ns", 3723.004005006],
  [".5s", 0.5],
  ["1.1234567s", 1.1234567],
  ["-1.5h", -5400],
  ["0", 0],
])("%s has the same seconds as in Go", (text, seconds) => {
  expect(goSeconds(text)).toBe(seconds);
});

it("an invalid duration has none", () => {
  expect(["", "5", "s", "1d", "1 s"].map(goDurationMs)).toEqual(Array(5).fill(undefined));
});
