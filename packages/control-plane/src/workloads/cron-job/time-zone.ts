/** A local time. */
export interface WallClock {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekDay: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** The local time of a zone at a moment. Throws a `RangeError` for an unknown zone. */
export function timeZoneFields(timeZone: string): (atMs: number) => WallClock {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timeZone === "" ? "UTC" : timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (atMs) => {
    const parts = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
    const weekDay = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
    return { year, month, day, weekDay, hour, minute, second };
  };
}

/** RFC 3339 with the zone's offset: `2026-03-29T03:00:00+02:00`. */
export function formatInZone(atMs: number, timeZone: string): string {
  const { year, month, day, hour, minute, second } = timeZoneFields(timeZone)(atMs);
  const offset = Math.round((Date.UTC(year, month - 1, day, hour, minute, second) - atMs) / 60_000);
  const two = (value: number): string => String(Math.abs(Math.trunc(value))).padStart(2, "0");
  const zone = offset === 0 ? "Z" : `${offset < 0 ? "-" : "+"}${two(offset / 60)}:${two(offset % 60)}`;
  return `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}${zone}`;
}
