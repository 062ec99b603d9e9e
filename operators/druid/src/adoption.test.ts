import type { Kind } from "setpoint";
import { StatefulSet } from "setpoint/kinds/apps/v1";
import { Pod } from "setpoint/kinds/v1";
import { TestEnvironment } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { KINDS } from "./cluster/cluster-pass.js";
import { Druid } from "./druid.js";
import { DruidIngestion } from "./druid-ingestion.js";
import { druidControllers } from "./druid-operator.js";
import { unreachable } from "./druid-world.testing.js";
import { fixture, hasFixtures, WITHOUT } from "./fixtures.testing.js";
import { planAll } from "./plan-all.js";
import { childrenOf, ownerOf, render } from "./rendering/render.js";

const here = { namespace: "default" };
const PUBLISHED = ["druids", "druidingestions"].map((name) => (hasFixtures ? fixture(`crds/${name}.yaml`) : {}));

describe.runIf(hasFixtures).each([
  ["our own", [Druid, DruidIngestion]],
  ["the published", PUBLISHED],
])(`a cluster that druid-operator has made, with %s definitions${WITHOUT}`, { timeout: 120_000 }, (_which, kinds) => {
  it("is adopted without restarting any pod, and the plan says so beforehand", async () => {
    await using env = await TestEnvironment.create({ kinds: kinds as never, simulate: true });
    const given = fixture("inputs/druid-smoke-test-cluster.yaml") as Druid;
    const druid = await env.client.create(Druid, { ...given, metadata: { ...given.metadata, ...here } });
    for (const child of childrenOf(render(druid))) {
      const metadata = { ...child.metadata, ownerReferences: [ownerOf(druid)!] };
      const body = { ...child, metadata } as never;
      await env.client.create(KINDS[child.kind] as Kind, body, { fieldManager: "manager" });
    }
    await env.advance("5m");
    const alive = async () => {
      const pods = (await env.client.list(Pod, here)).items.map(({ metadata }) => metadata.uid);
      const sets = (await env.client.list(StatefulSet, here)).items;
      return [...pods, ...sets.map(({ metadata, status }) => `${metadata.uid} ${status?.updateRevision}`)].sort();
    };
    const before = await alive();
    expect(before.length).toBeGreaterThan(6);
    const plan = await planAll(env.client, {});
    expect(plan.slice(1).map((line) => line.trim().split(/\s+/).at(-1))).toEqual(["none", "none", "none", "none"]);
    await env.start(druidControllers({ call: unreachable, clock: env.clock }));
    await env.advance("30m");
    expect(await alive()).toEqual(before);
    const { status } = await env.client.get(Druid, druid.metadata.name, here);
    expect(status?.druidNodeStatus?.druidNodeConditionType).toBe("DruidClusterReady");
    const { annotations } = (await env.client.list(StatefulSet, here)).items[0]!.metadata;
    expect(annotations?.druidOpResourceHash).toMatch(/^[\w+/]{27}=$/);
  });
});
