import { expect, it } from "vitest";
import type { Outcome } from "../../loop/outcome.js";
import { controller } from "../controller.js";
import { Website, World } from "../world.testing.js";

it.each([
  ["returned", (outcome: Outcome) => outcome],
  [
    "thrown",
    (outcome: Outcome): never => {
      throw outcome;
    },
  ],
])("an outcome that is %s with an invalid time is a terminal error, and does not block others", async (_, give) => {
  await using world = await World.create();
  const seen: string[] = [];
  await world.run(
    controller(Website, {
      reconcile({ metadata }) {
        seen.push(metadata.name);
        return metadata.name === "a" ? give({ type: "requeueAfter", afterMs: Number.NaN }) : undefined;
      },
    }),
  );
  await world.createWebsite("a");
  await world.createWebsite("b");
  await world.clock.advance(60_000);
  expect(seen).toEqual(["a", "b"]);
  const run = world.runs().find(({ key }) => key === "team/a");
  expect(run).toMatchObject({ outcome: "terminal", reason: expect.stringContaining("afterMs NaN") });
});
