import { DURATION, INT, STRING, TIMESTAMP } from "../types/type.js";
import { localTime } from "../values/time.js";
import { type Duration, Failure, type Timestamp } from "../values/value.js";
import { declare, type FunctionDeclaration, type Implementation, method, type Overload } from "./declaration.js";

const DAY_MS = 86_400_000;

/** Accessors of timestamps and durations. */
export const times: readonly FunctionDeclaration[] = [
  declare(
    "getFullYear",
    ofTimestamp("year", (date) => date.getUTCFullYear()),
  ),
  declare(
    "getMonth",
    ofTimestamp("month", (date) => date.getUTCMonth()),
  ),
  declare("getDayOfYear", ofTimestamp("day_of_year", dayOfYear)),
  declare(
    "getDayOfMonth",
    ofTimestamp("day_of_month", (date) => date.getUTCDate() - 1),
  ),
  declare(
    "getDate",
    ofTimestamp("day_of_month_1_based", (date) => date.getUTCDate()),
  ),
  declare(
    "getDayOfWeek",
    ofTimestamp("day_of_week", (date) => date.getUTCDay()),
  ),
  declare("getHours", [...ofTimestamp("hours", (date) => date.getUTCHours()), ofDuration("hours", 3_600_000_000_000n)]),
  declare("getMinutes", [
    ...ofTimestamp("minutes", (date) => date.getUTCMinutes()),
    ofDuration("minutes", 60_000_000_000n),
  ]),
  declare("getSeconds", [
    ...ofTimestamp("seconds", (date) => date.getUTCSeconds(), "timestamp_to_seconds_tz"),
    ofDuration("seconds", 1_000_000_000n),
  ]),
  declare("getMilliseconds", [
    ...ofTimestamp("milliseconds", (date) => date.getUTCMilliseconds()),
    ofDuration("milliseconds", 1_000_000n),
  ]),
];

function ofTimestamp(
  part: string,
  read: (date: Date) => number,
  zonedId = `timestamp_to_${part}_with_tz`,
): readonly Overload[] {
  const apply: Implementation = (time, zone) => {
    const date = localTime(time as Timestamp, zone as string | undefined);
    return date instanceof Failure ? date : BigInt(read(date));
  };
  return [method(`timestamp_to_${part}`, [TIMESTAMP], INT, apply), method(zonedId, [TIMESTAMP, STRING], INT, apply)];
}

function ofDuration(part: string, unit: bigint): Overload {
  return method(`duration_to_${part}`, [DURATION], INT, (value) => (value as Duration).nanos / unit);
}

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS);
}
