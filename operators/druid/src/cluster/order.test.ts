import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NODE_TYPES } from "../druid.js";
import { druidFixture, hasFixtures, WITHOUT } from "../fixtures.testing.js";
import { render } from "../rendering/render.js";
import { inOrder, isOlderImage, type ROLLOUT_ORDERS } from "./order.js";

const group = (key: string, nodeType: (typeof NODE_TYPES)[number]) => ({ key, node: { nodeType } });
const types = (order: keyof typeof ROLLOUT_ORDERS, isDowngrade = false) =>
  inOrder(
    NODE_TYPES.map((type) => group(type, type)),
    order,
    isDowngrade,
  ).map(({ key }) => key);

describe("the rollout order", () => {
  it.runIf(hasFixtures)(`is the original's for ordering.yaml, by its name [D8]${WITHOUT}`, () => {
    const { groups } = render(druidFixture("inputs/ordering.yaml"));
    expect(inOrder(groups, "original").map(({ node }) => node.nodeType)).toEqual([
      "historical",
      "historical",
      "overlord",
      "middleManager",
      "indexer",
      "broker",
      "coordinator",
      "router",
    ]);
  });

  it("is the seed's, or the documentation's, and backwards for a downgrade", () => {
    expect(types("seed")).toEqual([
      "historical",
      "middleManager",
      "indexer",
      "broker",
      "coordinator",
      "overlord",
      "router",
    ]);
    expect(types("documentation")).toEqual([
      "historical",
      "indexer",
      "middleManager",
      "broker",
      "router",
      "overlord",
      "coordinator",
    ]);
    expect(types("seed", true)).toEqual([
      "router",
      "overlord",
      "coordinator",
      "broker",
      "indexer",
      "middleManager",
      "historical",
    ]);
  });

  it("does not depend on the order of the groups in the spec [D9]", () => {
    const groups = [
      group("hot", "historical"),
      group("cold", "historical"),
      ...NODE_TYPES.map((type) => group(`z-${type}`, type)),
    ];
    const expected = inOrder(groups, "seed").map(({ key }) => key);
    expect(expected.slice(0, 3)).toEqual(["cold", "hot", "z-historical"]);
    fc.assert(
      fc.property(fc.shuffledSubarray(groups, { minLength: groups.length }), (shuffled) => {
        expect(inOrder(shuffled, "seed").map(({ key }) => key)).toEqual(expected);
      }),
    );
  });

  it("recognises a downgrade by the image versions, if there are any", () => {
    expect(isOlderImage("apache/druid:29.0.1", "apache/druid:30.0.0")).toBe(true);
    expect(isOlderImage("apache/druid:30.0.0", "apache/druid:29.0.1")).toBe(false);
    expect(isOlderImage("apache/druid:30.0.0", "apache/druid:30.0.0")).toBe(false);
    expect(isOlderImage("registry:5000/druid:9.1", "registry:5000/druid:10.0")).toBe(true);
    expect(isOlderImage("apache/druid:latest", "apache/druid:30.0.0")).toBe(false);
  });
});
