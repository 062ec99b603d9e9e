import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { mutants } from "../../conformance/src/mutant-list.js";
import { root } from "./sources.js";

it("every mutant of the conformance suite still finds the place that it breaks", () => {
  const lost = mutants.filter(({ file, find }) => {
    const text = readFileSync(join(root, "packages/control-plane/src", file), "utf8");
    return text.split(find).length !== 2;
  });
  expect(lost.map(({ behaviour, file }) => `${file}: ${behaviour}`)).toEqual([]);
});
