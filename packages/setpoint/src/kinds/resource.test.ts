import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { k8s } from "./k8s.js";
import type { Kind, ObjectOf } from "./kind.js";
import type { JsonObject, KubeObject, NewObject } from "./object.js";
import { resource } from "./resource.js";

const Website = resource("web.example.com/v1/Website", {
  spec: z.object({ image: z.string(), replicas: z.int().min(0).default(1), hosts: z.array(z.string()).optional() }),
  status: z.object({ ready: z.int() }),
  shortNames: ["ws"],
  categories: ["all"],
  columns: {
    Image: ".spec.image",
    Ready: { path: ".status.ready", priority: 1 },
    Age: ".metadata.creationTimestamp",
    Up: { path: '.status.conditions[?(@.type=="Up")].status', type: "boolean" },
  },
  scale: { spec: ".spec.replicas", status: ".status.ready" },
  selectableFields: [".spec.image"],
});

type Site = ObjectOf<typeof Website>;

describe("a declared kind", () => {
  it("is a descriptor of literal types", () => {
    expect(Website).toMatchObject({
      group: "web.example.com",
      version: "v1",
      kind: "Website",
      apiVersion: "web.example.com/v1",
      plural: "websites",
      scope: "Namespaced",
    });
    expectTypeOf<Site["kind"]>().toEqualTypeOf<"Website">();
    expectTypeOf<Site["apiVersion"]>().toEqualTypeOf<"web.example.com/v1">();
    expectTypeOf(Website.kind).toEqualTypeOf<"Website">();
    expectTypeOf(Website).toExtend<Kind<Site>>();
    expectTypeOf(Website).toExtend<Kind>();
  });

  it("types what readers get: defaults are present, and everything is readonly", () => {
    expectTypeOf<Site["spec"]>().toEqualTypeOf<{
      readonly image: string;
      readonly replicas: number;
      readonly hosts?: readonly string[] | undefined;
    }>();
    expectTypeOf<Site["status"]>().toEqualTypeOf<{ readonly ready: number } | undefined>();
    const change = (site: Site) => {
      // @ts-expect-error objects are readonly
      site.spec.replicas = 2;
      // @ts-expect-error in their depth too
      site.spec.hosts?.push("a");
    };
    expect(change).toBeTypeOf("function");
  });

  it("types what writers give: defaults may be left out", () => {
    const minimal: NewObject<Site> = { metadata: { name: "a" }, spec: { image: "nginx" } };
    // @ts-expect-error the image has no default
    const imageless: NewObject<Site> = { metadata: { name: "a" }, spec: {} };
    // @ts-expect-error nor has the spec
    const specless: NewObject<Site> = { metadata: { name: "a" } };
    const Optional = resource("web.example.com/v1/Optional", { spec: z.object({ size: z.int().default(1) }) });
    const bare: NewObject<ObjectOf<typeof Optional>> = { metadata: { name: "a" } };
    expect([minimal, imageless, specless, bare]).toHaveLength(4);
    expect(Optional.withDefaults(bare)).toMatchObject({ spec: { size: 1 } });
  });

  it("has no status unless it declares one", () => {
    const Bare = resource("web.example.com/v1/Bare", { spec: z.object({ a: z.string() }) });
    expectTypeOf<ObjectOf<typeof Bare>["status"]>().toEqualTypeOf<undefined>();
    expect(Bare.crd().spec.versions[0]?.subresources).toBeUndefined();
  });

  it("accepts plain JSON Schema, whose objects are untyped", () => {
    const Plain = resource("web.example.com/v1/Plain", {
      spec: { type: "object", properties: { size: { type: "integer", default: 3 } } },
    });
    expectTypeOf<ObjectOf<typeof Plain>["spec"]>().toExtend<JsonObject>();
    expect(Plain.withDefaults({ metadata: { name: "a" }, spec: {} })).toMatchObject({ spec: { size: 3 } });
  });

  it("accepts any library with Standard JSON Schema", () => {
    const schema = {
      "~standard": {
        version: 1 as const,
        vendor: "homemade",
        validate: (value: unknown) =>
          (value as { size?: number }).size === 13 ? { issues: [{ message: "bad luck", path: ["size"] }] } : { value },
        jsonSchema: {
          input: () => ({ type: "object", properties: { size: { type: "integer" } } }),
          output: () => ({ type: "object", properties: { size: { type: "integer" } } }),
        },
        types: undefined as { input: { size?: number }; output: { size?: number } } | undefined,
      },
    };
    const Homemade = resource("web.example.com/v1/Homemade", { spec: schema });
    expectTypeOf<ObjectOf<typeof Homemade>["spec"]>().toEqualTypeOf<{ readonly size?: number }>();
    expect(Homemade.validate({ metadata: { name: "a" }, spec: { size: 13 } })).toEqual([
      { path: "spec.size", message: "is refused: bad luck" },
    ]);
  });

  it.each([
    "Website",
    "v1/Website",
    "a/b/c/D",
    "Web.example.com/v1/Website",
    "web.example.com/V1/Website",
    "a.b/v1/website",
  ])("%s is an invalid name", (id) => {
    const declare = () => resource(id as "g/v1/K", { spec: z.object({}) });
    expect(declare).toThrow();
  });
});

describe("the CustomResourceDefinition of a kind", () => {
  it("matches the declaration", () => {
    const crd = Website.crd({ labels: { app: "web" } });
    expect(crd).toMatchObject({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "websites.web.example.com", labels: { app: "web" } },
      spec: {
        group: "web.example.com",
        scope: "Namespaced",
        names: {
          kind: "Website",
          listKind: "WebsiteList",
          plural: "websites",
          singular: "website",
          shortNames: ["ws"],
        },
        conversion: { strategy: "None" },
      },
    });
    expect(crd.spec.versions).toHaveLength(1);
    expect(crd.spec.versions[0]).toMatchObject({
      name: "v1",
      served: true,
      storage: true,
      subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.ready" } },
      selectableFields: [{ jsonPath: ".spec.image" }],
      additionalPrinterColumns: [
        { name: "Image", type: "string", jsonPath: ".spec.image" },
        { name: "Ready", type: "integer", jsonPath: ".status.ready", priority: 1 },
        { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
        { name: "Up", type: "boolean" },
      ],
      schema: { openAPIV3Schema: { type: "object", required: ["spec"] } },
    });
    expect(Website.crd()).toEqual(Website.crd());
  });

  it.each([
    [{ columns: { Size: ".spec.size" } }, "columns.Size"],
    [{ scale: { spec: ".spec.image", status: ".status.ready" } }, "scale.spec"],
    [{ scale: { spec: ".status.ready", status: ".status.ready" } }, "scale.spec"],
    [{ selectableFields: [".spec.hosts"] }, "selectableFields"],
    [{ selectableFields: ["spec.image"] }, "selectableFields"],
    [{ markers: { "spec.nothing": k8s.listSet } }, 'markers["spec.nothing"]'],
    [{ columns: { Image: "spec.image" } }, 'columns.Image: "spec.image" is not a path such as'],
    [{ scope: "Global" as "Cluster" }, 'scope: "Global" is neither'],
    [{ plural: "Wrongs!" }, 'plural: "Wrongs!" is not a name'],
    [{ singular: "" }, 'singular: "" is not a name'],
    [{ shortNames: ["WR"] }, 'shortNames: "WR" is not a name'],
    [{ categories: "all" as never }, "categories: expected a list"],
    [{ spec: undefined as never }, "spec: the schema is missing"],
    [{ colums: {} }, "there is no option colums; there are spec, status,"],
  ])("is refused at its declaration for %j", (options, where) => {
    const declare = () =>
      resource("web.example.com/v1/Wrong", {
        spec: z.object({ image: z.string(), hosts: z.array(z.string()) }),
        status: z.object({ ready: z.int() }),
        ...options,
      });
    expect(declare).toThrow(expect.objectContaining({ code: "KIND_INVALID", message: expect.stringContaining(where) }));
  });
});

describe("validation on the client", () => {
  it("finds what the server would refuse, and what the library refuses beyond that", () => {
    const Even = resource("web.example.com/v1/Even", {
      spec: z.object({
        count: z.int().refine((count) => count % 2 === 0, "must be even"),
        ports: z
          .array(z.object({ port: z.int().max(65535) }))
          .meta(k8s.listMap("port"))
          .default([]),
      }),
    });
    const problems = (spec: unknown) => Even.validate({ metadata: { name: "a" }, spec: spec as { count: number } });
    expect(problems({ count: 2 })).toEqual([]);
    expect(problems({ count: 3 })).toEqual([{ path: "spec.count", message: "is refused: must be even" }]);
    expect(problems({ count: "2" })).toEqual([{ path: "spec.count", message: 'must be of type integer, not "2"' }]);
    expect(problems({ count: 2, ports: [{ port: 70000 }, { port: 1 }, { port: 1 }] })).toEqual([
      { path: "spec.ports[0].port", message: "must be at most 65535" },
      { path: "spec.ports[2]", message: "is there already" },
    ]);
    expect(problems(undefined)).toEqual([{ path: "spec", message: "is required" }]);
    expect(() => Even.assertValid({ metadata: { name: "a" }, spec: { count: 3 } })).toThrow(
      expect.objectContaining({ code: "OBJECT_INVALID", message: expect.stringContaining("Even a: spec.count") }),
    );
  });
});

describe("several versions", () => {
  const Old = resource("web.example.com/v1beta1/Website", {
    spec: z.object({ image: z.string(), count: z.int() }),
    status: z.object({ ready: z.int() }),
  });
  const Both = Website.withVersion(Old, {
    deprecated: "web.example.com/v1beta1 is deprecated, use v1",
    up: (old) => ({ spec: { image: old.spec.image, replicas: old.spec.count }, status: old.status }),
    down: (site) => ({ spec: { image: site.spec.image, count: site.spec.replicas }, status: site.status }),
  });
  const metadata = { name: "a", uid: "1", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
  const stored: KubeObject & JsonObject = {
    apiVersion: "web.example.com/v1",
    kind: "Website",
    metadata: metadata as KubeObject["metadata"] & JsonObject,
    spec: { image: "nginx", replicas: 2 },
  };

  it("are in one definition, with the webhook that converts between them", () => {
    const url = "https://converter.example.com";
    const crd = Both.crd({ conversionWebhook: { url } });
    expect(crd.spec.conversion).toEqual({
      strategy: "Webhook",
      webhook: { clientConfig: { url }, conversionReviewVersions: ["v1"] },
    });
    expect(crd.spec.versions).toMatchObject([
      { name: "v1", served: true, storage: true },
      { name: "v1beta1", served: true, storage: false, deprecated: true },
    ]);
    expect(Both.crd({ conversionWebhook: { url }, storage: "v1beta1" }).spec.versions).toMatchObject([
      { name: "v1", storage: false },
      { name: "v1beta1", storage: true },
    ]);
    expect(() => Both.crd()).toThrow(expect.objectContaining({ code: "KIND_INVALID" }));
    expect(() => Both.crd({ conversionWebhook: { url }, storage: "v3" })).toThrow(/no version v3/);
  });

  it("convert up to the stored one and down from it, with unchanged metadata", () => {
    const down = Both.convert(stored, "web.example.com/v1beta1");
    expect(down).toMatchObject({ apiVersion: "web.example.com/v1beta1", metadata, spec: { image: "nginx", count: 2 } });
    expect(Both.convert(down, "web.example.com/v1")).toMatchObject(stored);
    expect(Both.convert(stored, "web.example.com/v1")).toBe(stored);
    expect(() => Both.convert(stored, "web.example.com/v9")).toThrow(
      expect.objectContaining({ code: "CONVERSION_MISSING" }),
    );
  });

  it("keep the status of an object, unless a function returns another or none", () => {
    const toOld = "web.example.com/v1beta1";
    const status = { ready: 2 };
    const up = (old: { spec: { image: string; count: number } }) => ({
      spec: { image: old.spec.image, replicas: old.spec.count },
    });
    const down = (site: { spec: { image: string; replicas: number } }) => ({
      spec: { image: site.spec.image, count: site.spec.replicas },
    });
    const Silent = Website.withVersion(Old, { up, down });
    const converted = Silent.convert({ ...stored, status } as KubeObject, toOld);
    expect(converted).toMatchObject({ spec: { image: "nginx", count: 2 }, status });
    expect(Silent.convert(converted, "web.example.com/v1")).toEqual({ ...stored, status });
    expect(Silent.convert(stored, toOld)).not.toHaveProperty("status");
    const Another = Website.withVersion(Old, { up, down: (site) => ({ ...down(site), status: { ready: 9 } }) });
    expect(Another.convert({ ...stored, status } as KubeObject, toOld)).toMatchObject({ status: { ready: 9 } });
    const None = Website.withVersion(Old, { up, down: (site) => ({ ...down(site), status: undefined }) });
    expect(None.convert({ ...stored, status } as KubeObject, toOld)).toMatchObject({ status: undefined });
  });

  it("must be of one kind, each once, and convert both ways", () => {
    const Other = resource("web.example.com/v1beta1/Other", { spec: z.object({}) });
    expect(() => Website.withVersion(Other)).toThrow(/its kind is Other/);
    expect(() => Both.withVersion(Old)).toThrow(/is there already/);
    expect(() => Website.withVersion(Old, { up: (old) => ({ spec: { image: old.spec.image, replicas: 1 } }) })).toThrow(
      /both `up` and `down`/,
    );
  });
});
