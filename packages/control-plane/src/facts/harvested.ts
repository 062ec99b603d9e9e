import type { UntypedObject } from "setpoint/kinds";
import groups from "./discovery.json" with { type: "json" };
import type { Facts, GroupFacts, StrategyFacts } from "./facts.js";
import { jsonFile } from "./json-file.js";
import kinds from "./kinds.json" with { type: "json" };
import { type MessageRow, messageTable } from "./message.js";
import { type OpenApiSchema, SchemaGraph } from "./schema-graph.js";
import strategies from "./strategies.json" with { type: "json" };
import version from "./version.json" with { type: "json" };

type ColumnRow = readonly [name: string, type: string, format: string, priority: number, text: number];

// A cast, because inferring a type from half a megabyte of JSON is useless.
const strategyRows = strategies as unknown as Readonly<Record<string, StrategyFacts>>;
// Separate files, because a starting server reads few of them.
const bootstrap = jsonFile<readonly UntypedObject[]>(new URL("./bootstrap.json", import.meta.url));
const columns = jsonFile<Readonly<Record<string, readonly ColumnRow[]>>>(new URL("./columns.json", import.meta.url));
const columnTexts = jsonFile<readonly string[]>(new URL("./column-texts.json", import.meta.url));
const schemas = jsonFile<Readonly<Record<string, OpenApiSchema>>>(new URL("./schemas.json", import.meta.url));
const messages = jsonFile<readonly MessageRow[]>(new URL("./messages.json", import.meta.url));
const graph = new SchemaGraph(schemas);
const table = messageTable(kinds, messages);

/** The facts of the last harvest. Import them through `loadFacts`, so that they are read only when used. */
export const harvested: Facts = {
  version,
  groups: groups as unknown as readonly GroupFacts[],
  get bootstrap() {
    return bootstrap();
  },
  get components() {
    return schemas();
  },
  strategy: (group, served, plural) => strategyRows[`${group}/${served}/${plural}`],
  columns: (group, served, plural) =>
    (columns()[`${group}/${served}/${plural}`] ?? []).map(([name, type, format, priority, text]) => ({
      name,
      type,
      format,
      priority,
      description: columnTexts()[text] ?? "",
    })),
  componentOf: (group, served, kind) => graph.componentOf(group, served, kind),
  schemaOf: (group, served, kind) => graph.schemaOf(group, served, kind),
  messageOf: table.messageOf,
  messageNamed: table.messageNamed,
};
