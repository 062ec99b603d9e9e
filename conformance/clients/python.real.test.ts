import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";
import { pythonWith, stepsOf } from "./program.js";

let python: string;
beforeAll(() => {
  python = pythonWith(["kubernetes==37.0.2"]);
});

it("serves the official Python client", async () => {
  const program = fileURLToPath(new URL("python/program.py", import.meta.url));
  expect(await stepsOf(python, [program])).toEqual([
    "definition established",
    "typed objects",
    "patches of every kind",
    "custom objects",
    "watch",
    "dynamic client",
    "objects from YAML",
    "access reviews and tokens",
    "definition and namespace deleted",
  ]);
});
