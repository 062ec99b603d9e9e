import { SetpointError } from "setpoint";
import { timeZoneFields } from "./time-zone.js";

/** Returns the first due time after a given time, in milliseconds. Undefined if there is none within five years. */
export type Schedule = (afterMs: number) => number | undefined;

interface Field {
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
}

const MINUTE_MS = 60_000;
const YEARS_MS = 5 * 366 * 24 * 60 * MINUTE_MS;
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: readonly Field[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: MONTHS },
  { least: 0, most: 6, names: DAYS },
];

const DESCRIPTORS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/**
 * Parses a schedule of five fields, or a descriptor, in a time zone. Throws an `Error` that names an invalid field,
 * and a `RangeError` for an unknown zone.
 */
export function parseSchedule(text: string, timeZone: string): Schedule {
  const every = /^@every (.+)$/.exec(text);
  if (every) return everySchedule(goDuration(every[1]!));
  const fields = (DESCRIPTORS[text] ?? text).trim().split(/\s+/);
  if (fields.length !== FIELDS.length) {
    throw new SetpointError(
      "CRON_SCHEDULE_INVALID",
      `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`,
    );
  }
  const [minutes, hours, monthDays, months, weekDays] = fields.map((field, at) => parseField(field, FIELDS[at]!)) as [
    ParsedField,
    ParsedField,
    ParsedField,
    ParsedField,
    ParsedField,
  ];
  const fieldsAt = timeZoneFields(timeZone);
  /** If either day field is `*`, both must match. Otherwise one match is enough. */
  const isDay = (day: number, weekDay: number): boolean => {
    const [byMonth, byWeek] = [monthDays.values.has(day), weekDays.values.has(weekDay)];
    return monthDays.isAny || weekDays.isAny ? byMonth && byWeek : byMonth || byWeek;
  };
  return (afterMs) => {
    let atMs = Math.floor(afterMs / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
    const endMs = afterMs + YEARS_MS;
    while (atMs <= endMs) {
      const { month, day, weekDay, hour, minute } = fieldsAt(atMs);
      if (!months.values.has(month) || !isDay(day, weekDay)) atMs += ((23 - hour) * 60 + (60 - minute)) * MINUTE_MS;
      else if (!hours.values.has(hour)) atMs += (60 - minute) * MINUTE_MS;
      else if (!minutes.values.has(minute)) atMs += MINUTE_MS;
      else return atMs;
    }
    return undefined;
  };
}

interface ParsedField {
  readonly values: ReadonlySet<number>;
  readonly isAny: boolean;
}

function parseField(text: string, field: Field): ParsedField {
  const values = new Set<number>();
  let isAny = false;
  for (const part of text.split(",")) {
    const [range = "", step, ...more] = part.split("/");
    if (more.length > 0) throw new SetpointError("CRON_SCHEDULE_INVALID", `too many slashes: ${part}`);
    const isStar = range === "*" || range === "?";
    const [from, to] = isStar ? [field.least, field.most] : bounds(range, field, step !== undefined);
    const by = step === undefined ? 1 : number(step);
    if (by === 0)
      throw new SetpointError("CRON_SCHEDULE_INVALID", `step of range should be a positive number: ${part}`);
    if (isStar && by === 1) isAny = true;
    if (from < field.least)
      throw new SetpointError(
        "CRON_SCHEDULE_INVALID",
        `beginning of range (${from}) below minimum (${field.least}): ${part}`,
      );
    if (to > field.most)
      throw new SetpointError("CRON_SCHEDULE_INVALID", `end of range (${to}) above maximum (${field.most}): ${part}`);
    if (from > to)
      throw new SetpointError(
        "CRON_SCHEDULE_INVALID",
        `beginning of range (${from}) beyond end of range (${to}): ${part}`,
      );
    for (let value = from; value <= to; value += by) values.add(value);
  }
  return { values, isAny };
}

function bounds(range: string, field: Field, hasStep: boolean): readonly [number, number] {
  const [first = "", last, ...more] = range.split("-");
  if (more.length > 0) throw new SetpointError("CRON_SCHEDULE_INVALID", `too many hyphens: ${range}`);
  const from = named(first, field);
  if (last !== undefined) return [from, named(last, field)];
  return [from, hasStep ? field.most : from];
}

function named(text: string, { names, least }: Field): number {
  const at = names?.indexOf(text.toLowerCase()) ?? -1;
  return at < 0 ? number(text) : at + (names === MONTHS ? least : 0);
}

function number(text: string): number {
  if (!/^\d+$/.test(text)) throw new SetpointError("CRON_SCHEDULE_INVALID", `failed to parse int from ${text}`);
  return Number(text);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: MINUTE_MS, h: 60 * MINUTE_MS };

function goDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text) {
    throw new SetpointError("CRON_SCHEDULE_INVALID", `failed to parse duration @every ${text}`);
  }
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS[unit!]!, 0);
}

/** Whole seconds, at least one. */
function everySchedule(intervalMs: number): Schedule {
  const seconds = Math.max(1, Math.floor(intervalMs / 1_000));
  return (afterMs) => Math.floor(afterMs / 1_000) * 1_000 + seconds * 1_000;
}
