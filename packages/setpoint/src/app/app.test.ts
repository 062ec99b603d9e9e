import { describe, expect, it } from "vitest";
import { controller } from "../controller/controller.js";
import { watcher } from "../controller/watcher.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { validating } from "./admission.js";
import { app } from "./app.js";
import { OldOrder, Order, Shop } from "./app.testing.js";
import { kindRoute, versionRoute } from "./route.js";

const nothing = () => undefined;

describe("app", () => {
  it("takes many reconcilers and watchers, of its own kinds and of others", () => {
    const made = app({
      name: "shop",
      kinds: [Order, Shop],
      unmanaged: [ConfigMap],
      reconcilers: [controller(Order, { reconcile: nothing }), controller(ConfigMap, { reconcile: nothing })],
      watchers: [watcher(Order, { add: nothing }), watcher(Order, { name: "audit", add: nothing })],
    });
    expect(made.group).toBe("shop.example.com");
    expect(made.workloads.map(({ type, name }) => `${type} ${name}`)).toEqual([
      "controller orders",
      "controller configmaps",
      "watcher orders",
      "watcher audit",
    ]);
  });

  it("converts the kinds whose versions say how", () => {
    const Both = Order.withVersion(OldOrder, {
      up: ({ spec }) => ({ spec: { item: spec.item, count: spec.pieces } }),
      down: ({ spec }) => ({ spec: { item: spec.item, pieces: spec.count } }),
    });
    expect(app({ name: "shop", kinds: [Both] }).converters).toMatchObject([{ group: Order.group, kind: "Order" }]);
  });

  it("lists everything that is wrong with it", () => {
    const handle = () => ({ json: 1 });
    const declare = () =>
      app({
        name: "Shop",
        kinds: [Order, Order],
        reconcilers: [controller(ConfigMap, { reconcile: nothing })],
        validate: [validating(Order, {})],
        routes: [
          kindRoute(Order, { path: "/total", handle }),
          kindRoute(Order, { path: "sum", handle }),
          kindRoute(Order, { path: "sum", handle }),
          kindRoute(Shop, { path: "x", handle }),
          versionRoute("shop.example.com/v1", "Namespaced", { path: "orders", handle }),
        ],
      });
    for (const problem of [
      "its name must be lower-case",
      "two kinds have the plural v1 orders",
      "controller configmaps is of v1/ConfigMap, which is in neither kinds nor unmanaged",
      "the validator of shop.example.com/v1/Order has no function",
      "its path is names with slashes",
      "two routes are GET shop.example.com/v1 orders/{name}/sum",
      "shops/{name}/x: none of its kinds has that version",
      "hides the objects of shop.example.com/v1/Order",
    ]) {
      expect(declare).toThrow(problem);
    }
    expect(declare).toThrow(expect.objectContaining({ code: "APP_INVALID" }));
  });

  it("is refused without a list of kinds", () => {
    expect(() => app({ name: "shop" } as never)).toThrow("app shop: kinds is no list; [] is one");
  });
});
