import type { KubeObject } from "setpoint";
import type { ResourceDefinition } from "../resource-definition.js";

/** The cells of one row, in the order of the resource's columns. */
export function cellsOf(definition: ResourceDefinition, object: KubeObject, _nowMs: number): readonly unknown[] {
  return definition.columns.map(({ name }) => {
    if (name === "Name") return object.metadata.name;
    if (name === "Age") return object.metadata.creationTimestamp;
    return "";
  });
}
