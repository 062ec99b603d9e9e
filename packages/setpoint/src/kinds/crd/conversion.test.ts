import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { conversionProblems } from "../../testing/conversion-problems.js";
import type { KubeObject } from "../object.js";
import { resource } from "../resource.js";

const Old = resource("db.example.com/v1alpha1/Cluster", {
  spec: z.object({ size: z.int(), legacy: z.string().optional(), mode: z.string().default("fast") }),
});
const New = resource("db.example.com/v1/Cluster", {
  spec: z.object({
    instances: z.int(),
    mode: z.string().default("fast"),
    backup: z.object({ schedule: z.string().optional(), keep: z.int().optional() }).optional(),
    users: z.array(z.object({ name: z.string(), roles: z.array(z.string()).optional() })).optional(),
  }),
  status: z.object({ phase: z.string().optional() }),
});
const Cluster = New.withVersion(Old, {
  up: ({ spec }) => ({ spec: { instances: spec.size, mode: spec.mode } }),
  down: ({ spec }) => ({ spec: { size: spec.instances, mode: spec.mode } }),
});

const V1 = "db.example.com/v1";
const ALPHA = "db.example.com/v1alpha1";
const metadata = { name: "a", namespace: "team", uid: "1", resourceVersion: "7", creationTimestamp: "" };
const made = (apiVersion: string, spec: object, more: object = {}): KubeObject =>
  ({ apiVersion, kind: "Cluster", metadata, spec, ...more }) as KubeObject;

const v1 = fc.record(
  {
    instances: fc.nat(9),
    mode: fc.constantFrom("fast", "safe"),
    backup: fc.record({ schedule: fc.string(), keep: fc.nat(9) }, { requiredKeys: [] }),
    users: fc.uniqueArray(fc.record({ name: fc.string(), roles: fc.array(fc.string()) }), {
      selector: ({ name }) => name,
    }),
  },
  { requiredKeys: ["instances", "mode"] },
);

describe("an object that is converted and back", () => {
  it("is unchanged, whatever the other version lacks, in both directions", () => {
    fc.assert(
      fc.property(v1, fc.record({ size: fc.nat(9), mode: fc.string(), legacy: fc.string() }), (spec, old) => {
        expect(conversionProblems(Cluster, made(V1, spec, { status: { phase: "Up" } }))).toEqual([]);
        expect(conversionProblems(Cluster, made(ALPHA, old))).toEqual([]);
      }),
    );
  });

  it("keeps fields that an old client does not know when it changes a label or a known field", () => {
    const stored = made(V1, {
      instances: 3,
      mode: "safe",
      backup: { keep: 5 },
      users: [{ name: "ann", roles: ["x"] }],
    });
    const seen = Cluster.convert(stored, ALPHA) as KubeObject & { readonly spec: object };
    const labelled = { ...seen, metadata: { ...seen.metadata, labels: { team: "blue" } } };
    expect(Cluster.convert(labelled, V1)).toEqual({ ...stored, metadata: { ...metadata, labels: { team: "blue" } } });
    const scaled = { ...seen, spec: { ...seen.spec, size: 4 } };
    expect(Cluster.convert(scaled, V1)).toMatchObject({ spec: { instances: 4, backup: { keep: 5 } } });
  });

  it("keeps them through a server that fills in defaults of the old version", () => {
    const stored = made(V1, { instances: 3, mode: "fast", backup: { keep: 5 } });
    const seen = Cluster.convert(stored, ALPHA);
    const defaulted = Old.withDefaults(seen as never) as unknown as KubeObject;
    expect(Cluster.convert(defaulted, V1)).toEqual(stored);
  });

  it("carries no annotation if nothing is lost, and hides it from the conversion functions", () => {
    expect(Cluster.convert(made(V1, { instances: 1, mode: "fast" }), ALPHA).metadata).toEqual(metadata);
    const met: unknown[] = [];
    const Spied = New.withVersion(Old, {
      up: ({ spec, metadata: seen }) => {
        met.push(seen.annotations);
        return { spec: { instances: spec.size, mode: spec.mode } };
      },
      down: ({ spec }) => ({ spec: { size: spec.instances, mode: spec.mode } }),
    });
    Spied.convert(Spied.convert(made(V1, { instances: 1, mode: "fast", backup: { keep: 1 } }), ALPHA), V1);
    for (const annotations of met) expect(annotations).toEqual({});
  });

  it("tolerates a corrupted annotation", () => {
    for (const text of ["", "{", "null", '[null,{"path":[]},{"path":["spec","x","y"],"to":1}]']) {
      const annotations = { "conversion.setpoint.dev/v1": text };
      const object = { ...made(ALPHA, { size: 1, mode: "fast" }), metadata: { ...metadata, annotations } };
      expect(Cluster.convert(object, V1)).toMatchObject({ spec: { instances: 1, mode: "fast" } });
    }
  });
});

it("reports what a conversion breaks", () => {
  const Wrong = New.withVersion(Old, {
    up: ({ spec }) => ({ spec: { instances: spec.size, mode: spec.mode } }),
    down: ({ spec }) => ({ spec: { size: String(spec.instances) as never, mode: spec.mode } }),
  });
  expect(conversionProblems(Wrong, made(V1, { instances: 1, mode: "fast" }))[0]).toContain("v1alpha1: spec.size");
});
