import { describe, expect, it } from "vitest";
import { type Duration, parseDuration } from "./duration.js";

describe("parseDuration", () => {
  it.each<[Duration, number]>([
    ["250ms", 250],
    ["10s", 10_000],
    ["1.5h", 5_400_000],
    ["5m", 300_000],
    ["0s", 0],
    [42, 42],
  ])("reads %s as %i ms", (duration, durationMs) => expect(parseDuration(duration)).toBe(durationMs));

  it.each(["10", "ten seconds", "-1s", "1e3s", "1s ", "", -1, Number.NaN, Number.POSITIVE_INFINITY])(
    "refuses %j and names the option",
    (duration) =>
      expect(() => parseDuration(duration as Duration, "timeout")).toThrow(
        expect.objectContaining({ code: "DURATION_INVALID", message: expect.stringContaining("timeout: ") }),
      ),
  );
});
