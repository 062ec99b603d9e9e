import { expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { StatefulSet } from "../kinds/builtin/apps/v1.js";
import { ConfigMap, Secret } from "../kinds/builtin/v1.js";
import type { Condition } from "../kinds/condition.js";
import type { ObjectOf } from "../kinds/kind.js";
import { resource } from "../kinds/resource.js";
import { controller, scoped } from "./controller.js";

const Shop = resource("web.example.com/v1/Shop", {
  spec: z.object({ size: z.int() }),
  status: z.object({ ready: z.int().optional() }),
  conditions: true,
});

/** Never run: the compiler checks what follows. */
const declared = controller(Shop, {
  uses: [scoped(ConfigMap, { indexes: { color: ({ data }) => [data?.color ?? ""] } }), Secret],
  owns: [StatefulSet],
  async reconcile(shop, ctx) {
    await ctx.byIndex(ConfigMap, { color: "red" });
    // @ts-expect-error: there is no index of that name
    await ctx.byIndex(ConfigMap, { colour: "red" });
    // @ts-expect-error: Secrets have no index here
    await ctx.byIndex(Secret, { color: "red" });
    expectTypeOf(shop.status?.conditions).toEqualTypeOf<readonly Condition[] | undefined>();
    expectTypeOf(shop.metadata.uid).toEqualTypeOf<string>();
    ctx.condition({ type: "Open", status: "True", reason: "Opened" });
  },
});

it("types the names of indexes, conditions and metadata", () => {
  expectTypeOf<NonNullable<ObjectOf<typeof Shop>["status"]>["ready"]>().toEqualTypeOf<number | undefined>();
  expect(declared.uses).toHaveLength(2);
});
