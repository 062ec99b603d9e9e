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
