import { fileKind, type NamedRef } from "./file-kind.js";
import { faultAt } from "./problem-error.js";
import { plain, type SettingMap, textAt, textsIn } from "./setting.js";

/** A connector as its file declares it. Properties are templates: secrets stand in variables, not in the spec. */
export interface ConnectorSpec {
  readonly driver: string;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Variables whose values the properties use. */
  readonly variables: readonly string[];
}

const COMMON = new Set("version type kind name namespace refs tags parser connector driver managed".split(" "));

/** What a file says besides the keys that every file of its kind has. */
export function propertiesOf(settings: SettingMap, known: ReadonlySet<string>): SettingMap {
  return { ...settings, entries: new Map([...settings.entries].filter(([key]) => !known.has(key))) };
}

export const connectorFile = fileKind({
  type: "connector",
  kind: "Connector",
  directories: ["connectors"],
  parse({ settings, place, name }, context) {
    const driver = textAt(settings, "driver")?.text;
    if (!driver)
      throw faultAt(place, `the connector ${name} does not say its driver: add "driver:", such as duckdb or postgres`);
    const properties = propertiesOf(settings, COMMON);
    const analyses = textsIn(properties).map((text) => context.text(text));
    const spec: ConnectorSpec = {
      driver,
      properties: plain(properties) as Readonly<Record<string, unknown>>,
      variables: [...new Set(analyses.flatMap(({ variables }) => variables))].sort(),
    };
    return { spec, refs: analyses.flatMap<NamedRef>(({ refs }) => refs) };
  },
});
