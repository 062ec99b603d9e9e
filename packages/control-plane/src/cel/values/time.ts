import { durationNanos } from "../../schema/go-time.js";
import { Duration, Failure, Timestamp } from "./value.js";

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9})\d*)?(?:Z|([+-])(\d{2}):(\d{2}))$/;
const SECOND = 1_000_000_000n;
const FIRST = -62135596800n;
const LAST = 253402300799n;
const OVERFLOW = new Failure("timestamp overflow");

/** Parses a time; undefined for text that is not one. */
export function parseTimestamp(text: string): Timestamp | Failure | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const isReal = month >= 1 && month <= 12 && day >= 1 && hour < 24 && minute < 60 && second < 60;
  if (!isReal || day > new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()) return undefined;
  const [, , , , , , , fraction = "", sign, zoneHour = "0", zoneMinute = "0"] = match;
  if (Number(zoneHour) > 24 || Number(zoneMinute) >= 60) return undefined;
  const offset = (sign === "-" ? -1 : 1) * (Number(zoneHour) * 60 + Number(zoneMinute));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const seconds = BigInt(date.getTime() / 1000 - offset * 60);
  return timestamp(seconds * SECOND + BigInt(fraction.padEnd(9, "0")), offset);
}

/** Fails outside the years 1 to 9999. */
export function timestamp(nanos: bigint, offsetMinutes = 0): Timestamp | Failure {
  const seconds = floorDivided(nanos, SECOND);
  return seconds < FIRST || seconds > LAST ? OVERFLOW : new Timestamp(nanos, offsetMinutes);
}

export function formatTimestamp({ nanos, offsetMinutes }: Timestamp): string {
  const seconds = floorDivided(nanos, SECOND);
  const local = new Date((Number(seconds) + offsetMinutes * 60) * 1000);
  const date = `${String(local.getUTCFullYear()).padStart(4, "0")}${local.toISOString().slice(-20, -5)}`;
  const fraction = String(nanos - seconds * SECOND)
    .padStart(9, "0")
    .replace(/0+$/, "");
  const zone = offsetMinutes === 0 ? "Z" : formatOffset(offsetMinutes);
  return `${date}${fraction === "" ? "" : `.${fraction}`}${zone}`;
}

function formatOffset(minutes: number): string {
  const size = Math.abs(minutes);
  const part = (value: number): string => String(Math.trunc(value)).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${part(size / 60)}:${part(size % 60)}`;
}

/** Parses a duration; undefined for text that is not one. */
export function parseDuration(text: string): Duration | undefined {
  try {
    const nanos = durationNanos(text);
    return BigInt.asIntN(64, nanos) === nanos ? new Duration(nanos) : undefined;
  } catch {
    return undefined;
  }
}

export function duration(nanos: bigint): Duration | Failure {
  return BigInt.asIntN(64, nanos) === nanos ? new Duration(nanos) : new Failure("duration overflow");
}

/** Date and time in a zone: an offset (`+02:00`) or an IANA name. */
export function localTime({ nanos }: Timestamp, zone: string | undefined): Date | Failure {
  const ms = Number(floorDivided(nanos, 1_000_000n));
  if (zone === undefined) return new Date(ms);
  const offset = /^([+-]?\d+):(\d+)$/.exec(zone);
  if (offset !== null) {
    const hours = Number(offset[1]);
    const minutes = zone.startsWith("-") ? hours * 60 - Number(offset[2]) : hours * 60 + Number(offset[2]);
    return new Date(ms + minutes * 60_000);
  }
  return namedZone(ms, zone === "" ? "UTC" : zone) ?? new Failure(`unknown time zone ${zone}`);
}

function namedZone(ms: number, timeZone: string): Date | undefined {
  try {
    const parts = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    }).formatToParts(ms);
    const part = (type: string): number => Number(parts.find((each) => each.type === type)!.value);
    const date = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
    return new Date(date + (((ms % 1000) + 1000) % 1000));
  } catch {
    return undefined;
  }
}

export function floorDivided(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}
