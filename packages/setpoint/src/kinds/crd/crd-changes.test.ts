import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { CustomResourceDefinition } from "../builtin/apiextensions.k8s.io/v1.js";
import { k8s } from "../k8s.js";
import { resource } from "../resource.js";
import type { CrdManifest } from "./crd.js";
import { compareCrds } from "./crd-changes.js";

const site = (spec: z.ZodObject, more = {}) =>
  resource("web.example.com/v1/Website", { spec, status: z.object({ ready: z.int() }), ...more });

const installed = (crd: CrdManifest, storedVersions = ["v1"]): Pick<CustomResourceDefinition, "spec" | "status"> => ({
  spec: crd.spec,
  status: { storedVersions },
});

const changesOf = (before: z.ZodObject, after: z.ZodObject) =>
  compareCrds(installed(site(before).crd()), site(after).crd()).map(({ path, message }) => `${path}: ${message}`);

describe("replacing a CustomResourceDefinition", () => {
  const base = z.object({ image: z.string(), replicas: z.int().min(1).max(9).default(1) });

  it("by one that accepts more is compatible", () => {
    const wider = z.object({
      image: z.string(),
      replicas: z.int().min(0).max(99).default(2),
      color: z.enum(["red"]).optional(),
      mandatory: z.string().default("given"),
    });
    expect(changesOf(base, base)).toEqual([]);
    expect(changesOf(base, wider)).toEqual([]);
    expect(changesOf(z.object({ a: z.int() }), z.object({ a: z.union([z.int(), z.string()]) }))).toEqual([]);
    expect(changesOf(z.object({ a: z.enum(["x"]) }), z.object({ a: z.string().nullable() }))).toEqual([]);
  });

  it.each<[string, z.ZodObject, z.ZodObject, string]>([
    ["a removed field", base, base.omit({ replicas: true }), "v1: spec.replicas: it was removed"],
    [
      "another type",
      z.object({ a: z.int() }),
      z.object({ a: z.string() }),
      "v1: spec.a: its type changed from integer to string",
    ],
    ["a new required field", base, base.extend({ size: z.int() }), "v1: spec.size: it is required now"],
    ["a lost default", base, base.extend({ replicas: z.int().min(1).max(9) }), "v1: spec.replicas: it is required now"],
    [
      "fewer choices",
      z.object({ a: z.enum(["x", "y"]) }),
      z.object({ a: z.enum(["y"]) }),
      'v1: spec.a: "x" is no longer allowed',
    ],
    [
      "choices at all",
      z.object({ a: z.string() }),
      z.object({ a: z.enum(["y"]) }),
      'v1: spec.a: only "y" are allowed now',
    ],
    [
      "a raised minimum",
      base,
      base.extend({ replicas: z.int().min(2).max(9).default(2) }),
      "v1: spec.replicas: minimum is 2",
    ],
    [
      "a lowered maximum",
      base,
      base.extend({ replicas: z.int().min(1).max(5).default(1) }),
      "v1: spec.replicas: maximum is 5",
    ],
    [
      "a pattern",
      z.object({ a: z.string() }),
      z.object({ a: z.string().regex(/^a/) }),
      "v1: spec.a: it must have the pattern ^a now",
    ],
    [
      "no more null",
      z.object({ a: z.string().nullable() }),
      z.object({ a: z.string() }),
      "v1: spec.a: it may no longer be null",
    ],
    [
      "no more unknown fields",
      z.object({ a: z.looseObject({}) }),
      z.object({ a: z.object({}) }),
      "v1: spec.a: fields that are not declared are no longer kept",
    ],
    [
      "something deep in lists and maps",
      z.object({ a: z.array(z.record(z.string(), z.int())) }),
      z.object({ a: z.array(z.record(z.string(), z.string())) }),
      "v1: spec.a[].*: its type changed",
    ],
    [
      "other identities of items",
      z.object({ a: z.array(z.object({ n: z.string(), p: z.int() })).meta(k8s.listMap("n")) }),
      z.object({ a: z.array(z.object({ n: z.string(), p: z.int() })).meta(k8s.listMap("n", "p")) }),
      "v1: spec.a: the keys of its list map changed from n to n, p",
    ],
    [
      "a list type",
      z.object({ a: z.array(z.string()) }),
      z.object({ a: z.array(z.string()).meta(k8s.listSet) }),
      "v1: spec.a: its list type",
    ],
    [
      "a rule",
      z.object({ a: z.int() }),
      z.object({ a: z.int() }).meta(k8s.rules(k8s.rule("self.a > 0", "a is positive"))),
      "v1: spec: it has a new rule: a is positive",
    ],
  ])("reports %s", (_name, before, after, expected) => {
    expect(changesOf(before, after)).toEqual([expect.stringContaining(expected)]);
  });

  it("is refused if the server would refuse it", () => {
    const before = installed(site(base).crd());
    const cluster = site(base, { scope: "Cluster" }).crd();
    expect(compareCrds(before, cluster)).toEqual([
      { severity: "refused", path: "scope", message: "cannot change from Namespaced to Cluster" },
    ]);
    const next = resource("web.example.com/v2/Website", { spec: base, status: z.object({ ready: z.int() }) });
    expect(compareCrds(before, next.crd())).toMatchObject([
      { severity: "refused", path: "versions", message: expect.stringContaining("v1 is missing") },
      { severity: "incompatible", path: "v1: served" },
    ]);
    expect(compareCrds(before, next.withVersion(site(base)).crd())).toEqual([]);
    expect(compareCrds(before, next.withVersion(site(base), { served: false }).crd())).toMatchObject([
      { severity: "incompatible", path: "v1: served" },
    ]);
  });

  it("reports what a change of storage version without conversion would lose", () => {
    const next = resource("web.example.com/v2/Website", {
      spec: z.object({ image: z.string() }),
      status: z.object({ ready: z.int() }),
    });
    const before = installed(site(base).crd());
    expect(compareCrds(before, next.withVersion(site(base)).crd())).toMatchObject([
      { severity: "incompatible", path: "v1 stored as v2: spec.replicas" },
    ]);
    const converting = next.withVersion(site(base), {
      up: (old) => ({ spec: { image: String(old.spec.image) }, status: old.status }),
      down: (site) => ({ spec: { image: site.spec.image, replicas: 1 }, status: site.status }),
    });
    expect(compareCrds(before, converting.crd({ conversionWebhook: { url: "https://a.example.com" } }))).toEqual([]);
  });

  it("reports removed subresources and selectable fields", () => {
    const scale = { spec: ".spec.replicas", status: ".status.ready" };
    const before = installed(site(base, { scale, selectableFields: [".spec.image"] }).crd());
    const after = resource("web.example.com/v1/Website", { spec: base });
    expect(compareCrds(before, after.crd()).map(({ path }) => path)).toEqual([
      "v1: subresources.status",
      "v1: subresources.scale",
      "v1: selectableFields",
      "v1: status",
    ]);
  });

  it("with a conversion webhook by one without is incompatible, unless its versions are the same", () => {
    const Old = resource("web.example.com/v1beta1/Website", { spec: z.object({ image: z.string(), count: z.int() }) });
    const New = resource("web.example.com/v1/Website", { spec: base });
    const converted = New.withVersion(Old, {
      up: ({ spec }) => ({ spec: { image: spec.image, replicas: spec.count } }),
      down: ({ spec }) => ({ spec: { image: spec.image, count: spec.replicas } }),
    }).crd({ conversionWebhook: { url: "https://converter.example.com" } });
    const paths = (before: CrdManifest, after: CrdManifest) =>
      compareCrds(installed(before), after).map(({ severity, path }) => `${severity} ${path}`);
    expect(paths(converted, New.withVersion(Old).crd())).toEqual(["incompatible conversion"]);
    expect(paths(converted, converted)).toEqual([]);
    const Same = resource("web.example.com/v1beta1/Website", { spec: base });
    const same = New.withVersion(Same, { up: ({ spec }) => ({ spec }), down: ({ spec }) => ({ spec }) });
    const url = { conversionWebhook: { url: "https://converter.example.com" } };
    expect(paths(same.crd(url), New.withVersion(Same).crd())).toEqual([]);
  });
});
