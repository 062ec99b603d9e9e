import { compareCrds } from "setpoint/kinds";
import { expect, it } from "vitest";
import { Druid } from "./druid.js";
import { DruidIngestion } from "./druid-ingestion.js";
import { fixture, hasFixtures, WITHOUT } from "./fixtures.testing.js";

it.runIf(hasFixtures).each([
  ["druids", Druid],
  ["druidingestions", DruidIngestion],
] as const)(`the definition of %s is compatible with the published one${WITHOUT}`, (name, kind) => {
  const changes = compareCrds(fixture(`crds/${name}.yaml`) as never, kind.crd() as never);
  expect(changes.filter(({ severity }) => severity === "incompatible")).toEqual([]);
});
