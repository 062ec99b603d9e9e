import { beforeAll, expect, it } from "vitest";
import { buildGoProgram } from "../../bench/go-program.mjs";
import { stepsOf } from "./program.js";

let program: string;
beforeAll(() => {
  program = buildGoProgram(new URL("controller-runtime/", import.meta.url));
});

it("serves an operator written with controller-runtime", async () => {
  expect(await stepsOf(program, [])).toEqual([
    "definition established",
    "every verb of the client",
    "leader elected",
    "controller with children, status and finalizer",
    "cache by name, index and metadata",
    "leadership handed over",
    "definition and namespace deleted",
  ]);
});
