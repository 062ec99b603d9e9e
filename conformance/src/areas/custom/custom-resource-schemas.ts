import { area } from "../../case.js";
import type { Session } from "../../session.js";
import { object, widget, widgetPath, widgets } from "./widgets.js";

/** Creates the CRD and posts each of the specs. */
async function tries(s: Session, spec: object, specs: readonly unknown[], query = ""): Promise<void> {
  await s.crd(widgets(s, spec));
  for (const [index, each] of specs.entries()) await s.post(`${widgetPath(s)}${query}`, widget(s, `w${index}`, each));
}

export const schemaCases = area("custom resource schemas", {
  types: (s) =>
    tries(
      s,
      object({
        i: { type: "integer" },
        n: { type: "number" },
        b: { type: "boolean" },
        t: { type: "string" },
        a: { type: "array", items: { type: "string" } },
        o: object({}),
      }),
      [
        { i: 1, n: 1.5, b: true, t: "x", a: ["y"], o: {} },
        { i: "1" },
        { i: 1.5 },
        { n: "x" },
        { b: "true" },
        { t: 7 },
        { a: {} },
        { a: [1] },
        { o: [] },
        "text",
        [],
        null,
      ],
    ),
  "required fields": (s) =>
    tries(
      s,
      object({ a: { type: "string" }, o: object({ x: { type: "string" } }, { required: ["x"] }) }, { required: ["a"] }),
      [{ a: "1" }, {}, { a: "1", o: {} }, { a: null }, undefined],
    ),
  "unknown fields are pruned": async (s) => {
    await tries(s, object({ a: { type: "string" } }), [{ a: "1", b: "2", c: { d: 1 } }]);
    await s.post(`${widgetPath(s)}?fieldValidation=Strict`, { ...widget(s, "x", { a: "1", b: 2 }), extra: 1 });
    await s.post(`${widgetPath(s)}?fieldValidation=Ignore`, { ...widget(s, "y", { a: "1", b: 2 }), extra: 1 });
  },
  "unknown fields are kept where it says so": (s) =>
    tries(
      s,
      object({
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        half: object({ a: { type: "string" } }, { "x-kubernetes-preserve-unknown-fields": true }),
      }),
      [{ free: { x: { y: [1, { z: null }] } }, half: { a: "1", b: 2 } }, { half: { a: 1 } }],
    ),
  defaults: (s) =>
    tries(
      s,
      object({
        a: { type: "string", default: "x" },
        o: object({ n: { type: "integer", default: 3 } }, { default: {} }),
        p: object({ n: { type: "integer", default: 4 } }),
        l: { type: "array", items: object({ q: { type: "string", default: "d" } }) },
        m: { type: "object", additionalProperties: object({ q: { type: "boolean", default: true } }) },
      }),
      [{}, { p: {} }, { l: [{}, { q: "e" }], m: { k: {} } }, { a: null, o: null }],
    ),
  nullable: (s) =>
    tries(
      s,
      object({
        n: { type: "string", nullable: true },
        s: { type: "string" },
        d: { type: "string", nullable: true, default: "x" },
        o: { type: "object", nullable: true, properties: { a: { type: "string" } } },
      }),
      [{ n: null }, { s: null }, { d: null }, { o: null }, {}],
    ),
  "enums and patterns": (s) =>
    tries(
      s,
      object({
        color: { type: "string", enum: ["red", "blue"] },
        n: { type: "integer", enum: [1, 2] },
        p: { type: "string", pattern: "^a+$" },
      }),
      [{ color: "red", n: 1, p: "aa" }, { color: "green" }, { n: 3 }, { p: "b" }, { color: "green", p: "b" }],
    ),
  limits: (s) =>
    tries(
      s,
      object({
        n: { type: "number", minimum: 1, maximum: 5, multipleOf: 0.5 },
        x: { type: "integer", minimum: 1, exclusiveMinimum: true },
        t: { type: "string", minLength: 2, maxLength: 3 },
        a: { type: "array", minItems: 1, maxItems: 2, items: { type: "string" } },
        m: { type: "object", minProperties: 1, maxProperties: 1, additionalProperties: { type: "string" } },
      }),
      [
        { n: 2.5, x: 2, t: "äö", a: ["x"], m: { k: "v" } },
        { n: 0 },
        { n: 6 },
        { n: 1.2 },
        { x: 1 },
        { t: "a" },
        { t: "abcd" },
        { a: [] },
        { a: ["1", "2", "3"] },
        { m: {} },
        { m: { a: "1", b: "2" } },
      ],
    ),
  formats: (s) =>
    tries(
      s,
      object({
        d: { type: "string", format: "date-time" },
        i: { type: "string", format: "ipv4" },
        u: { type: "string", format: "uuid" },
        b: { type: "string", format: "byte" },
        t: { type: "string", format: "duration" },
        e: { type: "string", format: "email" },
        x: { type: "string", format: "made-up" },
        n: { type: "integer", format: "int32" },
      }),
      [
        { d: "2026-01-01T00:00:00Z", i: "1.2.3.4", b: "dg==", t: "5m", e: "a@b.c", x: "?", n: 1 },
        { d: "yesterday" },
        { i: "1.2.3" },
        { u: "x" },
        { b: "!" },
        { t: "5 minutes" },
        { e: "nobody" },
        { n: 3_000_000_000 },
      ],
    ),
  "int or string": (s) =>
    tries(
      s,
      object({
        p: { "x-kubernetes-int-or-string": true },
        q: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }], pattern: "^\\d+%$" },
      }),
      [{ p: 1 }, { p: "x" }, { p: 1.5 }, { p: true }, { q: "50%" }, { q: "x" }, { q: 7 }],
    ),
  "list types": (s) =>
    tries(
      s,
      object({
        set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        map: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["k"],
          items: object({ k: { type: "string" }, v: { type: "string" } }, { required: ["k"] }),
        },
      }),
      [
        { set: ["a", "b"], map: [{ k: "1" }, { k: "2" }] },
        { set: ["a", "a"] },
        { map: [{ k: "1" }, { k: "1", v: "x" }] },
        { map: [{ v: "x" }] },
      ],
    ),
  "any of, one of, all of, not": (s) =>
    tries(
      s,
      object({
        a: { type: "string", anyOf: [{ minLength: 3 }, { pattern: "^x" }] },
        o: { type: "integer", oneOf: [{ minimum: 5 }, { maximum: 10 }] },
        l: { type: "string", allOf: [{ minLength: 2 }, { maxLength: 3 }] },
        n: { type: "string", not: { pattern: "^bad" } },
      }),
      [{ a: "xy", o: 1, l: "ab", n: "good" }, { a: "ab" }, { o: 7 }, { l: "a" }, { l: "abcd" }, { n: "bad" }],
    ),
  maps: (s) =>
    tries(
      s,
      object({
        m: { type: "object", additionalProperties: { type: "integer" } },
        n: { type: "object", additionalProperties: object({ a: { type: "string" } }) },
      }),
      [{ m: { a: 1 }, n: { k: { a: "x", drop: 1 } } }, { m: { a: "1" } }, { n: { k: "text" } }],
    ),
  "embedded resources": (s) =>
    tries(
      s,
      object({
        t: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
      }),
      [
        { t: { apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec: { a: 1 } } },
        { t: { kind: "Pod" } },
        { t: { apiVersion: "v1", kind: "Pod", metadata: { name: "X_", labels: { "a b": "c" } } } },
      ],
    ),
  "unknown fields of list items are kept where it says so": (s) =>
    tries(
      s,
      object({
        loose: {
          type: "array",
          "x-kubernetes-preserve-unknown-fields": true,
          items: object({ a: { type: "string" } }),
        },
        strict: { type: "array", items: object({ a: { type: "string" } }) },
        items: {
          type: "array",
          items: object({ a: object({ b: { type: "string" } }) }, { "x-kubernetes-preserve-unknown-fields": true }),
        },
      }),
      [{ loose: [{ a: "1", b: 2 }], strict: [{ a: "1", b: 2 }], items: [{ a: { b: "1", c: 2 }, d: 3 }] }],
    ),
  "required within a choice": (s) =>
    tries(
      s,
      object(
        { a: { type: "string" }, b: { type: "string" }, c: { type: "string" } },
        { oneOf: [{ required: ["a"] }, { required: ["b"] }], allOf: [{ required: ["c"] }] },
      ),
      [{ a: "1", c: "1" }, { c: "1" }, { a: "1", b: "1", c: "1" }, { a: "1" }, {}],
    ),
});
