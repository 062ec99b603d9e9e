import type { GraphResource, ResourceName } from "setpoint/graph";
import type { TableFacts } from "../engine/engine.js";
import type { ModelSpec } from "./model-spec.js";

/**
 * The models whose table is not what the graph expects: it was dropped, changed by somebody else or built by another
 * run, or a refresh request is open. The caller runs them, at the start and after each inspection of the database.
 */
export function staleModels(
  resources: readonly GraphResource[],
  facts: readonly TableFacts[],
): readonly { readonly name: ResourceName; readonly reason: string }[] {
  const byTable = new Map(facts.map((each) => [each.table.toLowerCase(), each]));
  return resources.flatMap((resource) => {
    const { meta, spec, outputVersion } = resource;
    if (meta.name.kind !== "Model" || meta.deletedOn !== undefined) return [];
    const found = byTable.get((spec as ModelSpec).output.table.toLowerCase());
    const reason = staleness(found, outputVersion);
    return reason === undefined ? [] : [{ name: meta.name, reason }];
  });
}

function staleness(facts: TableFacts | undefined, outputVersion: string | undefined): string | undefined {
  if (!facts || facts.type === "absent") return outputVersion === undefined ? undefined : "its table no longer exists";
  if (facts.isDrifted) return `its ${facts.type} was changed by somebody else`;
  if (facts.requests.length > 0) return "a refresh was asked for";
  return facts.stamp?.outputVersion === outputVersion ? undefined : "its table is of another run";
}
