import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextCron, parseCron } from "./cron.js";

const at = (text: string): number => Date.parse(text);
const next = (cron: string, after: string, zone?: string): string | undefined => {
  const time = nextCron(parseCron(cron), at(after), zone);
  return time === undefined ? undefined : new Date(time).toISOString().replace(".000Z", "Z");
};

describe("nextCron", () => {
  it.each([
    ["*/15 * * * *", "2024-01-01T00:00:00Z", "2024-01-01T00:15:00Z"],
    ["0 0 * * *", "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"],
    ["@hourly", "2024-01-01T00:59:59Z", "2024-01-01T01:00:00Z"],
    ["30 9 * * mon-fri", "2024-01-05T10:00:00Z", "2024-01-08T09:30:00Z"],
    ["0 0 31 * *", "2024-04-01T00:00:00Z", "2024-05-31T00:00:00Z"],
    ["0 0 29 feb *", "2024-03-01T00:00:00Z", "2028-02-29T00:00:00Z"],
    ["0 0 13 * 5", "2024-01-01T00:00:00Z", "2024-01-05T00:00:00Z"],
    ["0 12 * * 7", "2024-01-01T00:00:00Z", "2024-01-07T12:00:00Z"],
  ])("finds the time of %s after %s", (cron, after, expected) => expect(next(cron, after)).toBe(expected));

  it("never comes for a day that no month has", () =>
    expect(next("0 0 30 2 *", "2024-01-01T00:00:00Z")).toBeUndefined());

  it("follows daylight saving time of a time zone", () => {
    expect(next("0 9 * * *", "2024-07-01T00:00:00Z", "America/New_York")).toBe("2024-07-01T13:00:00Z");
    expect(next("0 9 * * *", "2024-01-01T00:00:00Z", "Asia/Kolkata")).toBe("2024-01-01T03:30:00Z");
  });

  it("runs at the end of a skipped hour, and once in a repeated one", () => {
    expect(next("30 2 * * *", "2024-03-30T12:00:00Z", "Europe/Berlin")).toBe("2024-03-31T01:00:00Z");
    expect(next("30 2 * * *", "2024-03-31T01:00:00Z", "Europe/Berlin")).toBe("2024-04-01T00:30:00Z");
    expect(next("30 2 * * *", "2024-10-26T12:00:00Z", "Europe/Berlin")).toBe("2024-10-27T00:30:00Z");
    expect(next("30 2 * * *", "2024-10-27T00:30:00Z", "Europe/Berlin")).toBe("2024-10-28T01:30:00Z");
    expect(next("30 * * * *", "2024-10-27T00:30:00Z", "Europe/Berlin")).toBe("2024-10-27T01:30:00Z");
    expect(next("30 * * * *", "2024-03-31T00:30:00Z", "Europe/Berlin")).toBe("2024-03-31T01:30:00Z");
  });

  it.each([
    "",
    "* * * *",
    "60 * * * *",
    "* 24 * * *",
    "* * 0 * *",
    "* * * 13 *",
    "* * * * 8",
    "*/0 * * * *",
    "5-1 * * * *",
    "x * * * *",
  ])("refuses %j and says what is wrong", (cron) =>
    expect(() => parseCron(cron)).toThrow(
      expect.objectContaining({ code: "PIPELINES_FILE_INVALID", message: expect.stringContaining("cron ") }),
    ),
  );

  it("refuses an unknown time zone", () =>
    expect(() => next("* * * * *", "2024-01-01T00:00:00Z", "Mars/Base")).toThrow("Mars/Base"));

  it("agrees with a plain search for the next matching minute, in zones without daylight saving time", () => {
    const field = (from: number, to: number) =>
      fc.oneof(
        fc.constant("*"),
        fc.integer({ min: from, max: to }).map(String),
        fc.integer({ min: 2, max: 9 }).map((step) => `*/${step}`),
      );
    const cron = fc
      .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6))
      .map((fields) => fields.join(" "));
    fc.assert(
      fc.property(cron, fc.integer({ min: 0, max: 3_000_000 }), (text, minute) => {
        const parsed = parseCron(text);
        const afterMs = at("2023-01-01T00:00:00Z") + minute * 60_000;
        const found = nextCron(parsed, afterMs, "UTC")!;
        expect(found).toBeGreaterThan(afterMs);
        const matches = (ms: number): boolean => {
          const time = new Date(ms);
          const isDay = parsed.days.has(time.getUTCDate());
          const isWeekday = parsed.weekdays.has(time.getUTCDay());
          return (
            parsed.minutes.has(time.getUTCMinutes()) &&
            parsed.hours.has(time.getUTCHours()) &&
            parsed.months.has(time.getUTCMonth() + 1) &&
            (parsed.hasDays && parsed.hasWeekdays ? isDay || isWeekday : isDay && isWeekday)
          );
        };
        expect(matches(found)).toBe(true);
        const limit = Math.min(found, afterMs + 2_000 * 60_000);
        for (let ms = afterMs + 60_000; ms < limit; ms += 60_000) expect(matches(ms)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it("advances, and for a daily time never by more than a day and an hour, in every zone", () => {
    const zone = fc.constantFrom(
      "Europe/Berlin",
      "America/Sao_Paulo",
      "Australia/Lord_Howe",
      "Asia/Kathmandu",
      "Pacific/Apia",
      "UTC",
    );
    fc.assert(
      fc.property(
        zone,
        fc.integer({ min: 0, max: 23 }),
        fc.integer({ min: 0, max: 59 }),
        fc.integer({ min: 0, max: 4_000 }),
        (name, hour, minute, day) => {
          const parsed = parseCron(`${minute} ${hour} * * *`);
          let time = at("2012-06-01T00:00:00Z") + day * 86_400_000;
          for (let count = 0; count < 3; count++) {
            const following = nextCron(parsed, time, name)!;
            expect(following).toBeGreaterThan(time);
            expect(following - time).toBeLessThanOrEqual(25 * 3_600_000);
            time = following;
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
