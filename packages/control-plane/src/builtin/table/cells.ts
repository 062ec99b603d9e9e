import type { KubeObject } from "setpoint";
import type { Column } from "../../facts/column.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import { canonicalTime, TimeError } from "../../schema/go-time.js";
import { builtInCells } from "./built-in-cells.js";
import { ageOf } from "./human-duration.js";
import { valueAt } from "./json-path.js";

/** The cells of one row, in column order. */
export function cellsOf(definition: ResourceDefinition, object: KubeObject, nowMs: number): readonly unknown[] {
  const byName = definition.isBuiltIn ? builtInCells(definition, object, nowMs) : undefined;
  return definition.columns.map((column, index) => {
    if (column.jsonPath !== undefined) return cellAt(object, column, nowMs);
    const cell = byName?.[column.name];
    if (cell !== undefined) return cell;
    if (index === 0 && column.name === "Name") return object.metadata.name;
    if (column.name === "Age" || column.name === "Created At") return createdCell(column, object, nowMs);
    return emptyCell(column);
  });
}

function createdCell({ name }: Column, { metadata }: KubeObject, nowMs: number): string {
  return name === "Age" ? ageOf(metadata.creationTimestamp, nowMs) : metadata.creationTimestamp;
}

function emptyCell({ type }: Column): unknown {
  return type === "integer" || type === "number" ? 0 : type === "boolean" ? false : "<none>";
}

/** A cell of a custom resource: the first value at the path, converted to the column's type. */
function cellAt(object: KubeObject, { jsonPath, type }: Column, nowMs: number): unknown {
  const value = valueAt(object, jsonPath!);
  if (value === undefined) return null;
  switch (type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? dateCell(value, nowMs) : null;
    default:
      return textOf(value);
  }
}

function dateCell(value: string, nowMs: number): string {
  if (value === "" || value === "null") return ageOf(undefined, nowMs);
  try {
    return ageOf(canonicalTime(value), nowMs);
  } catch (error) {
    if (error instanceof TimeError) return "<invalid>";
    throw error;
  }
}

function textOf(value: unknown): string | null {
  if (value === null) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}
