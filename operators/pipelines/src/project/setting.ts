import { faultAt } from "./problem-error.js";
import type { Place, SourceText } from "./source-text.js";
import { didYouMean } from "./suggestion.js";

/** A value of a YAML file or of an annotation, with its place. */
export type Setting = { readonly place: Place } & (
  | { readonly type: "scalar"; readonly value: string | number | boolean | null; readonly text: SourceText }
  | { readonly type: "list"; readonly items: readonly Setting[] }
  | { readonly type: "map"; readonly entries: ReadonlyMap<string, SettingEntry> }
);

export interface SettingEntry {
  readonly key: Place;
  readonly value: Setting;
}

export type SettingMap = Setting & { readonly type: "map" };

export function emptyMap(place: Place): SettingMap {
  return { type: "map", place, entries: new Map() };
}

/** Merges two layers; `over` wins. Maps are merged key by key, any other value is replaced. */
export function merged(base: SettingMap, over: SettingMap): SettingMap {
  const entries = new Map(base.entries);
  for (const [key, entry] of over.entries) {
    const below = entries.get(key)?.value;
    const value = below?.type === "map" && entry.value.type === "map" ? merged(below, entry.value) : entry.value;
    entries.set(key, { key: entry.key, value });
  }
  return { ...over, entries };
}

/** The value as plain JSON. */
export function plain(setting: Setting): unknown {
  if (setting.type === "scalar") return setting.value;
  if (setting.type === "list") return setting.items.map(plain);
  return Object.fromEntries([...setting.entries].map(([key, { value }]) => [key, plain(value)]));
}

/** All texts in a setting, at any depth. */
export function textsIn(setting: Setting): readonly SourceText[] {
  if (setting.type === "scalar") return typeof setting.value === "string" ? [setting.text] : [];
  if (setting.type === "list") return setting.items.flatMap(textsIn);
  return [...setting.entries.values()].flatMap(({ value }) => textsIn(value));
}

function kindOf(setting: Setting): string {
  if (setting.type !== "scalar") return setting.type === "list" ? "a list" : "a map";
  return setting.value === null
    ? "nothing"
    : typeof setting.value === "string"
      ? "a text"
      : `a ${typeof setting.value}`;
}

/** The error for a value whose type the key does not take. */
export function wrongType(key: string, setting: Setting, wanted: string): Error {
  return faultAt(setting.place, `${key} must be ${wanted}, not ${kindOf(setting)}`);
}

/** The value of a key; undefined if it is missing or null. */
export function settingAt(map: SettingMap, key: string): Setting | undefined {
  const value = map.entries.get(key)?.value;
  return value?.type === "scalar" && value.value === null ? undefined : value;
}

export function mapAt(map: SettingMap, key: string): SettingMap | undefined {
  const value = settingAt(map, key);
  if (value && value.type !== "map") throw wrongType(key, value, "a map");
  return value;
}

/** A list. A single value counts as a list of one. */
export function listAt(map: SettingMap, key: string): readonly Setting[] {
  const value = settingAt(map, key);
  if (value?.type === "map") throw wrongType(key, value, "a list");
  return value === undefined ? [] : value.type === "list" ? value.items : [value];
}

/** A text with its place. Numbers and booleans become texts as they are written. */
export function textAt(map: SettingMap, key: string): SourceText | undefined {
  const value = settingAt(map, key);
  return value && textOfSetting(key, value);
}

export function textOfSetting(key: string, value: Setting): SourceText {
  if (value.type !== "scalar") throw wrongType(key, value, "a text");
  return value.text;
}

export function textsAt(map: SettingMap, key: string): readonly string[] {
  return listAt(map, key).map((item) => textOfSetting(key, item).text);
}

export function booleanAt(map: SettingMap, key: string): boolean | undefined {
  const value = settingAt(map, key);
  if (value === undefined) return undefined;
  if (value.type === "scalar" && typeof value.value === "boolean") return value.value;
  if (value.type === "scalar" && /^(true|false)$/i.test(value.text.text))
    return value.text.text.toLowerCase() === "true";
  throw wrongType(key, value, "true or false");
}

export function integerAt(map: SettingMap, key: string): number | undefined {
  const value = settingAt(map, key);
  if (value === undefined) return undefined;
  const number = value.type === "scalar" ? Number(value.value) : Number.NaN;
  if (!Number.isInteger(number) || number < 0) throw wrongType(key, value, "a whole number of at least 0");
  return number;
}

export function choiceAt<T extends string>(map: SettingMap, key: string, choices: readonly T[]): T | undefined {
  const value = settingAt(map, key);
  if (value === undefined) return undefined;
  const text = textOfSetting(key, value).text;
  const choice = choices.find((one) => one === text);
  if (choice === undefined)
    throw faultAt(value.place, `${key} must be one of ${choices.join(", ")}, not ${text}${didYouMean(text, choices)}`);
  return choice;
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const ISO = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;

/** A duration in milliseconds, from a number of seconds, `1h30m` or `PT1H30M`. */
export function durationAt(map: SettingMap, key: string): number | undefined {
  const value = settingAt(map, key);
  if (value === undefined) return undefined;
  const text = textOfSetting(key, value).text.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  if (/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text))
    return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)].reduce(
      (sum, [, n, unit]) => sum + Number(n) * UNITS[unit!]!,
      0,
    );
  const iso = text.length > 2 ? ISO.exec(text) : null;
  if (!iso) throw faultAt(value.place, `${key} must be a duration such as 30s, 1h30m or PT1H, not ${text}`);
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = iso.slice(1).map((part) => Number(part ?? 0));
  return (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000;
}
