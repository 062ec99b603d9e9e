import type {
  DataTest,
  FileFormat,
  ModelInput,
  ModelOutput,
  ModelPartitions,
  ModelSpec,
  UnitTest,
} from "../model/model-spec.js";
import { quoted } from "../template/render-text.js";
import { propertiesOf } from "./connector-file.js";
import { type Declaration, type FileContext, fileKind, type NamedRef, type TableUse } from "./file-kind.js";
import { faultAt } from "./problem-error.js";
import { scheduleOf } from "./refresh-schedule.js";
import type { ResourceFile } from "./resource-file.js";
import {
  booleanAt,
  choiceAt,
  durationAt,
  emptyMap,
  integerAt,
  listAt,
  mapAt,
  plain,
  type Setting,
  type SettingMap,
  settingAt,
  textAt,
  textOfSetting,
  textsAt,
  textsIn,
  wrongType,
} from "./setting.js";
import { type Place, type Problem, placeOf, type SourceText } from "./source-text.js";
import { digestOf, type TextAnalysis } from "./sql-analysis.js";
import { suggestionsFor } from "./suggestion.js";

/** Keys of a model's file that are not options of its input. */
const KEYS = new Set(
  `version type kind name namespace refs tags parser connector sql materialize output stage refresh timeout incremental state
  partitions splits partitions_watermark partitions_concurrency change_mode retry tests unit_tests pre_exec post_exec path uri
  url format invalidate_on_change defined_as_source dev prod environment_overrides env display_name description title model`.split(
    /\s+/,
  ),
);
const OPTION_KEYS = new Set(
  "duckdb csv json parquet read_options glob headers dsn database_url batch_size extract".split(" "),
);

export const modelFile = fileKind({
  type: "model",
  kind: "Model",
  directories: ["models"],
  defaults: "models",
  parse: (file, context) => declared(file, context, false),
});

export const sourceFile = fileKind({
  type: "source",
  kind: "Model",
  directories: ["sources"],
  defaults: "sources",
  parse: (file, context) => declared(file, context, true),
});

async function declared(file: ResourceFile, context: FileContext, isSource: boolean): Promise<Declaration> {
  const { settings, name } = file;
  const input = inputOf(file, context, isSource);
  const output = outputOf(file, context, isSource);
  const incremental = booleanAt(settings, "incremental") ?? false;
  const partitions = partitionsOf(settings);
  const tests = listAt(settings, "tests").map((test) => testOf(test, output.table));
  const unitTests = listAt(settings, "unit_tests").map(unitTestOf);
  const state = sqlIn(settings, "state");
  const [preExec, postExec] = [textAt(settings, "pre_exec"), textAt(settings, "post_exec")];

  const isEngine = input.type === "sql";
  const sqlText = "sql" in input ? input.sql : undefined;
  const own = output.table;
  const script = { isScript: true, isParsed: isEngine, own };
  const [main, state_, partition, transform, before, after, ...tested] = await Promise.all([
    sqlText && context.sql(sqlText, { isParsed: isEngine, own }),
    state && context.sql(state, { own }),
    partitions?.type === "sql" ? context.sql(partitions.sql, { own }) : undefined,
    partitions?.type === "glob" && partitions.transformSql ? context.sql(partitions.transformSql, { own }) : undefined,
    preExec && context.sql(preExec, script),
    postExec && context.sql(postExec, script),
    ...tests.map(({ sql }) => context.sql(sql, { own })),
  ]);
  const texts = [...("path" in input ? [input.path] : []), ...("url" in input ? [input.url] : [])].map((text) =>
    context.text(text),
  );
  const options = propertiesOf(settings, KEYS);
  texts.push(...textsIn(options).map((text) => context.text(text)));
  const glob = partitions?.type === "glob" ? [context.text(partitions.path)] : [];

  const patterns = patternsOf(file, input, [...(main?.files ?? []), ...(partition?.files ?? [])], texts, glob);
  const files = await Promise.all(
    patterns.map(async (pattern) => ({ pattern, fingerprint: await context.fingerprint(pattern) })),
  );
  const side = [state_, partition, transform, before, after, ...tested].filter((analysis) => analysis !== undefined);
  const isOwn = (table: TableUse) => [name, output.table].some((one) => one.toLowerCase() === table.name.toLowerCase());
  const made = tablesMadeBy(preExec?.text ?? "");
  const readsItself = incremental || partitions !== undefined;
  const { table: _table, ...outputOptions } = output;
  const spec: ModelSpec = {
    input,
    ...(preExec && { preExec }),
    ...(postExec && { postExec }),
    output,
    incremental,
    ...(state && { state }),
    ...(partitions && { partitions }),
    refresh: scheduleOf(settings, context.settings.environment),
    changeMode: choiceAt(settings, "change_mode", ["reset", "manual", "patch"]) ?? "reset",
    retry: retryOf(settings),
    timeoutMs: durationAt(settings, "timeout") ?? 3 * 3_600_000,
    tests,
    unitTests,
    isSource,
    specHash: digestOf([
      [input.type, "connector" in input ? input.connector : "", "format" in input ? input.format : ""],
      [main, state_, partition, before, after, transform, ...texts, ...glob].map((analysis) => analysis?.hash),
      [plain(options), outputOptions, output.table === name ? "" : output.table],
      [incremental, partitions && { ...partitions, sql: "", path: "", transformSql: "" }],
    ]),
    testHash: digestOf([tests.map(({ name: title }, index) => [title, tested[index]!.hash]), unitTests]),
    textHash: textHashOf(file),
    files,
  };
  return {
    spec,
    ...(output.table !== name && { tableName: output.table }),
    refs: [
      ...file.refs,
      ...[main, ...texts, ...glob].flatMap((one) => one?.refs ?? []).filter((ref) => !isOwn(ref) || !readsItself),
      ...side.flatMap(({ refs }) => refs).filter((ref) => !isOwn(ref)),
      ...[("connector" in input && input.connector) || "", output.connector]
        .filter(Boolean)
        .map((connector): NamedRef => ({ type: "connector", name: connector, place: file.place, isOptional: true })),
    ],
    tables: [
      ...(main?.tables ?? []).filter((table) => !(readsItself && isOwn(table))),
      ...side.flatMap(({ tables }) => tables).filter((table) => !isOwn(table)),
    ].filter((table) => !made.has(table.name.toLowerCase())),
    patterns,
    warnings: [...(main?.warnings ?? []), ...side.flatMap(({ warnings }) => warnings), ...unknownKeys(settings)],
  };
}

/** Hash of what the files say, without the name. A file that was moved without an edit keeps it. */
function textHashOf({ settings, sql }: ResourceFile): string {
  const entries = [...settings.entries].filter(([key]) => key !== "name" && key !== "namespace");
  return digestOf([sql?.text, plain({ ...settings, entries: new Map(entries) })]);
}

const assertHead = (table: string) => `SELECT * FROM ${quoted(table)} WHERE NOT (`;

function inputOf({ settings, sql, place, name }: ResourceFile, context: FileContext, isSource: boolean): ModelInput {
  const path = textAt(settings, "path");
  const uri = textAt(settings, "uri") ?? textAt(settings, "url");
  const named = textAt(settings, "connector") ?? oldConnector(settings, isSource);
  const address = uri ?? path;
  const isUrl = /^https?:/i.test(address?.text ?? "");
  const connector =
    named?.text ?? (address && !sql ? (isUrl ? "https" : "local_file") : context.settings.olapConnector);
  const driver = context.driverOf(connector);
  const options = plain(propertiesOf(settings, KEYS)) as Readonly<Record<string, unknown>>;
  const format = formatOf(settings);
  const what = isSource ? "source" : "model";
  switch (driver) {
    case "duckdb":
    case "motherduck":
      if (context.isElsewhere(connector)) throw elsewhere(connector, context, named ? placeOf(named, 0) : place);
      if (sql) return { type: "sql", connector, sql };
      if (!address) throw faultAt(place, `the ${what} ${name} has no SQL: add "sql:" or a file ${name}.sql`);
      return { type: "files", path: address, ...(format && { format }), options };
    case "local_file":
      if (!address) throw faultAt(place, `the ${what} ${name} has no file: add "path:"`);
      return { type: "files", path: address, ...(format && { format }), options };
    case "https":
    case "http":
      if (!address) throw faultAt(place, `the ${what} ${name} has no address: add "uri:"`);
      return { type: "http", connector, url: address, ...(format && { format }), options };
    case "postgres":
      if (!sql) throw faultAt(place, `the ${what} ${name} has no SQL: add "sql:"`);
      return { type: "postgres", connector, sql };
    default:
      throw faultAt(
        named ? placeOf(named, 0) : place,
        `models cannot read from the connector ${connector}${driver === connector ? "" : ` (${driver})`} yet: there are duckdb, local_file, https and postgres`,
      );
  }
}

function elsewhere(connector: string, { settings }: FileContext, place: Place): Error {
  const advice = `attach it in "pre_exec:", or make it the olap_connector`;
  return faultAt(
    place,
    `${connector} is another database than ${settings.olapConnector}, where models are built: ${advice}`,
  );
}

const FORMATS: Readonly<Record<string, FileFormat>> = {
  csv: "csv",
  tsv: "csv",
  txt: "csv",
  json: "json",
  jsonl: "json",
  ndjson: "json",
  parquet: "parquet",
};

function formatOf(settings: SettingMap): FileFormat | undefined {
  const format = choiceAt(settings, "format", Object.keys(FORMATS));
  return format === undefined ? undefined : FORMATS[format];
}

/** Old sources name their connector in `type`. */
function oldConnector(settings: SettingMap, isSource: boolean): SourceText | undefined {
  const type = textAt(settings, "type") ?? textAt(settings, "kind");
  return isSource && type && !/^(source|model)$/i.test(type.text) ? type : undefined;
}

function outputOf({ settings, name, place }: ResourceFile, context: FileContext, isSource: boolean): ModelOutput {
  const given = settingAt(settings, "output");
  if (given?.type === "list") throw wrongType("output", given, "a map, or the name of a connector");
  const output = given?.type === "map" ? given : emptyMap(place);
  const connector =
    (given?.type === "scalar" ? given.text : textAt(output, "connector"))?.text ?? context.settings.olapConnector;
  const driver = context.driverOf(connector);
  if (driver !== "duckdb" && driver !== "motherduck")
    throw faultAt(
      given?.place ?? place,
      `models cannot be built in the connector ${connector} (${driver}) yet: there is duckdb`,
    );
  if (context.isElsewhere(connector)) throw elsewhere(connector, context, given?.place ?? place);
  const uniqueKey = textsAt(output, "unique_key");
  const partitionBy = textAt(output, "partition_by")?.text;
  const stated = choiceAt(output, "incremental_strategy", ["append", "merge", "partition_overwrite"]);
  const strategy = stated ?? (uniqueKey.length > 0 ? "merge" : "append");
  const at = settingAt(output, "incremental_strategy")?.place ?? output.place;
  if (strategy === "merge" && uniqueKey.length === 0) throw faultAt(at, 'the strategy merge needs "unique_key:"');
  if (strategy === "partition_overwrite" && partitionBy === undefined)
    throw faultAt(at, 'the strategy partition_overwrite needs "partition_by:"');
  const materialize =
    booleanAt(settings, "materialize") ?? booleanAt(output, "materialize") ?? (isSource ? true : undefined);
  return {
    connector,
    table: textAt(output, "table")?.text ?? name,
    ...(materialize !== undefined && { materialize }),
    strategy,
    uniqueKey,
    ...(partitionBy !== undefined && { partitionBy }),
  };
}

/** The SQL of a map such as `state: { sql: … }`. */
function sqlIn(settings: SettingMap, key: string): SourceText | undefined {
  const map = mapAt(settings, key);
  if (!map) return undefined;
  const sql = textAt(map, "sql");
  if (!sql) throw faultAt(map.place, `${key} must have "sql:"`);
  return sql;
}

function partitionsOf(settings: SettingMap): ModelPartitions | undefined {
  const key = settingAt(settings, "splits") ? "splits" : "partitions";
  const map = mapAt(settings, key);
  if (!map) return undefined;
  if (key === "splits" && settingAt(settings, "partitions"))
    throw faultAt(map.place, "partitions and splits mean the same: remove splits");
  const concurrency = integerAt(settings, "partitions_concurrency") || 5;
  const watermark = textAt(settings, "partitions_watermark")?.text;
  const [sql, glob] = [textAt(map, "sql"), settingAt(map, "glob")];
  if (sql && glob) throw faultAt(glob.place, `${key} must have either "sql:" or "glob:", not both`);
  if (sql) return { type: "sql", sql, concurrency, ...(watermark && { watermark }) };
  if (!glob) throw faultAt(map.place, `${key} must have "sql:" or "glob:"`);
  const inner = glob.type === "map" ? glob : map;
  const path = glob.type === "map" ? (textAt(glob, "path") ?? textAt(glob, "uri")) : textOfSetting("glob", glob);
  if (!path) throw faultAt(glob.place, 'glob must have "path:"');
  const store = /^([a-z][a-z0-9]*):\/\//i.exec(path.text)?.[1];
  if (store) throw faultAt(placeOf(path, 0), `files of ${store}:// cannot be listed yet: partitions are local files`);
  const by = choiceAt(inner, "partition", ["directory", "file", "hive", "none"]);
  const transformSql = textAt(inner, "transform_sql");
  return {
    type: "glob",
    path,
    by: by === undefined || by === "none" ? "file" : by,
    concurrency,
    watermark: watermark ?? "updated_on",
    ...(transformSql && { transformSql }),
  };
}

function testOf(setting: Setting, table: string): DataTest {
  if (setting.type !== "map") throw wrongType("tests", setting, "a list of maps with name and assert or sql");
  const name = textAt(setting, "name")?.text;
  if (!name) throw faultAt(setting.place, 'a test must have a "name:"');
  const [assert, sql] = [textAt(setting, "assert"), textAt(setting, "sql")];
  if (assert && sql) throw faultAt(setting.place, `the test ${name} must have either "assert:" or "sql:", not both`);
  if (sql) return { name, sql };
  if (!assert) throw faultAt(setting.place, `the test ${name} must have "assert:" or "sql:"`);
  const head = assertHead(table);
  const { line, column } = placeOf(assert, 0);
  const origin = [[0, line, column] as const, ...assert.origin.map(([at, l, c]) => [at + head.length, l, c] as const)];
  return { name, sql: { ...assert, text: `${head}${assert.text})`, origin } };
}

function unitTestOf(setting: Setting): UnitTest {
  if (setting.type !== "map") throw wrongType("unit_tests", setting, "a list of maps with name, given and expect");
  const name = textAt(setting, "name")?.text;
  if (!name) throw faultAt(setting.place, 'a unit test must have a "name:"');
  if (!settingAt(setting, "expect")) throw faultAt(setting.place, `the unit test ${name} must have "expect:"`);
  const given = mapAt(setting, "given") ?? emptyMap(setting.place);
  return {
    name,
    given: Object.fromEntries([...given.entries.keys()].map((input) => [input, rowsAt(given, input)])),
    expect: rowsAt(setting, "expect"),
  };
}

function rowsAt(map: SettingMap, key: string): readonly Readonly<Record<string, unknown>>[] {
  return listAt(map, key).map((row) => {
    if (row.type !== "map") throw wrongType(key, row, "a list of rows, each a map of columns");
    return plain(row) as Readonly<Record<string, unknown>>;
  });
}

const PASSING = [".*OvercommitTracker.*", ".*Bad Gateway.*", ".*Timeout.*", ".*Connection refused.*"];

function retryOf(settings: SettingMap): ModelSpec["retry"] {
  const retry = mapAt(settings, "retry") ?? emptyMap(settings.place);
  const matching = listAt(retry, "if_error_matches").map((item) => {
    const { text } = textOfSetting("if_error_matches", item);
    try {
      new RegExp(text);
    } catch {
      throw faultAt(item.place, `${text} is not a regular expression`);
    }
    return text;
  });
  return {
    attempts: integerAt(retry, "attempts") ?? 3,
    delayMs: durationAt(retry, "delay") ?? 5000,
    exponential: booleanAt(retry, "exponential_backoff") ?? true,
    matching: matching.length > 0 ? matching : PASSING,
  };
}

/** Local files that the model's content depends on. */
function patternsOf(
  { settings }: ResourceFile,
  input: ModelInput,
  read: readonly string[],
  texts: readonly TextAnalysis[],
  globs: readonly TextAnalysis[],
): readonly string[] {
  if (booleanAt(settings, "invalidate_on_change") === false) return [];
  const paths = input.type === "files" ? (texts[0]?.texts ?? []) : [];
  const all = [...read, ...paths, ...globs.flatMap((glob) => glob.texts)];
  return [...new Set(all)].filter((path) => !/^[a-z][a-z0-9+.-]+:\/\//i.test(path)).sort();
}

/** The tables that the statements before the query create, in lower case. */
function tablesMadeBy(script: string): ReadonlySet<string> {
  const made = script.matchAll(
    /\bcreate\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:table|view)\s+(?:if\s+not\s+exists\s+)?"?([\w.]+)/gi,
  );
  return new Set([...made].map(([, name]) => name!.toLowerCase()));
}

/** Warns of unknown keys that look mistyped. Any other unknown key may be an option of the input. */
function unknownKeys(settings: SettingMap): readonly Problem[] {
  return [...settings.entries].flatMap(([key, { key: place }]): readonly Problem[] => {
    if (KEYS.has(key) || OPTION_KEYS.has(key)) return [];
    const [likely] = suggestionsFor(key, KEYS);
    return likely ? [{ severity: "warning", message: `there is no key ${key}; did you mean ${likely}?`, place }] : [];
  });
}
