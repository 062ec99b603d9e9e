import { systemClock } from "setpoint/clock";
import { area } from "../../case.js";
import type { Body } from "../../session.js";
import { crds, object, widget, widgetPath, widgets } from "./widgets.js";

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
      { name: "First", type: "string", jsonPath: ".spec.list[*]" },
      { name: "List", type: "string", jsonPath: ".spec.list" },
    ];
    const list = { type: "array", items: { type: "string" } };
    await s.crd(
      widgets(s, object({ a: { type: "string" }, n: { type: "integer" }, list }), {
        version: { additionalPrinterColumns },
      }),
    );
    await s.post(widgetPath(s), widget(s, "w", { a: "1", n: 2, list: ["p", "q"] }));
    await s.post(widgetPath(s), widget(s, "x", {}));
    await s.get(widgetPath(s), {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" },
    });
  },
  "that embed others": async (s) => {
    const template = {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
    };
    await s.crd(widgets(s, object({ template, all: { type: "array", items: template } })));
    const embedded = { apiVersion: "v1", kind: "Pod", metadata: { name: "x", labels: { a: "b" } }, spec: { free: 1 } };
    const odd = { ...embedded, metadata: { name: "x", odd: true } };
    const at = `${widgetPath(s)}/w`;
    await s.apply("one", at, widget(s, "w", { template: odd }));
    await s.apply("one", at, widget(s, "w", { template: embedded, all: [embedded] }));
    await s.apply("two", at, widget(s, "w", { template: { ...embedded, metadata: { labels: { a: "c" } } } }));
    const document = `/openapi/v3/apis/${s.group}/v1`;
    const { body } = await s.until(document, (reply) => JSON.stringify(reply.body).includes("embedded"));
    const [name] = Object.keys(body.components.schemas).filter((each) => each.endsWith(".Widget"));
    const { spec } = body.components.schemas[name!].properties;
    s.note("required", [spec.properties.template.required, spec.properties.all.items.required]);
    s.note("fields", Object.keys(spec.properties.template.properties).sort());
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
  "applied with empty metadata count every time": async (s) => {
    await s.crd(widgets(s, object({ a: { type: "string" } })));
    const untidy = { ...widget(s, "w", { a: "1" }), metadata: { name: "w", labels: {}, finalizers: [] } };
    for (let time = 0; time < 2; time++) await s.apply("one", `${widgetPath(s)}/w`, untidy);
    for (let time = 0; time < 2; time++) await s.patch("merge", `${widgetPath(s)}/w`, {});
    for (let time = 0; time < 2; time++) await s.apply("two", `${widgetPath(s)}/w`, widget(s, "w", { a: "1" }));
    await s.apply("one", `${widgetPath(s)}/w`, { ...untidy, metadata: { name: "w", labels: { x: "y" } } });
    await s.apply("one", `${widgetPath(s)}/w`, untidy);
    for (let time = 0; time < 2; time++) await s.patch("merge", `${widgetPath(s)}/w`, {});
  },
  "stay until their last finalizer is gone": async (s) => {
    await s.crd(widgets(s, object({ a: { type: "string" } })));
    const held = { ...widget(s, "w", { a: "1" }), metadata: { name: "w", finalizers: ["x.io/keep"] } };
    await s.post(widgetPath(s), held);
    await s.delete(`${widgetPath(s)}/w`);
    await s.patch("merge", `${widgetPath(s)}/w`, { spec: { a: "2" } });
    await s.patch("merge", `${widgetPath(s)}/w`, { metadata: { finalizers: null } });
    await s.get(`${widgetPath(s)}/w`);
  },
  "are written again once the storage version changed": async (s) => {
    const schema = { openAPIV3Schema: object({ spec: object({ a: { type: "string" } }) }) };
    const definition = widgets(s, object({ a: { type: "string" } }));
    definition.spec.versions.push({ name: "v2", served: true, storage: false, schema });
    await s.crd(definition);
    await s.post(widgetPath(s), widget(s, "w", { a: "1" }));
    await s.patch("merge", `${widgetPath(s)}/w`, {});
    const [first, second] = definition.spec.versions;
    const versions = [
      { ...first, storage: false },
      { ...second, storage: true },
    ];
    await s.patch("merge", `${crds}/widgets.${s.group}`, { spec: { versions } }, { silent: true });
    await s.eventually(`${crds}/widgets.${s.group}`, (reply) => reply.body.status.storedVersions.length === 2);
    await systemClock.sleep(2000);
    for (let time = 0; time < 2; time++) await s.patch("merge", `${widgetPath(s)}/w`, {});
  },
  "patched through another version": async (s) => {
    const definition = widgets(s, object({ a: { type: "string" }, b: { type: "string" } }));
    const schema = { openAPIV3Schema: object({ spec: object({ a: { type: "string" } }) }) };
    definition.spec.versions.push({ name: "v2", served: true, storage: false, schema });
    await s.crd(definition);
    const second = widgetPath(s).replace("/v1/", "/v2/");
    await s.post(widgetPath(s), widget(s, "w", { a: "1", b: "2" }));
    await s.get(`${second}/w`);
    await s.patch("merge", `${second}/w`, { spec: { a: "3", b: "4" } });
    await s.get(`${widgetPath(s)}/w`);
    await s.patch("json", `${second}/w`, [{ op: "add", path: "/spec/b", value: "5" }]);
    await s.apply("one", `${second}/w`, { ...widget(s, "w", { a: "6" }), apiVersion: `${s.group}/v2` }, "&force=true");
    await s.get(`${widgetPath(s)}/w`);
  },
  "scaled by an apply": async (s) => {
    const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
    const version = { subresources: { status: {}, scale } };
    await s.crd(widgets(s, object({ replicas: { type: "integer" } }), { version }));
    await s.apply("one", `${widgetPath(s)}/w`, widget(s, "w", { replicas: 1 }));
    const wanted = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "w" }, spec: { replicas: 3 } };
    await s.apply("two", `${widgetPath(s)}/w/scale`, wanted);
    await s.apply("one", `${widgetPath(s)}/w`, widget(s, "w", { replicas: 2 }));
    await s.get(`${widgetPath(s)}/w/scale`);
  },
});
