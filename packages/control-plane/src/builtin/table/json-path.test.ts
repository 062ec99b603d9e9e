import { describe, expect, it } from "vitest";
import { findAll } from "./json-path.js";

const OBJECT = {
  spec: { color: "red", "a.b": 1, list: [{ name: "x" }, { name: "y", size: 3 }] },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Other", status: "False" },
    ],
  },
};

describe("JSON paths of columns", () => {
  it.each([
    [".spec.color", ["red"]],
    ["{.spec.color}", ["red"]],
    [".spec['a.b']", [1]],
    [".spec.a\\.b", [1]],
    [".spec.list[0].name", ["x"]],
    [".spec.list[-1].name", ["y"]],
    [".spec.list[*].name", ["x", "y"]],
    [".spec.list[0:1].name", ["x"]],
    ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
    [".status.conditions[?(@.type!='Ready')].status", ["False"]],
    [".spec.list[?(@.size>2)].name", ["y"]],
    [".spec.list[?(@.size)].name", ["y"]],
    ["..name", ["x", "y"]],
    [".spec.nope", []],
    [".constructor", []],
    [".spec.list[", []],
  ])("%s", (path, expected) => {
    expect(findAll(OBJECT, path)).toEqual(expected);
  });
});
