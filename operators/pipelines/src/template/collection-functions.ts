import { PipelinesError } from "../errors.js";
import { formattedDate } from "./format.js";
import { compared, isEqual, isTrue, numberOf, type TemplateFunction, textOf, typeName, UNKNOWN } from "./value.js";

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null) return [];
  throw new PipelinesError("PIPELINES_FILE_INVALID", `needs a list, not ${typeName(value)}`);
}

function mapOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  if (value === undefined || value === null) return {};
  throw new PipelinesError("PIPELINES_FILE_INVALID", `needs a map, not ${typeName(value)}`);
}

function sequence(from: number, to: number, step: number): readonly number[] {
  if (step === 0) throw new PipelinesError("PIPELINES_FILE_INVALID", "the step is zero");
  const length = Math.max(0, Math.ceil((to - from) / step));
  if (length > 1_000_000) throw new PipelinesError("PIPELINES_FILE_INVALID", "the list has more than a million items");
  return Array.from({ length }, (_, index) => from + index * step);
}

function lengthOf(value: unknown): number {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return Object.keys(mapOf(value)).length;
}

function indexed(value: unknown, keys: readonly unknown[]): unknown {
  let result = value;
  for (const key of keys) {
    if (Array.isArray(result)) {
      if (typeof key !== "number" || key < 0 || key >= result.length)
        throw new PipelinesError(
          "PIPELINES_FILE_INVALID",
          `${textOf(key)} is out of range for a list of ${result.length}`,
        );
      result = result[key];
    } else {
      const map = mapOf(result);
      result = Object.hasOwn(map, textOf(key)) ? map[textOf(key)] : undefined;
    }
  }
  return result;
}

const fromJson = (text: unknown): unknown => JSON.parse(textOf(text));
const without = (list: unknown, values: readonly unknown[]) =>
  listOf(list).filter((item) => !values.some((value) => isEqual(item, value)));

export const listFunctions: Readonly<Record<string, TemplateFunction>> = {
  list: (values) => values,
  len: ([value]) => lengthOf(value),
  index: ([value, ...keys]) => indexed(value, keys),
  slice: ([value, from, to]) =>
    (typeof value === "string" ? value : listOf(value)).slice(
      numberOf(from ?? 0),
      to === undefined ? undefined : numberOf(to),
    ),
  first: ([list]) => listOf(list)[0],
  last: ([list]) => listOf(list).at(-1),
  rest: ([list]) => listOf(list).slice(1),
  initial: ([list]) => listOf(list).slice(0, -1),
  append: ([list, value]) => [...listOf(list), value],
  prepend: ([list, value]) => [value, ...listOf(list)],
  concat: (lists) => lists.flatMap(listOf),
  reverse: ([list]) => [...listOf(list)].reverse(),
  uniq: ([list]) => listOf(list).filter((item, at, all) => all.findIndex((other) => isEqual(item, other)) === at),
  compact: ([list]) => listOf(list).filter(isTrue),
  has: ([value, list]) => listOf(list).some((item) => isEqual(item, value)),
  without: ([list, ...values]) => without(list, values),
  sortAlpha: ([list]) => listOf(list).map(textOf).sort(compared),
  toStrings: ([list]) => listOf(list).map(textOf),
  join: ([separator, list]) => (Array.isArray(list) ? list : [list]).map(textOf).join(textOf(separator)),
  splitList: ([separator, text]) => textOf(text).split(textOf(separator)),
  split: ([separator, text]) =>
    Object.fromEntries(
      textOf(text)
        .split(textOf(separator))
        .map((part, at) => [`_${at}`, part]),
    ),
  until: ([count]) => sequence(0, numberOf(count), 1),
  untilStep: ([from, to, step]) => sequence(numberOf(from), numberOf(to), numberOf(step)),
};

export const mapFunctions: Readonly<Record<string, TemplateFunction>> = {
  dict: (values) => Object.fromEntries(sequence(0, values.length, 2).map((at) => [textOf(values[at]), values[at + 1]])),
  get: ([map, key]) => indexed(mapOf(map), [key]) ?? "",
  set: ([map, key, value]) => ({ ...mapOf(map), [textOf(key)]: value }),
  hasKey: ([map, key]) => Object.hasOwn(mapOf(map), textOf(key)),
  keys: (maps) => maps.flatMap((map) => Object.keys(mapOf(map))),
  values: ([map]) => Object.values(mapOf(map)),
  pick: ([map, ...keys]) => Object.fromEntries(Object.entries(mapOf(map)).filter(([key]) => keys.includes(key))),
  omit: ([map, ...keys]) => Object.fromEntries(Object.entries(mapOf(map)).filter(([key]) => !keys.includes(key))),
  merge: (maps) => Object.assign({}, ...[...maps].reverse().map(mapOf)),
  toJson: ([value]) => JSON.stringify(value ?? null),
  toPrettyJson: ([value]) => JSON.stringify(value ?? null, null, 2),
  fromJson: ([text]) => fromJson(text),
};

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function dateOf(value: unknown): Date {
  const date = value instanceof Date ? value : new Date(typeof value === "number" ? value * 1000 : textOf(value));
  if (Number.isNaN(date.getTime()))
    throw new PipelinesError("PIPELINES_FILE_INVALID", `${JSON.stringify(value)} is not a date`);
  return date;
}

/** Adds a duration such as `-1.5h` or `1h30m` to a date. */
function moved(duration: string, date: Date): Date {
  if (!/^[-+]?(\d+(\.\d+)?(ms|s|m|h))+$/.test(duration))
    throw new PipelinesError("PIPELINES_FILE_INVALID", `${JSON.stringify(duration)} is not a duration`);
  const parts = duration.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g);
  const length = [...parts].reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0);
  return new Date(date.getTime() + (duration.startsWith("-") ? -length : length));
}

export function dateFunctions(now: Date | undefined): Readonly<Record<string, TemplateFunction>> {
  return {
    now: () => now ?? UNKNOWN,
    date: ([layout, value]) => formattedDate(textOf(layout), dateOf(value)),
    dateInZone: ([layout, value, zone]) => formattedDate(textOf(layout), dateOf(value), textOf(zone)),
    dateModify: ([duration, value]) => moved(textOf(duration), dateOf(value)),
    date_modify: ([duration, value]) => moved(textOf(duration), dateOf(value)),
    toDate: ([, text]) => dateOf(text),
    unixEpoch: ([value]) => String(Math.floor(dateOf(value).getTime() / 1000)),
  };
}
