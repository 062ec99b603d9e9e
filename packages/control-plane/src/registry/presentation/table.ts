import type { KubeObject } from "setpoint";
import type { UntypedObject } from "setpoint/kinds";
import { cellsOf } from "../../builtin/table/cells.js";
import { apiVersionOf } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { ServedObject } from "../read/served-form.js";
import { partialObjectMetadata } from "./partial-metadata.js";
import { bytesOf, CLOSING_BRACE, EVENT_HEADS, type Presentation } from "./presentation.js";

export type IncludeObject = "Metadata" | "Object" | "None";

/** A Table for people: one row per object, and the columns described once. */
export function tablePresentation(
  definition: ResourceDefinition,
  version: string,
  includeObject: IncludeObject,
  nowMs: () => number,
): Presentation {
  const columnDefinitions = definition.columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
  const head = { kind: "Table", apiVersion: `meta.k8s.io/${version}` };
  const row = (object: KubeObject): object => ({
    cells: cellsOf(definition, object, nowMs()),
    ...rowConditions(definition, object),
    object: rowObject(object, version, includeObject),
  });
  const table = ({ object }: ServedObject, columns: unknown): object => ({
    ...head,
    metadata: { resourceVersion: object.metadata.resourceVersion },
    columnDefinitions: columns,
    rows: [row(object)],
  });
  /** The default table (for kinds without columns of their own) writes `null` for no rows. */
  const isDefaultTable = definition.columns[1]?.name === "Created At";
  /** Only the first event of a watch describes the columns. */
  let hasDescribedColumns = false;
  return {
    single: (served) => bytesOf(JSON.stringify(table(served, columnDefinitions))),
    *list(metadata, items) {
      if (items.length === 0 && isDefaultTable) {
        yield bytesOf(JSON.stringify({ ...head, metadata, columnDefinitions, rows: null }));
        return;
      }
      const start = JSON.stringify({ ...head, metadata, columnDefinitions });
      yield bytesOf(`${start.slice(0, -1)},"rows":[`);
      let separator = "";
      for (const { object } of inRowOrder(definition, items)) {
        yield bytesOf(separator + JSON.stringify(row(object)));
        separator = ",";
      }
      yield bytesOf("]}");
    },
    event: (type, served) => {
      const columns = hasDescribedColumns ? null : columnDefinitions;
      hasDescribedColumns = true;
      return [EVENT_HEADS[type], bytesOf(JSON.stringify(table(served, columns))), CLOSING_BRACE];
    },
    bookmark: (metadata) => {
      const columns = hasDescribedColumns ? null : columnDefinitions;
      hasDescribedColumns = true;
      const { resourceVersion } = metadata;
      const marked = {
        kind: definition.kind,
        apiVersion: apiVersionOf(definition),
        metadata: { name: "", ...metadata },
      };
      return { ...head, metadata: { resourceVersion }, columnDefinitions: columns, rows: [row(marked as KubeObject)] };
    },
  };
}

/** A finished pod has a condition in its row. */
function rowConditions({ group, plural }: ResourceDefinition, object: KubeObject): object {
  if (group !== "" || plural !== "pods") return {};
  const { phase } = ((object as UntypedObject).status ?? {}) as { phase?: string };
  if (phase !== "Succeeded" && phase !== "Failed") return {};
  const message = phase === "Failed" ? "The pod failed." : "The pod has completed successfully.";
  return { conditions: [{ type: "Completed", status: "True", reason: phase, message }] };
}

/** Rows keep the order of the list, except FlowSchemas: these are sorted by matching precedence. */
function inRowOrder({ group, plural }: ResourceDefinition, items: readonly ServedObject[]): readonly ServedObject[] {
  if (group !== "flowcontrol.apiserver.k8s.io" || plural !== "flowschemas") return items;
  const precedence = ({ object }: ServedObject): number =>
    ((object as UntypedObject).spec as { matchingPrecedence?: number }).matchingPrecedence ?? 0;
  return items.toSorted((a, b) => precedence(a) - precedence(b));
}

function rowObject(object: KubeObject, version: string, includeObject: IncludeObject): unknown {
  switch (includeObject) {
    case "None":
      return null;
    case "Object":
      return object;
    case "Metadata":
      return partialObjectMetadata(object, version);
  }
}
