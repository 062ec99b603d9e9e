import { area } from "../case.js";
import type { Body, Session } from "../session.js";

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** A CRD of the case's own group, with the given schema of `spec`. */
export function widgets(
  s: Session,
  spec: object,
  extra: { version?: object; crd?: object; schema?: object } = {},
): Body {
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: { spec, status: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      ...extra.schema,
    },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `widgets.${s.group}` },
    spec: {
      group: s.group,
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget", shortNames: [`wd${s.namespace.slice(5)}`], categories: ["all"] },
      versions: [{ name: "v1", served: true, storage: true, schema, ...extra.version }],
      ...extra.crd,
    },
  };
}

export const widget = (s: Session, name: string, spec?: unknown): Body => ({
  apiVersion: `${s.group}/v1`,
  kind: "Widget",
  metadata: { name },
  ...(spec === undefined ? {} : { spec }),
});

export const widgetPath = (s: Session): string => `/apis/${s.group}/v1/namespaces/${s.namespace}/widgets`;

/** Makes the CRD and posts each of the specs. */
async function tries(s: Session, spec: object, specs: readonly unknown[], query = ""): Promise<void> {
  await s.crd(widgets(s, spec));
  for (const [index, each] of specs.entries()) await s.post(`${widgetPath(s)}${query}`, widget(s, `w${index}`, each));
}

const object = (properties: object, rest: object = {}): object => ({ type: "object", properties, ...rest });

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
});

export const crdCases = area("custom resources", {
  "are served at once with their conditions": async (s) => {
    await s.post(crds, widgets(s, object({ a: { type: "string" } })));
    const reply = await s.eventually(`${crds}/widgets.${s.group}`, (one) =>
      one.body.status?.conditions?.some((c: Body) => c.type === "Established" && c.status === "True"),
    );
    s.note("stored", reply.body.status.storedVersions);
  },
  "create, read, update, delete": async (s) => {
    await s.crd(widgets(s, object({ a: { type: "string" } })));
    const { body } = await s.post(widgetPath(s), widget(s, "w", { a: "1" }));
    await s.put(`${widgetPath(s)}/w`, { ...body, spec: { a: "2" } });
    await s.put(`${widgetPath(s)}/w`, { ...body, metadata: { name: "w" } });
    await s.patch("merge", `${widgetPath(s)}/w`, { spec: { a: "3" } });
    await s.patch("strategic", `${widgetPath(s)}/w`, { spec: { a: "4" } });
    await s.get(widgetPath(s));
    await s.delete(`${widgetPath(s)}/w`);
  },
  "need apiVersion and kind": async (s) => {
    await s.crd(widgets(s, object({})));
    await s.post(widgetPath(s), { metadata: { name: "a" } });
    await s.post(widgetPath(s), { apiVersion: "v1", kind: "Widget", metadata: { name: "a" } });
    await s.post(widgetPath(s), { ...widget(s, "a"), kind: "Gadget" });
    await s.post(widgetPath(s), { ...widget(s, "a"), metadata: { name: "a", nope: 1, labels: { x: "y" } } });
  },
  "count their generation": async (s) => {
    await s.crd(widgets(s, object({ a: { type: "string" } }), { version: { subresources: { status: {} } } }));
    await s.post(widgetPath(s), { ...widget(s, "w", { a: "1" }), status: { x: 1 } });
    await s.patch("merge", `${widgetPath(s)}/w`, { spec: { a: "2" }, status: { x: 2 } });
    await s.patch("merge", `${widgetPath(s)}/w`, { metadata: { labels: { l: "1" } } });
    await s.patch("merge", `${widgetPath(s)}/w/status`, {
      status: { x: 3 },
      spec: { a: "no" },
      metadata: { labels: { l: "2" } },
    });
    await s.get(`${widgetPath(s)}/w/status`);
  },
  "without a status subresource": async (s) => {
    await s.crd(widgets(s, object({ a: { type: "string" } })));
    await s.post(widgetPath(s), { ...widget(s, "w", { a: "1" }), status: { x: 1 } });
    await s.patch("merge", `${widgetPath(s)}/w`, { status: { x: 2 } });
    await s.get(`${widgetPath(s)}/w/status`);
  },
  scale: async (s) => {
    const scale = {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    };
    await s.crd(
      widgets(s, object({ replicas: { type: "integer" } }), { version: { subresources: { status: {}, scale } } }),
    );
    await s.post(widgetPath(s), widget(s, "w", { replicas: 2 }));
    await s.get(`${widgetPath(s)}/w/scale`);
    await s.patch("merge", `${widgetPath(s)}/w/scale`, { spec: { replicas: 5 } });
    await s.patch("merge", `${widgetPath(s)}/w/scale`, { spec: { replicas: -1 } });
    await s.patch("merge", `${widgetPath(s)}/w/status`, { status: { replicas: 4, selector: "a=b" } });
    await s.get(`${widgetPath(s)}/w/scale`);
    await s.get(`${widgetPath(s)}/w`);
  },
  "in two versions without conversion": async (s) => {
    const schema = { openAPIV3Schema: object({ spec: object({ a: { type: "string" } }) }) };
    const definition = widgets(s, object({ a: { type: "string" } }));
    definition.spec.versions.push({ name: "v2", served: true, storage: false, schema });
    await s.crd(definition);
    await s.post(widgetPath(s), widget(s, "w", { a: "1" }));
    await s.get(widgetPath(s).replace("/v1/", "/v2/"));
    await s.apply(
      "one",
      `${widgetPath(s).replace("/v1/", "/v2/")}/w`,
      { ...widget(s, "w", { a: "2" }), apiVersion: `${s.group}/v2` },
      "&force=true",
    );
  },
  "with columns": async (s) => {
    const additionalPrinterColumns = [
      { name: "A", type: "string", jsonPath: ".spec.a" },
      { name: "N", type: "integer", jsonPath: ".spec.n", priority: 1, description: "a number" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ];
    await s.crd(
      widgets(s, object({ a: { type: "string" }, n: { type: "integer" } }), { version: { additionalPrinterColumns } }),
    );
    await s.post(widgetPath(s), widget(s, "w", { a: "1", n: 2 }));
    await s.post(widgetPath(s), widget(s, "x", {}));
    await s.get(widgetPath(s), {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" },
    });
  },
  "with selectable fields": async (s) => {
    await s.crd(
      widgets(s, object({ a: { type: "string" }, n: { type: "integer" } }), {
        version: { selectableFields: [{ jsonPath: ".spec.a" }, { jsonPath: ".spec.n" }] },
      }),
    );
    await s.post(widgetPath(s), widget(s, "w", { a: "1", n: 2 }));
    await s.post(widgetPath(s), widget(s, "x", { a: "2" }));
    for (const selector of ["spec.a=1", "spec.a!=1", "spec.n=2", "spec.a=", "spec.b=1"])
      await s.get(`${widgetPath(s)}?fieldSelector=${encodeURIComponent(selector)}`);
  },
  "are gone with their definition": async (s) => {
    await s.crd(widgets(s, object({})));
    await s.post(widgetPath(s), widget(s, "w"));
    await s.delete(`${crds}/widgets.${s.group}`, undefined, { silent: true });
    await s.eventually(`${crds}/widgets.${s.group}`, (reply) => reply.status === 404);
    await s.eventually(widgetPath(s), (reply) => reply.status === 404);
  },
  "change their schema while they are served": async (s) => {
    await s.crd(widgets(s, object({ a: { type: "string" } })));
    await s.post(widgetPath(s), widget(s, "w", { a: "1" }));
    const changed = widgets(s, object({ a: { type: "string", maxLength: 3 }, b: { type: "integer", default: 5 } }));
    await s.patch("merge", `${crds}/widgets.${s.group}`, { spec: changed.spec }, { silent: true });
    await s.eventually(`${widgetPath(s)}/w`, (reply) => reply.body.spec?.b === 5);
    await s.post(widgetPath(s), widget(s, "x", { a: "long" }));
  },
  "that are cluster-scoped": async (s) => {
    await s.crd(widgets(s, object({}), { crd: { scope: "Cluster" } }));
    const path = `/apis/${s.group}/v1/widgets`;
    await s.post(path, widget(s, "w"));
    await s.get(`${path}/w`);
    await s.get(widgetPath(s));
  },
  "server-side applied": async (s) => {
    await s.crd(
      widgets(
        s,
        object({
          list: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            items: object({ k: { type: "string" }, v: { type: "string" } }, { required: ["k"] }),
          },
          atomic: { type: "array", items: { type: "string" } },
          free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        }),
      ),
    );
    const apply = (manager: string, spec: object, query = ""): Promise<unknown> =>
      s.apply(manager, `${widgetPath(s)}/w`, widget(s, "w", spec), query);
    await apply("one", { list: [{ k: "1", v: "a" }], atomic: ["x"], free: { deep: { x: 1, y: [1] } } });
    await apply("two", { list: [{ k: "2", v: "b" }], free: { deep: { z: 2 } } });
    await apply("two", { list: [{ k: "1", v: "c" }], atomic: ["y"] });
    await apply("one", { list: [{ k: "1", v: "a" }] });
  },
});

export const crdDefinitionCases = area("custom resource definitions", {
  "with a wrong name": async (s) => {
    await s.post(crds, { ...widgets(s, object({})), metadata: { name: "other" } });
    await s.post(crds, widgets(s, object({}), { crd: { group: "nodots" } }));
  },
  "without a schema": async (s) => {
    const definition = widgets(s, object({}));
    delete definition.spec.versions[0].schema;
    await s.post(crds, definition);
  },
  "that is not structural": async (s) => {
    for (const spec of [
      {},
      object({ a: {} }),
      { type: "array" },
      object({ a: { type: "string", properties: { x: { type: "string" } } } }),
      object({ a: { anyOf: [{ type: "string" }] } }),
      object({ a: { type: "object", properties: {}, additionalProperties: { type: "string" } } }),
      object({ a: { type: "text" } }),
    ]) {
      await s.post(crds, widgets(s, spec));
    }
  },
  "with a default that does not fit": async (s) => {
    await s.post(crds, widgets(s, object({ a: { type: "string", default: 1 } })));
    await s.post(crds, widgets(s, object({ a: { type: "integer", maximum: 3, default: 4 } })));
  },
  "with no or two storage versions": async (s) => {
    const none = widgets(s, object({}), { version: { storage: false } });
    await s.post(crds, none);
    const two = widgets(s, object({}));
    two.spec.versions.push({ ...two.spec.versions[0], name: "v2" });
    await s.post(crds, two);
  },
  "with a pattern that is no expression": async (s) => {
    await s.post(crds, widgets(s, object({ a: { type: "string", pattern: "(" } })));
    await s.post(crds, widgets(s, object({ a: { type: "string", pattern: "(?=x)" } })));
  },
  "with list types that do not fit": async (s) => {
    await s.post(
      crds,
      widgets(
        s,
        object({ a: { type: "array", "x-kubernetes-list-type": "map", items: object({ k: { type: "string" } }) } }),
      ),
    );
    await s.post(
      crds,
      widgets(
        s,
        object({ a: { type: "array", "x-kubernetes-list-type": "set", items: object({ k: { type: "string" } }) } }),
      ),
    );
    await s.post(
      crds,
      widgets(
        s,
        object({
          a: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["z"],
            items: object({ k: { type: "string" } }),
          },
        }),
      ),
    );
    await s.post(crds, widgets(s, object({ a: { type: "string", "x-kubernetes-list-type": "set" } })));
  },
  "with columns and selectors that do not fit": async (s) => {
    await s.post(
      crds,
      widgets(s, object({}), { version: { additionalPrinterColumns: [{ name: "x", type: "thing", jsonPath: ".a" }] } }),
    );
    await s.post(
      crds,
      widgets(s, object({}), { version: { additionalPrinterColumns: [{ name: "x", type: "string", jsonPath: "a" }] } }),
    );
    await s.post(crds, widgets(s, object({}), { version: { selectableFields: [{ jsonPath: ".spec.none" }] } }));
    await s.post(
      crds,
      widgets(s, object({}), {
        version: { subresources: { scale: { specReplicasPath: ".status.x", statusReplicasPath: ".spec.y" } } },
      }),
    );
  },
  "with names that are taken": async (s) => {
    await s.crd(widgets(s, object({})));
    const other = widgets(s, object({}));
    other.metadata.name = `gadgets.${s.group}`;
    other.spec.names = { plural: "gadgets", kind: "Widget" };
    await s.post(crds, other, { silent: true });
    const reply = await s.eventually(`${crds}/gadgets.${s.group}`, (one) =>
      one.body.status?.conditions?.some((c: Body) => c.type === "NamesAccepted"),
    );
    s.note(
      "conditions",
      reply.body.status.conditions.map((c: Body) => [c.type, c.status, c.reason, c.message]),
    );
  },
  "with conversion that is incomplete": async (s) => {
    await s.post(crds, widgets(s, object({}), { crd: { conversion: { strategy: "Webhook" } } }));
    await s.post(crds, widgets(s, object({}), { crd: { conversion: { strategy: "Magic" } } }));
  },
  "cannot change scope": async (s) => {
    await s.crd(widgets(s, object({})));
    await s.patch("merge", `${crds}/widgets.${s.group}`, { spec: { scope: "Cluster" } });
    await s.patch("merge", `${crds}/widgets.${s.group}`, { spec: { names: { kind: "Gadget" } } });
  },
  "cannot drop a stored version": async (s) => {
    await s.crd(widgets(s, object({})));
    const next = widgets(s, object({}));
    next.spec.versions[0].name = "v2";
    await s.patch("merge", `${crds}/widgets.${s.group}`, { spec: { versions: next.spec.versions } });
  },
});
