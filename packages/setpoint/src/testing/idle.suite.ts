import { describe, expect, it } from "vitest";
import { controller } from "../controller/controller.js";
import { Website, websiteDefinition } from "../controller/world.testing.js";
import { Deployment } from "../kinds/builtin/apps/v1.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { mutations, serverRequests } from "./server-requests.testing.js";
import { TestEnvironment } from "./test-environment.js";

const PARTS = ["a", "b", "c"] as const;
const namespace = "default";

/** Three children per object. `more` is desired besides the part's name. */
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

/** A child whose values the server normalises and completes, beside a read, a finalizer, a condition and an event. */
const normalised = controller(Website, {
  name: "normalised",
  owns: [Deployment],
  uses: [ConfigMap],
  async reconcile({ metadata: { name }, spec: { image }, status }, ctx) {
    const settings = await ctx.find(ConfigMap, "settings");
    const labels = { app: name };
    const resources = { requests: { cpu: "1000m", memory: "1024Mi" }, limits: { cpu: "2000m", memory: "2048Mi" } };
    const env = [{ name: "TEXT", value: settings?.data?.text ?? "" }];
    const ports = [{ containerPort: 80 }];
    const template = { metadata: { labels }, spec: { containers: [{ name: "web", image, resources, env, ports }] } };
    await ctx.apply(Deployment, { metadata: { name }, spec: { selector: { matchLabels: labels }, template } });
    ctx.condition({ type: "Ready", status: "True", reason: "Applied", message: "" });
    if (!status?.conditions) ctx.event("Normal", "Applied", "the deployment is as it should be");
  },
  finalize: () => {},
});

/** Per informer. A watch lasts at least five minutes: more of them would be a loop of reconnects or relists. */
const MAX_WATCHES_PER_HOUR = 12;

/** The watches that the operator starts from now on: all, and those that list everything first. */
function countWatches(
  env: TestEnvironment,
): Disposable & { readonly all: readonly string[]; readonly lists: string[] } {
  const all: string[] = [];
  const fault = env.fault(({ path }) => {
    if (path.includes("watch=true")) all.push(path);
    return undefined;
  });
  return {
    all,
    get lists() {
      return all.filter((path) => path.includes("sendInitialEvents=true"));
    },
    [Symbol.dispose]: () => fault[Symbol.dispose](),
  };
}

const isLease = (path: string): boolean => path.includes("/leases/");

/** An operator without work, with so many objects and three times as many children. */
export function idleSuite(objects: number): void {
  describe(`an idle operator of ${objects} objects and ${3 * objects} children`, () => {
    it("rests for an hour, writes nothing after a restart, and removes a field that was dropped meanwhile", async () => {
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
      using watches = countWatches(env);
      await env.advance("1h");
      const informers = [...first.manager.informers.statuses()].length;
      expect(watches.all.length).toBeLessThanOrEqual(informers * MAX_WATCHES_PER_HOUR);
      expect(watches.lists).toEqual([]);
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

    it("writes nothing for an hour, nor after a restart, although the server normalises what it applies", async () => {
      const count = Math.min(objects, 50);
      await using env = await TestEnvironment.create({ kinds: [websiteDefinition()] });
      await env.client.create(ConfigMap, { metadata: { namespace, name: "settings" }, data: { text: "hello" } });
      for (let at = 0; at < count; at++) {
        const name = `site-${at}`;
        await env.client.create(Website, { metadata: { namespace, name }, spec: { image: "nginx" } });
      }
      const first = await env.start([normalised]);
      await env.advance("1m");
      const made = await env.client.get(Deployment, "site-0", { namespace });
      expect(made.spec?.template.spec?.containers[0]).toMatchObject({
        resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2", memory: "2Gi" } },
        ports: [{ containerPort: 80, protocol: "TCP" }],
      });
      const counted = await serverRequests(env.client);
      expect(counted).toMatchObject({ "PATCH deployments": count });
      await env.advance("1h");
      expect(await serverRequests(env.client)).toEqual(counted);
      await stop(env, first);
      const second = await env.start([normalised]);
      await env.advance("3s");
      expect(second.manager.metrics.exposition()).toContain(
        `controller_runtime_reconcile_total{controller="normalised",result="success"} ${count}\n`,
      );
      expect(mutations(await serverRequests(env.client))).toEqual(mutations(counted));
    }, 60_000);
  });
}

async function stop(env: TestEnvironment, operator: AsyncDisposable): Promise<void> {
  const stopped = operator[Symbol.asyncDispose]();
  await env.advance("5s");
  await stopped;
}
