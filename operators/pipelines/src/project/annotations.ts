import { faultAt } from "./problem-error.js";
import { emptyMap, type Setting, type SettingEntry, type SettingMap } from "./setting.js";
import { type Place, placeOf, type SourceText } from "./source-text.js";
import { yamlSettings } from "./yaml-settings.js";

const ANNOTATION = /^--[ \t]*@([\w.-]+)[ \t]*(?::[ \t]*(.*?))?[ \t\r]*$/gm;

/** Settings in comments of a SQL text: `-- @materialize: true`. A dot in a key nests. A key without a value is true. */
export function annotationsOf(sql: SourceText): SettingMap {
  let settings = emptyMap(placeOf(sql, 0));
  if (!sql.text.includes("@")) return settings;
  for (const match of sql.text.matchAll(ANNOTATION)) {
    const [line, name = "", value] = match;
    const key = placeOf(sql, match.index + line.indexOf("@") + 1);
    const at = value ? placeOf(sql, match.index + line.lastIndexOf(value)) : key;
    settings = withKey(settings, name.split("."), { key, value: yamlValue(value ?? "true", at) });
  }
  return settings;
}

/** Parses a value in the syntax of YAML. */
export function yamlValue(text: string, place: Place): Setting {
  const value = yamlSettings(place.path, `value: ${text}`).entries.get("value")!.value;
  return moved(value, place);
}

function moved(setting: Setting, place: Place): Setting {
  if (setting.type === "list") return { ...setting, place, items: setting.items.map((item) => moved(item, place)) };
  if (setting.type === "scalar")
    return { ...setting, place, text: { ...setting.text, origin: [[0, place.line, place.column]] } };
  const entries = [...setting.entries].map(
    ([key, { value }]) => [key, { key: place, value: moved(value, place) }] as const,
  );
  return { ...setting, place, entries: new Map(entries) };
}

/** A copy of the map with the entry at the given path of keys. */
export function withKey(map: SettingMap, [first = "", ...rest]: readonly string[], entry: SettingEntry): SettingMap {
  const below = map.entries.get(first)?.value;
  if (rest.length > 0 && below && below.type !== "map")
    throw faultAt(entry.key, `the annotation ${first}.${rest.join(".")} goes into ${first}, which is not a map`);
  const inner = below?.type === "map" ? below : emptyMap(entry.key);
  const value = rest.length === 0 ? entry : { key: entry.key, value: withKey(inner, rest, entry) };
  return { ...map, entries: new Map(map.entries).set(first, value) };
}
