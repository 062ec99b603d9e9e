import { analyzed } from "../template/analysis.js";
import { parseTemplate } from "../template/parse-template.js";
import { TemplateError } from "../template/template.js";
import { annotationsOf, withKey, yamlValue } from "./annotations.js";
import { type FileKind, type NamedRef, typeKey } from "./file-kind.js";
import { faultAt } from "./problem-error.js";
import {
  emptyMap,
  listAt,
  mapAt,
  merged,
  type Setting,
  type SettingMap,
  settingAt,
  textAt,
  textOfSetting,
  textsAt,
} from "./setting.js";
import { type Place, placeOf, type SourceText, sourceText } from "./source-text.js";
import { didYouMean } from "./suggestion.js";
import { yamlSettings } from "./yaml-settings.js";

/** The texts of one resource: a SQL file, a YAML file, or both with the same name except for the extension. */
export interface FileTexts {
  readonly stem: string;
  readonly sql?: { readonly path: string; readonly text: string };
  readonly yaml?: { readonly path: string; readonly text: string };
}

/** The files of one resource, as a file kind receives them. */
export interface ResourceFile {
  readonly kind: FileKind;
  readonly name: string;
  readonly paths: readonly string[];
  /**
   * The merged settings: defaults of the project file, the YAML, the annotations and the overrides of the environment.
   */
  readonly settings: SettingMap;
  readonly sql?: SourceText;
  /** Refs of the key `refs`. */
  readonly refs: readonly NamedRef[];
  readonly tags: readonly string[];
  /** Where errors of the file as a whole are shown. */
  readonly place: Place;
}

export interface FileRules {
  readonly kinds: readonly FileKind[];
  readonly environment: string;
  /** Defaults of the project file, by their key. */
  readonly defaults: ReadonlyMap<string, SettingMap>;
}

const COMMON = ["dev", "prod", "environment_overrides", "env"];

export function pathsOf({ yaml, sql }: FileTexts): readonly string[] {
  return [yaml?.path, sql?.path].filter((path) => path !== undefined).sort();
}

/** Merges what a resource's files say. Throws a `ProblemError`. */
export function resourceFile(texts: FileTexts, rules: FileRules): ResourceFile {
  const { yaml, sql } = texts;
  const paths = pathsOf(texts);
  const place: Place = { path: paths[0]!, line: 1, column: 1 };
  const whole = yaml ? yamlSettings(yaml.path, yaml.text) : emptyMap(place);
  const override = overrideOf(whole, rules.environment);
  const file: SettingMap = { ...whole, entries: new Map([...whole.entries].filter(([key]) => !COMMON.includes(key))) };
  const inline = textAt(override, "sql") ?? textAt(file, "sql");
  if (inline && sql) throw faultAt(placeOf(inline, 0), `the SQL is both here and in ${sql.path}: remove one of them`);
  const rawText = sql ? sourceText(sql.path, sql.text) : inline;
  const isTemplate = settingAt(mapAt(file, "parser") ?? file, "templating");
  const text = rawText && isTemplate?.type === "scalar" && isTemplate.value === false ? literal(rawText) : rawText;
  const annotations = text ? merged(configuredIn(text), annotationsOf(text)) : emptyMap(place);
  const described = merged(file, annotations);
  const kind = kindOf(merged(described, override), paths[0]!, sql !== undefined, rules, place);
  const defaults = (kind.defaults && rules.defaults.get(kind.defaults)) || emptyMap(place);
  const settings = merged(merged(defaults, described), override);
  return {
    kind,
    name: nameOf(settings, texts.stem),
    paths,
    settings: { ...settings, entries: new Map([...settings.entries].filter(([key]) => key !== "sql")) },
    ...(text && { sql: text }),
    refs: listAt(settings, "refs").map(refOf),
    tags: textsAt(settings, "tags"),
    place: whole.entries.size > 0 ? whole.place : place,
  };
}

/** The name of a file by its path alone, for files that state none or cannot be read. */
export function nameByPath(stem: string): string {
  return stem.split("/").at(-1)!;
}

export function kindByPath(path: string, hasSql: boolean, kinds: readonly FileKind[]): FileKind | undefined {
  const top = path.includes("/") ? path.split("/")[0] : path;
  const byFolder = kinds.find(({ directories }) => directories?.includes(top!));
  return byFolder ?? (hasSql ? kinds.find(({ type }) => type === "model") : undefined);
}

function kindOf(settings: SettingMap, path: string, hasSql: boolean, rules: FileRules, place: Place): FileKind {
  const byPath = kindByPath(path, hasSql, rules.kinds);
  const type = textAt(settings, "type") ?? textAt(settings, "kind");
  if (type === undefined) {
    if (byPath) return byPath;
    const types = rules.kinds.map((kind) => kind.type).join(", ");
    throw faultAt(place, `the file has no type: add "type:" with one of ${types}`);
  }
  const kind = rules.kinds.find((one) => typeKey(one.type) === typeKey(type.text));
  if (kind) return kind;
  // Old sources name their connector in `type`.
  if (byPath?.type === "source" && !settingAt(settings, "connector")) return byPath;
  const known = rules.kinds.map((one) => one.type);
  throw faultAt(
    placeOf(type, 0),
    `there is no type ${type.text}${didYouMean(type.text, known) || `; there are ${known.join(", ")}`}`,
  );
}

function nameOf(settings: SettingMap, stem: string): string {
  const name = textAt(settings, "name")?.text || nameByPath(stem);
  const namespace = textAt(settings, "namespace")?.text;
  return namespace ? `${namespace}:${name}` : name;
}

/** The file's overrides for this environment: `dev:`, `prod:`, `env:` or `environment_overrides:`. */
export function overrideOf(settings: SettingMap, environment: string): SettingMap {
  let override = emptyMap(settings.place);
  for (const key of ["env", "environment_overrides"]) {
    const all = settingAt(settings, key);
    const one = all?.type === "map" ? all.entries.get(environment)?.value : undefined;
    if (one?.type === "map") override = merged(override, one);
    else if (one && one.type !== "scalar") throw faultAt(one.place, `${key}.${environment} must be a map`);
  }
  const short = environment === "dev" || environment === "prod" ? mapAt(settings, environment) : undefined;
  return short ? merged(override, short) : override;
}

/** Escapes `{{`, so that nothing in the text is a template. */
function literal(source: SourceText): SourceText {
  const open = '{{ "{{" }}';
  const starts = [...source.text.matchAll(/\{\{/g)].map(({ index }) => index);
  const moved = (offset: number) => offset + (open.length - 2) * starts.filter((start) => start < offset).length;
  const pieces = [
    ...source.origin.map(([offset, line, column]) => [moved(offset), line, column] as const),
    ...starts.map((start) => {
      const { line, column } = placeOf(source, start + 2);
      return [moved(start + 2), line, column] as const;
    }),
  ];
  const origin = pieces.sort(([left], [right]) => left - right);
  return { ...source, text: source.text.replaceAll("{{", open), origin };
}

/** Settings of `{{ configure "key" "value" }}` and of YAML in `{{ configure "…" }}`. */
function configuredIn(text: SourceText): SettingMap {
  let settings = emptyMap(placeOf(text, 0));
  if (!text.text.includes("configure")) return settings;
  try {
    for (const { values, offset } of analyzed(parseTemplate(text.text), { environment: "", variables: {} })
      .configured) {
      const place = placeOf(text, offset);
      const [first, second] = values;
      if (values.length === 2)
        settings = withKey(settings, String(first).split("."), {
          key: place,
          value: yamlValue(JSON.stringify(second), place),
        });
      else settings = merged(settings, yamlValue(`\n  ${String(first).replaceAll("\n", "\n  ")}`, place) as SettingMap);
    }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
  }
  return settings;
}

/** Parses a ref: `orders`, `model/orders` or `{ type: model, name: orders }`. */
function refOf(setting: Setting): NamedRef {
  const { place } = setting;
  if (setting.type === "map") {
    const name = textAt(setting, "name")?.text;
    const type = (textAt(setting, "type") ?? textAt(setting, "kind"))?.text;
    if (!name) throw faultAt(place, "a ref must have a name, and may have a type");
    return { name, ...(type && { type }), place };
  }
  const parts = textOfSetting("refs", setting).text.split("/");
  if (parts.length > 2 || parts.includes("")) throw faultAt(place, "a ref must be NAME or TYPE/NAME");
  return parts.length === 2 ? { type: parts[0]!, name: parts[1]!, place } : { name: parts[0]!, place };
}
