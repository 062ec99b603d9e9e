import { describe, expect, it, vi } from "vitest";
import { controller } from "../controller/controller.js";
import { watcher } from "../controller/watcher.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import type { KubeObject } from "../kinds/object.js";
import { resource } from "../kinds/resource.js";
import { mutating, type ValidateOptions, validating } from "./admission.js";
import { app } from "./app.js";
import { OldOrder, Order, Shop } from "./app.testing.js";
import { kindRoute, versionRoute } from "./routes/route.js";

const nothing = () => undefined;

describe("app", () => {
  it("takes many controllers and watchers, of its own kinds and of foreign ones", () => {
    const made = app({
      name: "shop",
      kinds: [Order, Shop],
      unmanaged: [ConfigMap],
      loops: [
        controller(Order, { reconcile: nothing }),
        controller(ConfigMap, { reconcile: nothing }),
        watcher(Order, { add: nothing }),
        watcher(Order, { name: "audit", add: nothing }),
      ],
    });
    expect(made.group).toBe("shop.example.com");
    expect(made.loops.map(({ type, name }) => `${type} ${name}`)).toEqual([
      "controller orders",
      "controller configmaps",
      "watcher orders",
      "watcher audit",
    ]);
  });

  it("converts the kinds whose versions declare a conversion", () => {
    const Both = Order.withVersion(OldOrder, {
      up: ({ spec }) => ({ spec: { item: spec.item, count: spec.pieces } }),
      down: ({ spec }) => ({ spec: { item: spec.item, pieces: spec.count } }),
    });
    expect(app({ name: "shop", kinds: [Both] }).converters).toMatchObject([{ group: Order.group, kind: "Order" }]);
  });

  it("warns that a validator misses kubectl scale, unless it states its subresources", () => {
    const Pool = resource("shop.example.com/v1/Pool", {
      spec: { type: "object", properties: { replicas: { type: "integer" } } },
      status: { type: "object", properties: { ready: { type: "integer" } } },
      scale: { spec: ".spec.replicas", status: ".status.ready" },
    });
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const declare = (options: ValidateOptions<KubeObject>) =>
      app({ name: "shop", kinds: [Pool], validate: [validating(Pool, options)] });
    declare({ update: nothing, subresources: ["scale"] });
    declare({ update: nothing, subresources: [] });
    declare({ create: nothing });
    expect(warn).not.toHaveBeenCalled();
    declare({ update: nothing });
    expect(warn.mock.calls).toEqual([
      [
        expect.stringContaining("the validator of shop.example.com/v1/Pool does not see kubectl scale"),
        { code: "SETPOINT_SCALE_UNCHECKED" },
      ],
    ]);
    warn.mockRestore();
  });

  it("lists every mistake in its declaration", () => {
    const handle = () => ({ json: 1 });
    const declare = () =>
      app({
        name: "Shop",
        kinds: [Order, Order],
        loops: [controller(ConfigMap, { reconcile: nothing })],
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
      "its path must be names separated by slashes",
      "two routes are GET shop.example.com/v1 orders/{name}/sum",
      "shops/{name}/x: none of its kinds has that version",
      "hides the objects of shop.example.com/v1/Order",
    ]) {
      expect(declare).toThrow(problem);
    }
    expect(declare).toThrow(expect.objectContaining({ code: "APP_INVALID" }));
  });

  it.each<[string, object, string]>([
    [
      "a misspelt option",
      { validators: [] },
      "app shop: there is no option validators; there are name, displayName, kinds",
    ],
    ["a kind in place of a list", { unmanaged: ConfigMap }, "app shop: unmanaged is not a list"],
    ["a reconciler that an import in a circle left out", { loops: [undefined] }, "loops[0] is undefined, no"],
    ["a kind among loops", { loops: [Order] }, "loops[0] is "],
    ["a validator among loops", { loops: [validating(Order, {})] }, "loops[0] is validator of Order, no controller"],
    ["a handler among validators", { validate: [mutating(Order, {})] }, "validate[0] is mutator of Order, no"],
    ["an invalid route", { routes: [{ path: "x" }] }, 'routes[0] is {"path":"x"}, no'],
    [
      "a misspelt handler",
      { validate: [validating(Order, { create: nothing, udpate: nothing } as never)] },
      "the validator of shop.example.com/v1/Order: there is no option udpate; there are create, update, delete",
    ],
    [
      "an invalid policy",
      { validate: [validating(Order, { create: nothing, failurePolicy: "ignore" } as never)] },
      'failurePolicy is "ignore", not Fail or Ignore',
    ],
    [
      "a handler that is no function",
      { validate: [validating(Order, { create: "x" } as never)] },
      'create is "x", not a function',
    ],
    [
      "a time-out that no server accepts",
      { validate: [validating(Order, { create: nothing, timeoutSeconds: 60 })] },
      "timeoutSeconds is 60, not 1 to 30",
    ],
    [
      "an invalid selector",
      { mutate: [mutating(Order, { create: nothing, namespaceSelector: "team=a" } as never)] },
      'namespaceSelector is "team=a", not a label selector',
    ],
    [
      "a converter of a kind that it installs itself",
      { convert: [{ group: Order.group, kind: "Order", convert: (order: object) => order }] },
      "the converter of shop.example.com/Order is of a kind declared here: convert it with withVersion",
    ],
    [
      "a cluster-wide route that is taken for one of a namespace",
      { routes: [versionRoute("shop.example.com/v1", "Cluster", { path: "namespaces/x/y", handle: nothing })] },
      "no request reaches it",
    ],
    [
      "a method in small letters",
      { routes: [kindRoute(Order, { path: "x", method: "post", handle: nothing } as never)] },
      "route post shop.example.com/v1 orders/{name}/x: its method is not one of GET, HEAD, POST",
    ],
    [
      "a route without a handler",
      { routes: [kindRoute(Order, { path: "x" } as never)] },
      "handle is undefined, not a function",
    ],
  ])("refuses %s, with a message", (_, options, message) => {
    const declare = () => app({ name: "shop", kinds: [Order], ...options });
    expect(declare).toThrow(expect.objectContaining({ code: "APP_INVALID" }));
    expect(declare).toThrow(message);
  });

  it("requires options and a name", () => {
    expect(() => app(undefined as never)).toThrow("app: its options are undefined");
    expect(() => app({ kinds: [] } as never)).toThrow("its name must be lower-case letters");
  });

  it("requires a list of kinds", () => {
    expect(() => app({ name: "shop" } as never)).toThrow("app shop: kinds is not a list; write [] for none");
  });
});
