import type { KubeObject } from "setpoint";
import { describe, expect, it } from "vitest";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import { cellsOf } from "./cells.js";

const nowMs = Date.parse("2026-01-01T00:01:00Z");

function cell(type: string, value: unknown): unknown {
  const columns = [{ name: "Value", type, jsonPath: ".spec.value" }];
  const object = { metadata: { name: "a" }, spec: { value } };
  return cellsOf(
    { columns, isBuiltIn: false } as unknown as ResourceDefinition,
    object as unknown as KubeObject,
    nowMs,
  )[0];
}

describe("cells of custom resources", () => {
  it.each([
    ["integer", 1.5, 1],
    ["integer", "1", null],
    ["number", "1", null],
    ["boolean", "true", null],
    ["string", { a: [1] }, '{"a":[1]}'],
    ["string", null, null],
    ["date", "2026-01-01T00:00:00Z", "60s"],
    ["date", "2026-01-01T01:00:00+01:00", "60s"],
    ["date", "", "<unknown>"],
    ["date", "null", "<unknown>"],
    ["date", "yesterday", "<invalid>"],
    ["date", "January 1, 2026", "<invalid>"],
    ["date", 5, null],
  ])("of type %s: %j", (type, value, shown) => {
    expect(cell(type, value)).toEqual(shown);
  });
});
