import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { controller, mapped, scoped } from "../controller/controller.js";
import { ConfigMap, Namespace, Pod, Secret } from "../kinds/builtin/v1.js";
import { resource } from "../kinds/resource.js";
import { mutating, validating } from "./admission.js";
import { app } from "./app.js";
import { OldOrder, Order, Shop } from "./app.testing.js";
import { type AppManifest, checkManifest, manifestOf, validateManifest } from "./manifest.js";
import { formatManifest, provideApp, readManifest } from "./provider.js";
import { kindRoute, versionRoute } from "./routes/route.js";

const handle = () => ({ json: {} });
const shop = app({
  name: "shop",
  kinds: [
    Order.withVersion(OldOrder, {
      up: () => ({ spec: { item: "", count: 1 } }),
      down: () => ({ spec: { item: "", pieces: 1 } }),
    }),
    Shop,
  ],
  unmanaged: [ConfigMap],
  loops: [controller(Order, { owns: [Secret], reconcile: () => undefined })],
  validate: [validating(Order, { create: () => {}, delete: () => {} })],
  mutate: [mutating(Order, { update: () => undefined })],
  routes: [
    kindRoute(Order, { path: "total", handle }),
    versionRoute("shop.example.com/v1", "Cluster", { path: "stats", handle }),
  ],
  roles: { buyer: { kinds: [{ kind: "Order", verbs: ["get", "create"] }] } },
  roleBindings: { everybody: ["buyer"] },
});

/** The generated manifest with parts of its spec replaced by `change`. */
function changed(change: Partial<AppManifest["spec"]>): AppManifest {
  const manifest = manifestOf(shop);
  return { ...manifest, spec: { ...manifest.spec, ...change } };
}

type Version = AppManifest["spec"]["versions"][number];
type Kind = Version["kinds"][number];

/** A version with its last kind replaced. */
const withKind = (version: Version, kind: Kind) => ({
  versions: [{ ...version, kinds: [...version.kinds.slice(0, -1), kind] }],
});

describe("the manifest of an app", () => {
  it("is generated from the code: kinds, versions, schemas, capabilities, routes and permissions", () => {
    const { spec } = manifestOf(shop);
    expect(spec.versions.map(({ name, kinds }) => [name, kinds.map(({ kind }) => kind)])).toEqual([
      ["v1", ["Order", "Shop"]],
      ["v1beta1", ["Order"]],
    ]);
    expect(spec.versions[0]!.kinds[0]).toMatchObject({
      plural: "orders",
      scope: "Namespaced",
      conversion: true,
      admission: { validation: { operations: ["CREATE", "DELETE"] }, mutation: { operations: ["UPDATE"] } },
      routes: [{ method: "GET", path: "total" }],
      schema: { properties: { spec: { required: ["item"] } } },
    });
    expect(spec.versions[0]!.routes).toEqual({ cluster: [{ method: "GET", path: "stats" }] });
    expect(spec.extraPermissions?.accessKinds.map(({ resource, actions }) => `${resource} ${actions.length}`)).toEqual([
      "configmaps 3",
      "secrets 7",
    ]);
  });

  it("is read from JSON, YAML and a file, and matches the code that it was generated from", async () => {
    const folder = mkdtempSync(join(tmpdir(), "setpoint-manifest-"));
    try {
      const file = join(folder, "manifest.yaml");
      writeFileSync(file, await formatManifest(manifestOf(shop)));
      const texts = [await formatManifest(manifestOf(shop), "json"), await formatManifest(manifestOf(shop), "yaml")];
      expect(texts.map((text) => text[0])).toEqual(["{", "a"]);
      for (const manifest of [manifestOf(shop), ...texts, { file }]) {
        expect(await provideApp({ name: "shop", manifest, create: () => shop }, undefined)).toBe(shop);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("names the file and the mistake in it", async () => {
    await expect(readManifest({ file: "/nowhere/manifest.yaml" })).rejects.toThrow("/nowhere/manifest.yaml: ENOENT");
    await expect(readManifest("{")).rejects.toMatchObject({ code: "MANIFEST_INVALID" });
    await expect(readManifest("kind: Pod")).rejects.toThrow('kind is "Pod", not "AppManifest"');
    await expect(readManifest("shop.yaml")).rejects.toThrow(
      'manifest: "shop.yaml" is not a manifest; { file: "shop.yaml" } reads one',
    );
    await expect(readManifest({ kind: "AppManifest" } as never)).rejects.toThrow(
      "manifest: spec.versions is not a list",
    );
  });

  it("reports plural, scope and conversion mismatches across versions in one error [case 38]", () => {
    const [v1, v1beta1] = manifestOf(shop).spec.versions;
    const old = { ...v1beta1!.kinds[0]!, plural: "orderz", scope: "Cluster" as const, conversion: false };
    expect(() => validateManifest(changed({ versions: [v1!, { ...v1beta1!, kinds: [old] }] }))).toThrow(
      "manifest of shop: Order: plural is orderz in v1beta1, but orders in v1; " +
        "Order: scope is Cluster in v1beta1, but Namespaced in v1; " +
        "Order: conversion is false in v1beta1, but true in v1",
    );
  });

  it("rejects a route that equals a plural of its own scope [case 38]", () => {
    const [v1] = manifestOf(shop).spec.versions;
    const route = (path: string) => [{ method: "GET" as const, path }];
    const withRoutes = (routes: NonNullable<AppManifest["spec"]["versions"][number]["routes"]>) => () =>
      validateManifest(changed({ versions: [{ ...v1!, routes }] }));
    expect(withRoutes({ namespaced: route("orders") })).toThrow("route orders hides the objects of Order");
    expect(withRoutes({ cluster: route("shops") })).toThrow("route shops hides the objects of Shop");
    expect(withRoutes({ cluster: route("orders"), namespaced: route("shops") })).not.toThrow();
  });

  it("rejects bindings to roles that do not exist [case 38]", () => {
    expect(() => validateManifest(changed({ roleBindings: { everybody: ["buyer", "seller"] } }))).toThrow(
      "everybody is bound to the role seller, which does not exist",
    );
  });

  it("lists the kinds that controllers watch, and those that they write without owning them", () => {
    const pods = app({
      name: "pods",
      kinds: [Order],
      loops: [
        controller(Order, {
          uses: [scoped(Namespace, { writes: ["patch"] })],
          watches: [mapped(Pod, () => [])],
          permissions: [{ apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] }],
          reconcile: () => undefined,
        }),
      ],
    });
    expect(manifestOf(pods).spec.extraPermissions?.accessKinds).toEqual([
      { group: "", resource: "namespaces", actions: ["get", "list", "watch", "patch"] },
      { group: "", resource: "pods", actions: ["get", "list", "watch"] },
      { group: "", resource: "pods/eviction", actions: ["create"] },
    ]);
  });

  it("must have the roles, role bindings and preferred version of the code", () => {
    for (const [change, problem] of [
      [{ roles: {}, roleBindings: {} }, 'role buyer is absent in the manifest, but {"kinds"'],
      [{ roleBindings: {} }, 'roles of everybody is absent in the manifest, but ["buyer"] in code'],
      [{ preferredVersion: "v1beta1" }, 'preferredVersion is "v1beta1" in the manifest, but "v1" in code'],
      [{ appDisplayName: "The shop" }, 'appDisplayName is "The shop" in the manifest, but absent in code'],
    ] as const)
      expect(() => checkManifest(shop, changed(change))).toThrow(problem);
  });

  it.each([
    [undefined, "kind is undefined"],
    [{ kind: "AppManifest" }, "spec.versions is not a list"],
    [{ kind: "AppManifest", spec: { versions: [{}] } }, "spec.versions[0].kinds is not a list"],
    [{ kind: "AppManifest", spec: { versions: [] } }, "metadata.name is missing"],
    [{ kind: "AppManifest", spec: { versions: [null] } }, "spec.versions[0] is not an object"],
    [{ kind: "AppManifest", spec: { versions: [{ kinds: [null] }] } }, "spec.versions[0].kinds[0] is not an object"],
    [{ kind: "AppManifest", spec: { versions: [{ kinds: [{ kind: 1 }] }] } }, "kinds[0].kind is not a text"],
    [{ kind: "AppManifest", metadata: { name: "a" }, spec: { versions: [] } }, "apiVersion is undefined"],
    [{ ...manifestOf(shop), apiVersion: "setpoint.dev/v2" }, 'apiVersion is "setpoint.dev/v2"'],
    [changed({ roleBindings: { all: "buyer" } } as never), "spec.roleBindings.all is not a list"],
    [changed({ roles: { buyer: {} } } as never), "spec.roles.buyer.kinds is not a list"],
    [changed({ group: undefined } as never), "spec.group is missing"],
    [
      changed({
        versions: [{ name: "v1", served: true, kinds: [], routes: { cluster: [{ method: "GET" }] } }],
      } as never),
      "spec.versions[0].routes.cluster[0].path is missing",
    ],
  ])("is invalid if it is %j", (given, problem) => {
    const isTold = expect.objectContaining({ code: "MANIFEST_INVALID", message: expect.stringContaining(problem) });
    expect(() => checkManifest(shop, given as AppManifest)).toThrow(isTold);
  });

  it("must match the code in both directions, and the error lists each difference", () => {
    const [v1, v1beta1] = manifestOf(shop).spec.versions;
    const { admission: _admission, ...order } = v1!.kinds[0]!;
    const manifest = changed({ versions: [{ ...v1!, kinds: [{ ...order, routes: [] }] }, v1beta1!] });
    const check = () => checkManifest(shop, manifest);
    expect(check).toThrow(expect.objectContaining({ code: "MANIFEST_MISMATCH" }));
    for (const problem of [
      'v1/Order: validation is absent in the manifest, but ["CREATE","DELETE"] in code',
      'v1/Order: mutation is absent in the manifest, but ["UPDATE"] in code',
      'v1/Order: routes is absent in the manifest, but ["GET total"] in code',
      'v1/Shop: plural is absent in the manifest, but "shops" in code',
    ]) {
      expect(check).toThrow(problem);
    }
  });

  it.each<[string, (v1: Version, order: Kind) => object, string]>([
    ["the group", () => ({ group: "other.example.com" }), 'group is "other.example.com" in the manifest, but "shop.'],
    ["the name", () => ({ appName: "ship" }), 'appName is "ship" in the manifest, but "shop" in code'],
    ["whether a version is served", (v1) => ({ versions: [{ ...v1, served: false }] }), "v1: served is false in the"],
    ["a schema", (v1, order) => withKind(v1, { ...order, schema: { type: "object" } }), "v1/Shop: schema is {"],
    ["the scope", (v1, order) => withKind(v1, { ...order, scope: "Namespaced" }), 'v1/Shop: scope is "Namespaced" in'],
    ["the conversion", (v1, order) => withKind(v1, { ...order, conversion: true }), "v1/Shop: conversion is true in"],
    [
      "the fields to select by",
      (v1, order) => withKind(v1, { ...order, selectableFields: [".spec.open"] }),
      'v1/Shop: selectableFields is [".spec.open"] in the manifest, but absent in code',
    ],
    [
      "the routes of a version",
      (v1) => ({ versions: [{ ...v1, routes: {} }] }),
      'v1: cluster routes is absent in the manifest, but ["GET stats"] in code',
    ],
    [
      "a permission that the code does not need",
      () => ({ extraPermissions: { accessKinds: [{ group: "", resource: "pods", actions: ["get"] }] } }),
      'access to /pods is ["get"] in the manifest, but absent in code',
    ],
    ["the permissions that it needs", () => ({ extraPermissions: undefined }), "access to /configmaps is absent in"],
  ])("must match the code in %s", (_, change, problem) => {
    const [v1] = manifestOf(shop).spec.versions;
    expect(() => checkManifest(shop, changed(change(v1!, v1!.kinds[1]!)))).toThrow(problem);
  });

  it("lists each kind of a version once", () => {
    const [v1] = manifestOf(shop).spec.versions;
    const kinds = [...v1!.kinds, v1!.kinds[1]!];
    expect(() => validateManifest(changed({ versions: [{ ...v1!, kinds }] }))).toThrow("Shop appears twice in v1");
  });

  it("says that a version is served if any of its kinds is", () => {
    const OldShop = resource("shop.example.com/v1beta1/Shop", {
      scope: "Cluster",
      spec: z.object({ open: z.boolean() }),
    });
    const served = (...first: readonly boolean[]) =>
      manifestOf(
        app({
          name: "shop",
          kinds: [Order.withVersion(OldOrder, { served: first[0]! }), Shop.withVersion(OldShop, { served: first[1]! })],
        }),
      ).spec.versions.map((version) => version.served);
    expect(served(false, true)).toEqual([true, true]);
    expect(served(false, false)).toEqual([true, false]);
  });

  it("must not claim what the code does not do", () => {
    const [v1, v1beta1] = manifestOf(shop).spec.versions;
    const [order, corner] = v1!.kinds;
    const operations = ["DELETE"] as const;
    const kinds = [
      { ...order!, routes: [...(order!.routes ?? []), { method: "POST" as const, path: "cancel" }] },
      { ...corner!, admission: { validation: { operations } } },
      { ...corner!, kind: "Stall", plural: "stalls" },
    ];
    const check = () => checkManifest(shop, changed({ versions: [{ ...v1!, kinds }, v1beta1!] }));
    for (const problem of [
      'v1/Order: routes is ["GET total","POST cancel"] in the manifest, but ["GET total"] in code',
      'v1/Shop: validation is ["DELETE"] in the manifest, but absent in code',
      'v1/Stall: plural is "stalls" in the manifest, but absent in code',
    ]) {
      expect(check).toThrow(problem);
    }
  });
});
