import { expect, it } from "vitest";
import { CustomResourceDefinition } from "../kinds/builtin/apiextensions.k8s.io/v1.js";
import { controller } from "./controller.js";
import { Website, World } from "./world.testing.js";

it("writes the statuses of a kind without a status subresource, also where several runs find that out at once", async () => {
  await using world = await World.create();
  const definition = await world.client.get(CustomResourceDefinition, "websites.web.example.com");
  const versions = definition.spec.versions.map(({ subresources: _, ...version }) => version);
  await world.client.update(CustomResourceDefinition, { ...definition, spec: { ...definition.spec, versions } });
  await world.clock.advance(5_000);
  const failed: unknown[] = [];
  for (const name of ["a", "b", "c"]) await world.createWebsite(name);
  await world.run(
    controller(Website, {
      onError: (error) => failed.push(error),
      reconcile: (_, ctx) => ctx.status({ ready: 1 }),
    }),
  );
  await world.clock.advance(5_000);
  for (const name of ["a", "b", "c"]) expect((await world.website(name))?.status?.ready).toBe(1);
  expect(failed).toEqual([]);
});

it("adds its condition to those that somebody else has set meanwhile", async () => {
  await using world = await World.create();
  const theirs = {
    type: "Theirs",
    status: "True",
    reason: "Set",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  let isFirst = true;
  await world.run(
    controller(Website, {
      async reconcile(_, ctx) {
        ctx.condition({ type: "Ready", status: "True", reason: "Done" });
        if (!isFirst) return;
        isFirst = false;
        const body = { status: { conditions: [theirs] } } as never;
        await world.client.patch(Website, "a", { type: "merge", body }, { namespace: "team", subresource: "status" });
      },
    }),
  );
  await world.createWebsite("a");
  await world.clock.advance(5_000);
  const types = (await world.website("a"))?.status?.conditions?.map(({ type }) => type);
  expect(types?.toSorted()).toEqual(["Ready", "Theirs"]);
});
