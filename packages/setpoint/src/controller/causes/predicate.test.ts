import { describe, expect, it } from "vitest";
import { controller } from "../controller.js";
import { Website, World } from "../world.testing.js";

describe("a predicate", () => {
  it("passes everything if it throws, and otherwise hides what it does not match", async () => {
    const seen: string[] = [];
    const matches = ({ spec }: Website): boolean => {
      if (spec.replicas === undefined) throw new Error("no replicas");
      return spec.replicas > 0;
    };
    await using world = await World.create();
    await world.run(
      controller(Website, {
        when: { matches },
        reconcile: (site) => void seen.push(`${site.metadata.name} ${site.spec.image}`),
      }),
    );
    await world.createWebsite("zero", { replicas: 0 });
    await world.createWebsite("none");
    await world.clock.settle();
    const body = { spec: { image: "caddy" } };
    await world.client.patch(Website, "none", { type: "merge", body }, { namespace: "team" });
    await world.clock.settle();
    expect(seen).toEqual(["none nginx", "none caddy"]);
  });
});
