import { controller, type Trigger } from "../controller/controller.js";
import { Website, websiteDefinition } from "../controller/world.testing.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import type { SentRequest } from "./operator-process.js";
import { TestEnvironment, type TestEnvironmentOptions } from "./test-environment.js";

export const namespace = "default";
export const here = { namespace };
export const isWrite = ({ method }: SentRequest): boolean => method !== "GET";

/** A child, a finalizer and a status: each kind of write that a reconcile makes. */
export const websites = (triggers: readonly Trigger[] = []) =>
  controller(Website, {
    owns: [ConfigMap],
    writes: ["status"],
    triggers,
    retry: { initial: "100ms", max: "1m", jitter: 0 },
    async reconcile({ metadata, spec }, ctx) {
      await ctx.apply(ConfigMap, { metadata: { name: metadata.name }, data: { image: spec.image } });
      ctx.status({ phase: spec.image });
    },
    finalize: () => {},
  });

export const create = (options: TestEnvironmentOptions = {}): Promise<TestEnvironment> =>
  TestEnvironment.create({ kinds: [websiteDefinition()], loops: [websites()], ...options });

export const createSite = (env: TestEnvironment, name: string, image = "nginx"): Promise<Website> =>
  env.client.create(Website, { metadata: { namespace, name }, spec: { image } });

export const setImage = (env: TestEnvironment, name: string, image: string): Promise<Website> =>
  env.client.patch(Website, name, { type: "merge", body: { spec: { image } } }, here);

/** The image in the child and in the status. */
export async function shown(env: TestEnvironment, name: string): Promise<readonly unknown[]> {
  const child = await env.client.find(ConfigMap, name, here);
  const site = await env.client.find(Website, name, here);
  return [child?.data?.image, site?.status?.phase];
}
