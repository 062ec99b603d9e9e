import { expect, it } from "vitest";
import { knownLabels } from "./known-labels.js";

it("returns equal labels as the same object", () => {
  const labelsOf = knownLabels("verb", "kind");
  const labels = labelsOf("apply", "Pod");
  expect(labels).toEqual({ verb: "apply", kind: "Pod" });
  expect(labelsOf("apply", "Pod")).toBe(labels);
  expect(labelsOf("apply", "")).toEqual({ verb: "apply", kind: "" });
});

it("caches a bounded number of them, and creates the others anew", () => {
  const labelsOf = knownLabels("name");
  const first = labelsOf("0");
  for (let name = 1; name < 2_000; name++) labelsOf(String(name));
  expect(labelsOf("0")).toBe(first);
  expect(labelsOf("1999")).toEqual({ name: "1999" });
  expect(labelsOf("1999")).not.toBe(labelsOf("1999"));
});
