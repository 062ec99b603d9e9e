import { faultAt } from "./problem-error.js";
import { overrideOf } from "./resource-file.js";
import {
  listAt,
  mapAt,
  merged,
  plain,
  type SettingMap,
  settingAt,
  textAt,
  textOfSetting,
  textsAt,
  wrongType,
} from "./setting.js";
import { didYouMean } from "./suggestion.js";
import { yamlSettings } from "./yaml-settings.js";

/** The settings of the project file, for one environment. */
export interface ProjectFileSettings {
  readonly path: string;
  readonly displayName?: string;
  readonly olapConnector: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly ignorePaths: readonly string[];
  /** Connectors of the key `connectors`, by name. */
  readonly connectors: ReadonlyMap<string, { readonly driver: string; readonly properties: unknown }>;
  /** Default settings for the types of files, by key. */
  readonly defaults: ReadonlyMap<string, SettingMap>;
}

const DEFAULTS =
  "sources models metrics_views dashboards explores canvases apis migrations alerts reports components themes";
const KEYS = [
  ..."compiler rill_version display_name title name description ai_instructions ai_connector theme olap_connector".split(
    " ",
  ),
  ..."connectors env vars environment_overrides dev prod features public_paths ignore_paths mock_users".split(" "),
  ...DEFAULTS.split(" "),
];
const RESERVED = ["admin", "repo", "metastore"];

/** Parses the project file. Throws a `ProblemError`, also for unknown keys. */
export function projectFileSettings(
  path: string,
  text: string,
  environment: string,
  extraKeys: readonly string[] = [],
): ProjectFileSettings {
  const whole = yamlSettings(path, text);
  const keys = [...KEYS, ...extraKeys];
  for (const [key, { key: place }] of whole.entries)
    if (!keys.includes(key)) throw faultAt(place, `there is no key ${key} in a project file${didYouMean(key, keys)}`);
  const settings = merged(whole, overrideOf(whole, environment));
  const displayName = textAt(settings, "display_name") ?? textAt(settings, "title") ?? textAt(settings, "name");
  const defaultKeys = [...DEFAULTS.split(" "), ...extraKeys];
  return {
    path,
    ...(displayName && { displayName: displayName.text }),
    olapConnector: textAt(settings, "olap_connector")?.text ?? "duckdb",
    variables: { ...variablesOf(settings, "vars"), ...variablesOf(settings, "env") },
    ignorePaths: textsAt(settings, "ignore_paths"),
    connectors: connectorsOf(settings),
    defaults: new Map(
      defaultKeys.flatMap((key) => {
        const map = mapAt(settings, key);
        return map ? [[key, map] as const] : [];
      }),
    ),
  };
}

/** The variables below a key. Skips maps such as `env: { dev: {…} }`, an old form of overrides for an environment. */
function variablesOf(settings: SettingMap, key: string): Readonly<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const [name, { key: place, value }] of mapAt(settings, key)?.entries ?? []) {
    if (value.type === "map" && (name === "dev" || name === "prod")) continue;
    if (!/^[\p{L}_][\w.-]*$/u.test(name)) throw faultAt(place, `${name} is not a valid variable name`);
    result[name] = textOfSetting(`${key}.${name}`, value).text;
  }
  return result;
}

function connectorsOf(settings: SettingMap): ProjectFileSettings["connectors"] {
  const connectors = new Map<string, { driver: string; properties: unknown }>();
  for (const item of listAt(settings, "connectors")) {
    if (item.type !== "map") throw wrongType("connectors", item, "a list of maps with name and type");
    const driver = textAt(item, "type")?.text;
    const name = textAt(item, "name")?.text ?? driver;
    if (!name || !driver) throw faultAt(item.place, "a connector must have a name and a type");
    if (RESERVED.includes(name)) throw faultAt(item.place, `the name ${name} is reserved`);
    const defaults = settingAt(item, "defaults");
    connectors.set(name, { driver, properties: defaults ? plain(defaults) : {} });
  }
  return connectors;
}
