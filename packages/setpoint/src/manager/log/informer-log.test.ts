import { afterEach, beforeEach, expect, it } from "vitest";
import { controller } from "../../controller/controller.js";
import { Website, World } from "../../controller/world.testing.js";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import type { Logger } from "../../loop/logger.js";
import { errorAnswer } from "../../testing/error-answer.js";
import { TestEnvironment } from "../../testing/test-environment.js";
import { Manager } from "../manager.js";

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

it("a forbidden kind is logged once, and once more when it works again", async () => {
  const lines: string[] = [];
  const write =
    (level: string) =>
    (message: string): void => {
      if (message.startsWith("the informer of")) lines.push(`${level} ${message}`);
    };
  const log: Logger = {
    ...{ debug: () => {}, info: write("info"), warn: write("warn"), error: write("error") },
    with: () => log,
  };
  await using env = await TestEnvironment.create({ manager: { log } });
  const fault = env.fault(({ path }) =>
    path.includes("/configmaps") ? errorAnswer(403, "Forbidden", "configmaps is forbidden") : undefined,
  );
  const maps = controller(ConfigMap, { namespaces: ["default"], reconcile: () => {} });
  await env.start([maps]);
  await env.advance("10m");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^warn the informer of v1\/ConfigMap: .*forbidden/);
  fault[Symbol.dispose]();
  await env.advance("10m");
  expect(lines.slice(1)).toEqual(["info the informer of v1/ConfigMap works again"]);
});

it("metrics of a controller are exported with those of the runtime until their object is gone", async () => {
  const SIZE = { name: "site_size", help: "How large a site is." };
  await using manager = new Manager({ client: world.client, clock: world.clock });
  await manager.add(
    controller(Website, {
      reconcile({ metadata: { name } }, { metrics }) {
        metrics.counter({ name: "site_looks_total", help: "Looks at sites." }).add({ site: name });
        metrics.gauge(SIZE).set({ site: name }, 7);
        metrics.histogram({ name: "site_seconds", help: "Seconds.", buckets: [1, 5] }).observe({}, 3);
      },
      gone: (key, { metrics }) => metrics.gauge(SIZE).remove({ site: key.split("/")[1]! }),
    }),
  );
  await manager.start();
  await world.createWebsite("a");
  await world.clock.settle();
  expect(manager.metrics.exposition()).toContain('site_looks_total{site="a"} 1\n');
  expect(manager.metrics.exposition()).toContain('site_size{site="a"} 7\n');
  expect(manager.metrics.exposition()).toContain('site_seconds_bucket{le="5"} 1\n');
  await world.client.delete(Website, "a", { namespace: "team" });
  await world.clock.settle();
  expect(manager.metrics.exposition()).not.toContain('site_size{site="a"}');
});
