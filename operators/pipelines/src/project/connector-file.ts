import { fileKind, type NamedRef } from "./file-kind.js";
import { faultAt } from "./problem-error.js";
import { plain, type SettingMap, textAt, textsIn } from "./setting.js";

/** A connector as its file declares it. Properties are templates: secrets belong in variables, not in the spec. */
export interface ConnectorSpec {
  readonly driver: string;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Variables whose values the properties use. */
  readonly variables: readonly string[];
}

const COMMON = new Set("version type kind name namespace refs tags parser connector driver managed".split(" "));

/** The settings of a file without the keys that every file of its kind has. */
export function propertiesOf(settings: SettingMap, known: ReadonlySet<string>): SettingMap {
  return { ...settings, entries: new Map([...settings.entries].filter(([key]) => !known.has(key))) };
}

/** Rill's name of a variable for a connector's property, mostly a secret: `connector.NAME.PROPERTY`. */
const VARIABLE = /^connector\.([^.]+)\.(.+)$/;

function fromVariables(name: string, variables: Readonly<Record<string, string>>) {
  const names = Object.keys(variables).filter((one) => VARIABLE.exec(one)?.[1]?.toLowerCase() === name.toLowerCase());
  return {
    names,
    properties: Object.fromEntries(names.map((one) => [VARIABLE.exec(one)![2]!, `{{ env ${JSON.stringify(one)} }}`])),
  };
}

export const connectorFile = fileKind({
  type: "connector",
  kind: "Connector",
  directories: ["connectors"],
  parse({ settings, place, name }, context) {
    const driver = textAt(settings, "driver")?.text;
    if (!driver) throw faultAt(place, `the connector ${name} has no driver: add "driver:", such as duckdb or postgres`);
    const properties = propertiesOf(settings, COMMON);
    const analyses = textsIn(properties).map((text) => context.text(text));
    const added = fromVariables(name, context.settings.variables);
    const spec: ConnectorSpec = {
      driver,
      properties: { ...(plain(properties) as Readonly<Record<string, unknown>>), ...added.properties },
      variables: [...new Set([...analyses.flatMap(({ variables }) => variables), ...added.names])].sort(),
    };
    return { spec, refs: analyses.flatMap<NamedRef>(({ refs }) => refs) };
  },
});

/** Connectors that the project file or variables declare, without a file of their own. */
export function impliedConnectors(
  stated: ReadonlyMap<string, { readonly driver: string; readonly properties: unknown }>,
  variables: Readonly<Record<string, string>>,
): ReadonlyMap<string, ConnectorSpec> {
  const named = Object.keys(variables).flatMap((one) => VARIABLE.exec(one)?.[1] ?? []);
  const names = new Map([...named, ...stated.keys()].map((name) => [name.toLowerCase(), name]));
  return new Map(
    [...names.values()].sort().map((name) => {
      const { driver = name, properties = {} } = stated.get(name) ?? {};
      const added = fromVariables(name, variables);
      const all = { ...(properties as Readonly<Record<string, unknown>>), ...added.properties };
      return [name, { driver, properties: all, variables: added.names.sort() }];
    }),
  );
}
