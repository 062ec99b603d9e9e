import { PipelinesError } from "../errors.js";

/** A cron expression of five fields, or a name such as `@daily`, as the set of matching values of each field. */
export interface Cron {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** If days and weekdays are both restricted, a day matches if either does. */
  readonly hasDays: boolean;
  readonly hasWeekdays: boolean;
}

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly words?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: readonly Field[] = [
  { name: "minute", from: 0, to: 59 },
  { name: "hour", from: 0, to: 23 },
  { name: "day of the month", from: 1, to: 31 },
  { name: "month", from: 1, to: 12, words: MONTHS },
  // 7 is Sunday too.
  { name: "day of the week", from: 0, to: 7, words: WEEKDAYS },
];

const NAMED: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

const MINUTE_MS = 60_000;
/**
 * Search limit of 40 years. The calendar repeats every 28 years, or up to 40 across a century year that is not a leap
 * year. An expression without a match by then never matches.
 */
const LONGEST_DAYS = 366 * 40;

/** Throws `PIPELINES_FILE_INVALID` with the invalid field. */
export function parseCron(text: string): Cron {
  const fields = (NAMED[text.trim().toLowerCase()] ?? text).trim().split(/\s+/);
  if (fields.length !== FIELDS.length) {
    throw invalid(text, `it has ${fields.length} fields instead of 5: minute, hour, day, month, day of the week`);
  }
  const [minutes, hours, days, months, weekdays] = FIELDS.map((field, at) => valuesOf(fields[at]!, field, text));
  return {
    minutes: minutes!,
    hours: hours!,
    days: days!,
    months: months!,
    weekdays: new Set([...weekdays!].map((day) => day % 7)),
    hasDays: !/^[*?]/.test(fields[2]!),
    hasWeekdays: !/^[*?]/.test(fields[4]!),
  };
}

function valuesOf(text: string, field: Field, whole: string): Set<number> {
  const found = new Set<number>();
  for (const part of text.split(",")) {
    const match = /^(?:([*?])|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(part);
    if (!match) throw invalid(whole, `${JSON.stringify(part)} is not a ${field.name}`);
    const [, star, first, last, step] = match;
    const from = star ? field.from : numberOf(first!, field, whole);
    const to = star || (step && !last) ? field.to : last ? numberOf(last, field, whole) : from;
    const by = step ? Number(step) : 1;
    if (by === 0 || from > to) throw invalid(whole, `${JSON.stringify(part)} is not a range of the ${field.name}`);
    for (let value = from; value <= to; value += by) found.add(value);
  }
  return found;
}

function numberOf(text: string, { name, from, to, words }: Field, whole: string): number {
  const word = words?.indexOf(text.slice(0, 3).toLowerCase()) ?? -1;
  const value = word >= 0 ? word + (from === 1 ? 1 : 0) : Number(text);
  if (Number.isInteger(value) && value >= from && value <= to) return value;
  throw invalid(whole, `${JSON.stringify(text)} is not a ${name} between ${from} and ${to}`);
}

function invalid(text: string, why: string): PipelinesError {
  return new PipelinesError("PIPELINES_FILE_INVALID", `cron ${JSON.stringify(text)}: ${why}`);
}

/**
 * The first matching minute after a time; undefined if there is none. A time in an hour that the time zone skips moves
 * to the end of the gap. A time in an hour that occurs twice matches once. An expression for every hour ignores the gap
 * and matches both hours.
 */
export function nextCron(cron: Cron, afterMs: number, timeZone = "UTC"): number | undefined {
  const zone = zoneOf(timeZone);
  const local = zone.localOf(afterMs);
  const day = new Date(Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()));
  // Start one day earlier: times in an hour that is skipped at midnight may move to the next day.
  day.setUTCDate(day.getUTCDate() - 1);
  for (let count = 0; count < LONGEST_DAYS; count++) {
    if (matchesDay(cron, day)) {
      const next = firstOfDay(cron, day.getTime(), afterMs, zone);
      if (next !== undefined) return next;
    }
    day.setUTCDate(day.getUTCDate() + 1);
  }
  return undefined;
}

function matchesDay({ months, days, weekdays, hasDays, hasWeekdays }: Cron, day: Date): boolean {
  if (!months.has(day.getUTCMonth() + 1)) return false;
  const isDay = days.has(day.getUTCDate());
  const isWeekday = weekdays.has(day.getUTCDay());
  return hasDays && hasWeekdays ? isDay || isWeekday : isDay && isWeekday;
}

function firstOfDay({ hours, minutes }: Cron, dayMs: number, afterMs: number, zone: Zone): number | undefined {
  const isEveryHour = hours.size === 24;
  const offset = zone.steadyOffset(dayMs);
  let first: number | undefined;
  const consider = (at: number): void => {
    if (at > afterMs && (first === undefined || at < first)) first = at;
  };
  for (const hour of hours) {
    for (const minute of minutes) {
      if (offset !== undefined) {
        consider(dayMs + (hour * 60 + minute) * MINUTE_MS - offset);
        continue;
      }
      const times = zone.timesOf(dayMs + (hour * 60 + minute) * MINUTE_MS);
      if (times.length === 0) {
        if (!isEveryHour) consider(zone.afterGap(dayMs + (hour * 60 + minute) * MINUTE_MS));
      } else for (const at of isEveryHour ? times : times.slice(0, 1)) consider(at);
    }
  }
  return first;
}

/** Converts between instants and wall times of a time zone. A wall time is in milliseconds, as if it were UTC. */
interface Zone {
  localOf(ms: number): Date;
  /** The UTC offset that holds all day; undefined near a clock change. */
  steadyOffset(dayMs: number): number | undefined;
  /** The instants with this wall time: none in a gap, two in an hour that occurs twice. */
  timesOf(wallMs: number): readonly number[];
  /** The instant at which the gap around this wall time ends. */
  afterGap(wallMs: number): number;
}

const DAY_MS = 86_400_000;

function zoneOf(timeZone: string): Zone {
  const format = formatOf(timeZone);
  const offsetOf = (ms: number): number => {
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(ms)) parts[type] = Number(value);
    const { year, month, day, hour, minute, second } = parts as Readonly<Record<string, number>>;
    const wallMs = Date.UTC(year!, month! - 1, day!, hour! % 24, minute!, second!);
    return wallMs - Math.floor(ms / 1_000) * 1_000;
  };
  const offsetsAround = (wallMs: number) => new Set([offsetOf(wallMs - DAY_MS), offsetOf(wallMs + DAY_MS)]);
  return {
    localOf: (ms) => new Date(ms + offsetOf(ms)),
    steadyOffset: (dayMs) => {
      const offset = offsetOf(dayMs - DAY_MS);
      return offset === offsetOf(dayMs + 2 * DAY_MS) ? offset : undefined;
    },
    timesOf: (wallMs) =>
      [...offsetsAround(wallMs)]
        .map((offset) => wallMs - offset)
        .filter((ms) => ms + offsetOf(ms) === wallMs)
        .sort((left, right) => left - right),
    afterGap: (wallMs) => {
      // The clock change lies between the two instants that the wall time could mean. Find it by bisection.
      const [early, late] = [...offsetsAround(wallMs)].map((offset) => wallMs - offset).sort((a, b) => a - b);
      let [low, high] = [early! - MINUTE_MS, late! + MINUTE_MS];
      const before = offsetOf(low);
      while (high - low > MINUTE_MS) {
        const middle = Math.floor((low + high) / 2 / MINUTE_MS) * MINUTE_MS;
        if (offsetOf(middle) === before) low = middle;
        else high = middle;
      }
      return Math.ceil(high / MINUTE_MS) * MINUTE_MS;
    },
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch (cause) {
    throw new PipelinesError("PIPELINES_FILE_INVALID", `unknown time zone ${JSON.stringify(timeZone)}`, { cause });
  }
}
