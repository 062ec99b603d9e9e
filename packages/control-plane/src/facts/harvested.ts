import type { UntypedObject } from "setpoint";
import bootstrap from "./bootstrap.json" with { type: "json" };
import columnTexts from "./column-texts.json" with { type: "json" };
import columns from "./columns.json" with { type: "json" };
import groups from "./discovery.json" with { type: "json" };
import type { Facts, GroupFacts, StrategyFacts } from "./facts.js";
import kinds from "./kinds.json" with { type: "json" };
import { type MessageRow, messageTable } from "./message.js";
import messages from "./messages.json" with { type: "json" };
import { type OpenApiSchema, SchemaGraph } from "./schema-graph.js";
import components from "./schemas.json" with { type: "json" };
import strategies from "./strategies.json" with { type: "json" };
import version from "./version.json" with { type: "json" };

type ColumnRow = readonly [name: string, type: string, format: string, priority: number, text: number];

// Asserted, not inferred: the compiler's view of half a megabyte of JSON is of no use to anyone.
const graph = new SchemaGraph(components as unknown as Record<string, OpenApiSchema>);
const table = messageTable(kinds, messages as unknown as readonly MessageRow[]);
const strategyRows = strategies as unknown as Readonly<Record<string, StrategyFacts>>;
const columnRows = columns as unknown as Readonly<Record<string, readonly ColumnRow[]>>;

/** The facts of the server that was harvested last. Import it through `loadFacts`, so that it is read only when used. */
export const harvested: Facts = {
  version,
  groups: groups as unknown as readonly GroupFacts[],
  bootstrap: bootstrap as unknown as readonly UntypedObject[],
  components: graph.components,
  strategy: (group, served, plural) => strategyRows[`${group}/${served}/${plural}`],
  columns: (group, served, plural) =>
    (columnRows[`${group}/${served}/${plural}`] ?? []).map(([name, type, format, priority, text]) => ({
      name,
      type,
      format,
      priority,
      description: columnTexts[text] ?? "",
    })),
  componentOf: (group, served, kind) => graph.componentOf(group, served, kind),
  schemaOf: (group, served, kind) => graph.schemaOf(group, served, kind),
  messageOf: table.messageOf,
  messageNamed: table.messageNamed,
};
