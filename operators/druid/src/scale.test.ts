import { ConfigMap } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { DruidWorld } from "./druid-world.testing.js";
import { sampleDruid } from "./sample.testing.js";

const CLUSTERS = 200;
const here = { namespace: "default" };

describe(`${CLUSTERS} clusters`, { timeout: 240_000 }, () => {
  it("need no write when steady, and new common configuration of one affects that one only", async () => {
    await using world = await DruidWorld.create();
    const nodes = { brokers: { nodeType: "broker" }, routers: { nodeType: "router" } } as const;
    for (let at = 0; at < CLUSTERS; at++) await world.create(sampleDruid(nodes, {}, { name: `c${at}` }));
    await world.env.advance("1m");
    const maps = await world.env.client.list(ConfigMap, { ...here, labelSelector: "app=druid" });
    expect(maps.items).toHaveLength(3 * CLUSTERS);
    const before = world.env.operator.requests.length;
    await world.env.advance("1h");
    expect(world.env.operator.requests.slice(before)).toEqual([]);

    await world.patch("c7", { spec: { "common.runtime.properties": "druid.zk.service.host=other" } });
    await world.env.advance("10m");
    const since = world.env.operator.requests.slice(before).filter(({ path }) => !path.includes("/events"));
    expect(since.length).toBeGreaterThan(2);
    expect(since.filter(({ path }) => !/\/(druid-)?c7(-|\/|\?|$)/.test(path))).toEqual([]);
  });
});
