import { beforeAll, expect, it } from "vitest";
import { buildRustProgram } from "../../bench/rust-program.mjs";
import { stepsOf } from "./program.js";

let program: string;
beforeAll(() => {
  program = buildRustProgram(new URL("kube-rs/", import.meta.url), "kube-rs-client");
});

it("serves an operator written with kube-rs", async () => {
  expect(await stepsOf(program, [])).toEqual([
    "definition established and discovered",
    "built-in kinds created, listed, patched, replaced, deleted",
    "watch with a selector",
    "watchers streamed, paged and of metadata",
    "reflector",
    "apply, status and scale",
    "controller with finalizer and owned children",
    "definition and namespace deleted",
  ]);
});
