import { describe, expect, it } from "vitest";
import { controller } from "../controller/controller.js";
import { Website, websiteDefinition } from "../controller/world.testing.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { mutations, serverRequests } from "./server-requests.testing.js";
import { TestEnvironment } from "./test-environment.js";

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

/** An operator that has nothing to do, with so many objects and three times as many children. */
export function idleSuite(objects: number): void {
  describe(`an idle operator of ${objects} objects and ${3 * objects} children`, () => {
    it("rests for an hour, writes nothing after a restart, and removes a field that was given up meanwhile", async () => {
      await using env = await TestEnvironment.create({
        kinds: [websiteDefinition()],
        manager: { name: "app", leaderElection: { namespace } },
      });
      for (let at = 0; at < objects; at++) {
        const name = `site-${at}`;
        await env.client.create(Website, { metadata: { namespace, name }, spec: { image: "nginx" } });
      }
      const first = await env.start([websites({ color: "red" })]);
      await env.advance("1s");
      const counted = await serverRequests(env.client);
      expect(counted).toMatchObject({ "PATCH configmaps": objects * PARTS.length, "PATCH websites": objects });
      const sent = first.requests.length;
      await env.advance("1h");
      expect(await serverRequests(env.client)).toEqual(counted);
      expect(first.requests.slice(sent).filter(({ path }) => !isLease(path))).toEqual([]);
      await stop(env, first);

      const second = await env.start([websites({ color: "red" })]);
      await env.advance("3s");
      expect(second.manager.metrics.exposition()).toContain(
        `controller_runtime_reconcile_total{controller="websites",result="success"} ${objects}\n`,
      );
      expect(mutations(await serverRequests(env.client))).toEqual(mutations(counted));
      await stop(env, second);

      const third = await env.start([websites({})]);
      await env.advance("3s");
      expect(third.writes).toHaveLength(objects * PARTS.length);
      const { items } = await env.client.list(ConfigMap, { namespace });
      const children = items.filter(({ metadata }) => metadata.name.startsWith("site-"));
      expect(children).toHaveLength(objects * PARTS.length);
      expect(children.filter(({ data }) => data?.color !== undefined || data?.part === undefined)).toEqual([]);
    }, 1_800_000);
  });
}

async function stop(env: TestEnvironment, operator: AsyncDisposable): Promise<void> {
  const stopped = operator[Symbol.asyncDispose]();
  await env.advance("5s");
  await stopped;
}
