import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../api/json.js";
import { StatusError } from "../api/status-error.js";
import type { Schema } from "../facts/schema.js";
import { applyServerSide, trackUpdate, type WriteContext } from "./field-manager.js";
import { setOf } from "./field-set.js";
import type { ManagedFieldsEntry } from "./managed-fields.js";

const STRINGS: Schema = { type: "object", additionalProperties: { type: "string" } };

const schema: Schema = {
  type: "object",
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: {
      type: "object",
      properties: {
        name: { type: "string" },
        uid: { type: "string" },
        labels: STRINGS,
        annotations: STRINGS,
        managedFields: { type: "array", "x-kubernetes-list-type": "atomic", items: { type: "object" } },
      },
    },
    spec: {
      type: "object",
      properties: {
        replicas: { type: "integer" },
        image: { type: "string" },
        data: STRINGS,
        tags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
          items: {
            type: "object",
            properties: {
              port: { type: "integer" },
              protocol: { type: "string", default: "TCP" },
              name: { type: "string" },
            },
          },
        },
        args: { type: "array", items: { type: "string" } },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
    status: { type: "object", properties: { phase: { type: "string" } } },
  },
};

const NOW = Date.parse("2026-01-01T00:00:00Z");

function context(manager: string, rest: Partial<WriteContext> = {}): WriteContext {
  return {
    apiVersion: "example.com/v1",
    kind: "Thing",
    subresource: "",
    manager,
    nowMs: NOW,
    message: undefined,
    schemaOf: (apiVersion) => (apiVersion === "example.com/v1" || apiVersion === "example.com/v2" ? schema : undefined),
    ...rest,
  };
}

function thing(spec: Json, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "x", ...metadata }, spec };
}

/** As the registry stores a new object. */
function stored(object: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object.metadata as JsonObject), uid: "1" } };
}

function entries(object: JsonObject): readonly ManagedFieldsEntry[] {
  return ((object.metadata as JsonObject).managedFields ?? []) as unknown as readonly ManagedFieldsEntry[];
}

function fieldsOf(object: JsonObject, manager: string, operation = "Apply"): unknown {
  return entries(object).find((entry) => entry.manager === manager && entry.operation === operation)?.fieldsV1;
}

function refusal(work: () => unknown): StatusError["status"] {
  try {
    work();
  } catch (error) {
    if (error instanceof StatusError) return error.status;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("an update", () => {
  it("fails on an internal error instead of losing managed fields", () => {
    const broken = {
      ...context("a"),
      schemaOf: () => {
        throw new TypeError("a fault");
      },
    };
    const old = stored(trackUpdate(context("a"), undefined, thing({ replicas: 1 })));
    expect(() => trackUpdate(broken, old, thing({ replicas: 2 }))).toThrow(TypeError);
    const unreadable = thing({ replicas: 2 });
    Object.defineProperty(unreadable.metadata, "managedFields", {
      enumerable: true,
      value: [
        {
          get operation() {
            throw new TypeError("a fault");
          },
        },
      ],
    });
    expect(() => trackUpdate(context("a"), old, unreadable)).toThrow(TypeError);
  });

  it("accepts anything that a client sends as managed fields", () => {
    const old = stored(trackUpdate(context("a"), undefined, thing({ replicas: 1 })));
    const entry = fc.record(
      {
        manager: fc.oneof(fc.string(), fc.jsonValue()),
        operation: fc.oneof(fc.constantFrom("Apply", "Update"), fc.jsonValue()),
        apiVersion: fc.oneof(fc.constantFrom("example.com/v1", "other/v1"), fc.jsonValue()),
        fieldsType: fc.oneof(fc.constant("FieldsV1"), fc.jsonValue()),
        fieldsV1: fc.oneof(fc.dictionary(fc.stringMatching(/^[fkvi]:.{0,9}$/), fc.jsonValue()), fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.array(entry, { maxLength: 3 }), fc.jsonValue()), (managedFields) => {
        const object = thing({ replicas: 2 }, { managedFields: managedFields as Json });
        expect(trackUpdate(context("b"), old, object)).toHaveProperty("spec.replicas", 2);
      }),
    );
  });
});

describe("server-side apply", () => {
  it("creates with the fields of the configuration owned", () => {
    const object = applyServerSide(context("a"), undefined, thing({ replicas: 1, data: { k: "v" } }));
    expect(object.spec).toEqual({ replicas: 1, data: { k: "v" } });
    expect(entries(object)).toEqual([
      {
        manager: "a",
        operation: "Apply",
        apiVersion: "example.com/v1",
        time: "2026-01-01T00:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:spec": { "f:data": { "f:k": {} }, "f:replicas": {} } },
      },
    ]);
  });

  it("refuses to change what another applier owns, and names the field", () => {
    const live = stored(applyServerSide(context("a"), undefined, thing({ replicas: 1 })));
    expect(refusal(() => applyServerSide(context("b"), live, thing({ replicas: 2 })))).toMatchObject({
      code: 409,
      reason: "Conflict",
      message: 'Apply failed with 1 conflict: conflict with "a": .spec.replicas',
      details: { causes: [{ reason: "FieldManagerConflict", message: 'conflict with "a"', field: ".spec.replicas" }] },
    });
  });

  it("names an updater with its version, and groups conflicts by manager", () => {
    const created = trackUpdate(context("kubectl-edit"), undefined, thing({ replicas: 1, image: "i" }));
    const live = stored(created);
    expect(refusal(() => applyServerSide(context("b"), live, thing({ replicas: 2, image: "j" }))).message).toBe(
      'Apply failed with 2 conflicts: conflicts with "kubectl-edit" using example.com/v1:\n- .spec.image\n- .spec.replicas',
    );
  });

  it("takes the field over by force", () => {
    const live = stored(applyServerSide(context("a"), undefined, thing({ replicas: 1, image: "i" })));
    const object = applyServerSide(context("b"), live, thing({ replicas: 2 }), { force: true });
    expect(object.spec).toEqual({ replicas: 2, image: "i" });
    expect(fieldsOf(object, "a")).toEqual({ "f:spec": { "f:image": {} } });
    expect(fieldsOf(object, "b")).toEqual({ "f:spec": { "f:replicas": {} } });
  });

  it("shares a field that both apply with the same value", () => {
    const live = stored(applyServerSide(context("a"), undefined, thing({ replicas: 1 })));
    const object = applyServerSide(context("b"), live, thing({ replicas: 1 }));
    expect(fieldsOf(object, "a")).toEqual(fieldsOf(object, "b"));
  });

  it("removes what it no longer applies, unless somebody else owns it", () => {
    let live = stored(
      applyServerSide(context("a"), undefined, thing({ replicas: 1, image: "i", data: { k: "v", l: "w" } })),
    );
    live = applyServerSide(context("b"), live, thing({ image: "i" }));
    const object = applyServerSide(context("a"), live, thing({ data: { k: "v" } }));
    expect(object.spec).toEqual({ image: "i", data: { k: "v" } });
  });

  it("merges list maps by their keys, defaulted ones included, and sets by value", () => {
    const live = stored(
      applyServerSide(context("a"), undefined, thing({ ports: [{ port: 80, name: "a" }], tags: ["x"] })),
    );
    const object = applyServerSide(context("b"), live, thing({ ports: [{ port: 80, protocol: "UDP" }], tags: ["y"] }));
    expect(object.spec).toEqual({
      ports: [
        { port: 80, name: "a" },
        { port: 80, protocol: "UDP" },
      ],
      tags: ["x", "y"],
    });
    expect(fieldsOf(object, "a")).toMatchObject({
      "f:spec": { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {} } }, "f:tags": { 'v:"x"': {} } },
    });
  });

  it("keeps the time if nothing changes", () => {
    const live = stored(applyServerSide(context("a"), undefined, thing({ replicas: 1 })));
    const again = applyServerSide(context("a", { nowMs: NOW + 60_000 }), live, thing({ replicas: 1 }));
    expect(entries(again)).toEqual(entries(live));
    const changed = applyServerSide(context("a", { nowMs: NOW + 60_000 }), live, thing({ replicas: 2 }));
    expect(entries(changed)[0]!.time).toBe("2026-01-01T00:01:00Z");
  });

  it("assigns existing fields to before-first-apply", () => {
    const live = stored(thing({ replicas: 1, image: "i" }));
    const object = applyServerSide(context("a"), live, thing({ replicas: 1 }));
    expect(fieldsOf(object, "before-first-apply", "Update")).toEqual({
      "f:spec": { ".": {}, "f:image": {}, "f:replicas": {} },
    });
  });

  it("owns no fields that the endpoint resets", () => {
    const resetFields = () => setOf(["f:status"]);
    const config = { ...thing({ replicas: 1 }), status: { phase: "p" } };
    const object = applyServerSide(context("a", { resetFields }), undefined, config);
    expect(fieldsOf(object, "a")).toEqual({ "f:spec": { "f:replicas": {} } });
  });

  it("forgets owners at a version that is no longer served", () => {
    const live = stored(applyServerSide(context("a"), undefined, thing({ replicas: 1 })));
    const old = { ...entries(live)[0]!, manager: "old", apiVersion: "example.com/v0", operation: "Update" };
    const withOld = {
      ...live,
      metadata: { ...(live.metadata as JsonObject), managedFields: [old, ...entries(live)] as unknown as Json },
    };
    const object = applyServerSide(context("b"), withOld, thing({ replicas: 1 }));
    expect(entries(object).map(({ manager }) => manager)).toEqual(["b", "a"]);
  });

  it("lets kubectl take over what it applied client-side", () => {
    const annotation = "kubectl.kubernetes.io/last-applied-configuration";
    const applied = JSON.stringify(thing({ replicas: 1, image: "i" }));
    const live = stored(
      trackUpdate(
        context("kubectl-client-side-apply"),
        undefined,
        thing({ replicas: 1, image: "i" }, { annotations: { [annotation]: applied } }),
      ),
    );
    const object = applyServerSide(context("kubectl"), live, thing({ replicas: 2, image: "i" }));
    expect(object.spec).toEqual({ replicas: 2, image: "i" });
    const annotations = (object.metadata as JsonObject).annotations as JsonObject;
    expect(JSON.parse(String(annotations[annotation]))).toEqual(thing({ replicas: 2, image: "i" }));
    expect(() => applyServerSide(context("other"), live, thing({ replicas: 2 }))).toThrow("conflict");
  });

  it.each<[string, JsonObject, number, string]>([
    [
      "an undeclared field",
      thing({ zzz: 1 }),
      500,
      "failed to create typed patch object (/x; example.com/v1, Kind=Thing): .spec.zzz: field not declared in schema",
    ],
    [
      "a wrong type",
      thing({ replicas: "1" }),
      500,
      "failed to create typed patch object (/x; example.com/v1, Kind=Thing): .spec.replicas: expected numeric (int or float), got string",
    ],
    [
      "a repeated key",
      thing({ ports: [{ port: 1 }, { port: 1 }] }),
      500,
      'failed to create typed patch object (/x; example.com/v1, Kind=Thing): .spec.ports: duplicate entries for key [port=1,protocol="TCP"]',
    ],
    ["another kind", { ...thing({}), kind: "Other" }, 400, "invalid object type: example.com/v1, Kind=Other"],
    ["managed fields", thing({}, { managedFields: [] }), 400, "metadata.managedFields must be nil"],
  ])("refuses %s", (_name, config, code, message) => {
    expect(refusal(() => applyServerSide(context("a"), undefined, config))).toMatchObject({ code, message });
  });
});

describe("tracking updates", () => {
  it("gives the writer what it changed, and takes it from others", () => {
    const live = stored(applyServerSide(context("a"), undefined, thing({ replicas: 1, image: "i" })));
    const object = trackUpdate(context("b"), live, { ...live, spec: { replicas: 2, image: "i" } });
    expect(fieldsOf(object, "a")).toEqual({ "f:spec": { "f:image": {} } });
    expect(fieldsOf(object, "b", "Update")).toEqual({ "f:spec": { "f:replicas": {} } });
  });

  it("forgets removed fields", () => {
    const live = stored(applyServerSide(context("a"), undefined, thing({ replicas: 1, image: "i" })));
    const object = trackUpdate(context("b"), live, { ...live, spec: { image: "i" } });
    expect(fieldsOf(object, "a")).toEqual({ "f:spec": { "f:image": {} } });
    expect(fieldsOf(object, "b", "Update")).toBeUndefined();
  });

  it("keeps entries unchanged if nothing changes", () => {
    const live = stored(applyServerSide(context("a"), undefined, thing({ replicas: 1 })));
    expect(entries(trackUpdate(context("b"), live, live))).toEqual(entries(live));
  });

  it.each([[[]], [[{}]]])("drops all ownership on request by %j", (managedFields) => {
    const live = stored(applyServerSide(context("a"), undefined, thing({ replicas: 1 })));
    const object = trackUpdate(context("b"), live, {
      ...live,
      metadata: { name: "x", uid: "1", managedFields } as Json,
    } as JsonObject);
    expect(entries(object)).toEqual([]);
  });

  it("keeps the live entries if a client sends none or malformed ones", () => {
    const live = stored(applyServerSide(context("a"), undefined, thing({ replicas: 1 })));
    for (const managedFields of [undefined, [{ manager: "x", operation: "Sing", apiVersion: "v1" }]]) {
      const metadata = { name: "x", uid: "1", ...(managedFields === undefined ? {} : { managedFields }) };
      const object = trackUpdate(context("b"), live, { ...live, metadata } as unknown as JsonObject);
      expect(entries(object)).toEqual(entries(live));
    }
  });

  it("lets clients write entries, but not by a subresource", () => {
    const live = stored(applyServerSide(context("a"), undefined, thing({ replicas: 1 })));
    const managedFields = [{ ...entries(live)[0]!, manager: "z" }];
    const written = { ...live, metadata: { ...(live.metadata as JsonObject), managedFields } } as unknown as JsonObject;
    expect(entries(trackUpdate(context("b"), live, written)).map(({ manager }) => manager)).toEqual(["z"]);
    const bySubresource = trackUpdate(context("b", { subresource: "status" }), live, written);
    expect(entries(bySubresource).map(({ manager }) => manager)).toEqual(["a"]);
  });

  it("keeps at most ten updaters and merges the oldest", () => {
    let live = stored(trackUpdate(context("m00"), undefined, thing({ data: { k00: "v" } })));
    for (let index = 1; index < 13; index++) {
      const name = String(index).padStart(2, "0");
      const data = { ...((live.spec as JsonObject).data as JsonObject), [`k${name}`]: "v" };
      live = trackUpdate(context(`m${name}`, { nowMs: NOW + index * 1000 }), live, { ...live, spec: { data } });
    }
    expect(entries(live).map(({ manager }) => manager)).toEqual([
      "ancient-changes",
      "m04",
      "m05",
      "m06",
      "m07",
      "m08",
      "m09",
      "m10",
      "m11",
      "m12",
    ]);
    expect(fieldsOf(live, "ancient-changes", "Update")).toMatchObject({
      "f:spec": { "f:data": { "f:k00": {}, "f:k01": {}, "f:k02": {}, "f:k03": {} } },
    });
  });

  it("treats __proto__ fields as data", () => {
    const spec = JSON.parse('{"free":{"__proto__":{"polluted":true}}}') as Json;
    const object = trackUpdate(context("a"), undefined, thing(spec));
    expect(JSON.stringify(object.spec)).toBe('{"free":{"__proto__":{"polluted":true}}}');
    expect(JSON.stringify(entries(object)[0]!.fieldsV1)).toContain('"f:__proto__"');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
