import { describe, expect, it } from "vitest";
import { controller } from "../controller/controller.js";
import { Website, websiteDefinition } from "../controller/world.testing.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { TestEnvironment } from "./test-environment.js";

const OBJECTS = Number(process.env.IDLE_OBJECTS ?? 10_000);
const PARTS = ["a", "b", "c"] as const;
const namespace = "default";

/** Three children for each object. `more` is desired besides the part's name. */
const websites = (more: Readonly<Record<string, string>>) =>
  controller(Website, {
    owns: [ConfigMap],
    concurrency: 32,
    async reconcile({ metadata: { name } }, ctx) {
      for (const part of PARTS) {
        await ctx.apply(ConfigMap, { metadata: { name: `${name}-${part}` }, data: { part, ...more } });
      }
      ctx.status({ ready: PARTS.length });
    },
  });

const isLease = (path: string): boolean => path.includes("/leases/");

describe(`an idle operator of ${OBJECTS} objects and ${3 * OBJECTS} children`, () => {
  it("rests for an hour, writes nothing after a restart, and removes a field that was given up meanwhile", async () => {
    await using env = await TestEnvironment.create({
      kinds: [websiteDefinition()],
      manager: { name: "app", leaderElection: { namespace } },
    });
    for (let at = 0; at < OBJECTS; at++) {
      const name = `site-${at}`;
      await env.client.create(Website, { metadata: { namespace, name }, spec: { image: "nginx" } });
    }
    const first = await env.start([websites({ color: "red" })]);
    await env.advance("1s");
    expect(first.writes).toHaveLength(OBJECTS * (PARTS.length + 1));
    const sent = first.requests.length;
    await env.advance("1h");
    expect(first.requests.slice(sent).filter(({ path }) => !isLease(path))).toEqual([]);
    await stop(env, first);

    const second = await env.start([websites({ color: "red" })]);
    await env.advance("3s");
    expect([...second.manager.timeline.runs()].length).toBeGreaterThan(0);
    expect(second.writes).toEqual([]);
    await stop(env, second);

    const third = await env.start([websites({})]);
    await env.advance("3s");
    expect(third.writes).toHaveLength(OBJECTS * PARTS.length);
    const { items } = await env.client.list(ConfigMap, { namespace });
    const children = items.filter(({ metadata }) => metadata.name.startsWith("site-"));
    expect(children).toHaveLength(OBJECTS * PARTS.length);
    expect(children.filter(({ data }) => data?.color !== undefined || data?.part === undefined)).toEqual([]);
  }, 1_800_000);
});

async function stop(env: TestEnvironment, operator: AsyncDisposable): Promise<void> {
  const stopped = operator[Symbol.asyncDispose]();
  await env.advance("5s");
  await stopped;
}
