import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { k8s } from "../k8s.js";
import type { ObjectOf } from "../kind.js";
import { resource } from "../resource.js";

/** The same kind in three libraries. */
const kinds = {
  zod: resource("test.example.com/v1/Same", {
    spec: z.object({
      image: z.string().min(1),
      replicas: z.int().min(0).default(1),
      ports: z.array(z.object({ port: z.int() })).meta(k8s.listMap("port")),
      target: z.union([z.int(), z.string()]).optional(),
      note: z.string().nullable(),
      source: z.discriminatedUnion("type", [
        z.object({ type: z.literal("a"), x: z.string() }),
        z.object({ type: z.literal("b"), y: z.string() }),
      ]),
    }),
  }),
  arktype: resource("test.example.com/v1/Same", {
    spec: type({
      image: "string > 0",
      replicas: "number.integer >= 0 = 1",
      ports: type({ port: "number.integer" }).array(),
      "target?": "number.integer | string",
      note: "string | null",
      source: type({ type: "'a'", x: "string" }).or({ type: "'b'", y: "string" }),
    }),
    markers: { "spec.ports": k8s.listMap("port"), "spec.replicas": { default: 1 } },
  }),
  valibot: resource("test.example.com/v1/Same", {
    spec: toStandardJsonSchema(
      v.object({
        image: v.pipe(v.string(), v.minLength(1)),
        replicas: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 1),
        ports: v.array(v.object({ port: v.pipe(v.number(), v.integer()) })),
        target: v.optional(v.union([v.pipe(v.number(), v.integer()), v.string()])),
        note: v.nullable(v.string()),
        source: v.variant("type", [
          v.object({ type: v.literal("a"), x: v.string() }),
          v.object({ type: v.literal("b"), y: v.string() }),
        ]),
      }),
    ),
    markers: { "spec.ports": k8s.listMap("port") },
  }),
};

describe("schema libraries", () => {
  it.each(["arktype", "valibot"] as const)("%s gives the same definition as zod", (library) => {
    const specOf = (name: keyof typeof kinds) => {
      const { properties, required, ...rest } = kinds[name].declaration.schema.properties!.spec!;
      return { ...rest, properties, required: [...required!].sort() };
    };
    expect(specOf(library)).toEqual(specOf("zod"));
  });

  it("give the same types", () => {
    type Spec = {
      readonly image: string;
      readonly replicas: number;
      readonly ports: readonly { readonly port: number }[];
      readonly target?: number | string | undefined;
      readonly note: string | null;
      readonly source: { readonly type: "a"; readonly x: string } | { readonly type: "b"; readonly y: string };
    };
    expectTypeOf<ObjectOf<typeof kinds.zod>["spec"]>().toExtend<Spec>();
    expectTypeOf<ObjectOf<typeof kinds.arktype>["spec"]>().toExtend<Spec>();
    expectTypeOf<ObjectOf<typeof kinds.valibot>["spec"]>().toExtend<Spec>();
    expectTypeOf<ObjectOf<typeof kinds.arktype>["spec"]["replicas"]>().toEqualTypeOf<number>();
  });

  it.each(["zod", "arktype", "valibot"] as const)("%s validates and defaults", (library) => {
    const spec = { image: "a", ports: [], note: null, source: { type: "a" as const, x: "y" } };
    const object = { metadata: { name: "a" }, spec };
    expect(kinds[library].withDefaults(object)).toMatchObject({ spec: { replicas: 1 } });
    expect(kinds[library].validate(object)).toEqual([]);
    const wrong = { metadata: { name: "a" }, spec: { ...spec, image: "" } };
    expect(kinds[library].validate(wrong)).toEqual([
      { path: "spec.image", message: "must have at least 1 characters" },
    ]);
  });

  it("a default that a library leaves out of its JSON Schema is reported with its path", () => {
    const declare = () => resource("test.example.com/v1/Lost", { spec: type({ replicas: "number.integer = 1" }) });
    expect(declare).toThrow(
      expect.objectContaining({
        code: "SCHEMA_INEXPRESSIBLE",
        message: expect.stringContaining("spec.replicas: its type promises"),
      }),
    );
  });
});
