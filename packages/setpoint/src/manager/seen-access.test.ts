import { expect, it } from "vitest";
import { z } from "zod";
import { createClient } from "../client/api-client.js";
import { controller } from "../controller/controller.js";
import type { RbacRule } from "../controller/rbac-rule.js";
import { ConfigMap, Secret } from "../kinds/builtin/v1.js";
import { resource } from "../kinds/resource.js";
import { TestEnvironment } from "../testing/test-environment.js";
import { Manager } from "./manager.js";
import { rbacRules } from "./rbac.js";
import { SeenAccess } from "./seen-access.js";

const Website = resource("web.example.com/v1/Website", {
  spec: z.object({ image: z.string() }),
  status: z.object({ ready: z.boolean() }),
});

const short = (rules: readonly RbacRule[]): readonly string[] =>
  rules.map(({ resources, verbs }) => `${resources}: ${verbs.join(" ")}`);

it("confirms declared rules by the requests of a process, and reports those that it never needed", async () => {
  await using env = await TestEnvironment.create({ kinds: [Website] });
  const websites = controller(Website, {
    owns: [ConfigMap],
    uses: [Secret],
    async reconcile({ metadata, spec }, ctx) {
      await ctx.apply(ConfigMap, { metadata: { name: metadata.name }, data: { image: spec.image } });
      ctx.status({ ready: true });
    },
  });
  const seen = new SeenAccess();
  const transport = {
    request: (request: Parameters<typeof env.client.raw>[0]) => env.client.raw({ ...request, retry: false }),
    [Symbol.asyncDispose]: async () => {},
  };
  const observer = (request: Parameters<SeenAccess["observe"]>[0]): void => seen.observe(request);
  const client = createClient({ transport, server: "in-process", clock: env.clock, observer });
  await using manager = new Manager({ client, clock: env.clock });
  await manager.add(websites);
  await manager.start();
  await env.client.create(Website, { metadata: { namespace: "default", name: "a" }, spec: { image: "nginx" } });
  await env.advance("1s");

  const { rules, unseen } = seen.narrow([websites], rbacRules([websites]));
  expect(short(rules)).toEqual([
    "websites: get list watch",
    "websites/status: patch",
    "websites/finalizers: update",
    "configmaps: get list watch create patch",
  ]);
  expect(short(unseen)).toEqual(["configmaps: delete", "secrets: get list watch", "events: create patch"]);
});
