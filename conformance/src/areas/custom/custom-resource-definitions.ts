import { area } from "../../case.js";
import type { Body } from "../../session.js";
import { crds, object, widgets } from "./widgets.js";

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
  "with an empty conversion, a dialect or no dependencies": async (s) => {
    for (const conversion of [{}, { strategy: "" }, { webhook: {} }, null]) {
      await s.post(`${crds}?dryRun=All`, widgets(s, object({}), { crd: { conversion } }));
    }
    for (const part of [
      { $schema: "http://json-schema.org/draft-07/schema#" },
      { $schema: "" },
      { dependencies: {} },
      { dependencies: null },
    ]) {
      await s.post(`${crds}?dryRun=All`, widgets(s, object({}), { schema: part }));
      await s.post(`${crds}?dryRun=All`, widgets(s, object({ a: { type: "string", ...part } })));
      await s.post(`${crds}?dryRun=All`, widgets(s, object({ a: { type: "string", not: part } })));
    }
    await s.post(`${crds}?dryRun=All`, widgets(s, object({ a: { $schema: "x" } })));
  },
  "that would keep unknown fields from now on": async (s) => {
    const definition = widgets(s, object({}));
    await s.crd(definition);
    const at = `${crds}/${definition.metadata.name}`;
    await s.patch("merge", `${at}?dryRun=All`, { spec: { preserveUnknownFields: true } });
    await s.patch("merge", `${at}?dryRun=All`, { spec: { preserveUnknownFields: false } });
  },
  "with names in its status that are none": async (s) => {
    const definition = widgets(s, object({}));
    await s.crd(definition);
    const at = `${crds}/${definition.metadata.name}/status?dryRun=All`;
    for (const acceptedNames of [
      { plural: "Not good" },
      { singular: "-", kind: "Not good", listKind: "x_" },
      { kind: "Same", listKind: "Same", shortNames: ["x", "_"], categories: ["C"] },
    ]) {
      await s.patch("merge", at, { status: { acceptedNames } });
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
  "tell a watch of their steps": async (s) => {
    const { body } = await s.get(crds, { silent: true });
    const query = `watch=true&fieldSelector=metadata.name%3Dwidgets.${s.group}`;
    using watch = await s.watch(`${crds}?${query}&resourceVersion=${body.metadata.resourceVersion}`);
    await s.post(crds, widgets(s, object({})), { silent: true });
    await watch.take(3);
    await s.patch("merge", `${crds}/widgets.${s.group}`, { spec: { names: { categories: ["some"] } } });
    await watch.take(2);
  },
  "take a name once it is free": async (s) => {
    await s.crd(widgets(s, object({})));
    const other = widgets(s, object({}));
    other.metadata.name = `gadgets.${s.group}`;
    other.spec.names = { plural: "gadgets", kind: "Widget" };
    const isIn = (type: string, status: string) => (reply: { body: Body }) =>
      reply.body.status?.conditions?.some((c: Body) => c.type === type && c.status === status) === true;
    await s.post(crds, other, { silent: true });
    await s.eventually(`${crds}/gadgets.${s.group}`, isIn("NamesAccepted", "False"));
    await s.get(`/apis/${s.group}/v1/gadgets`);
    await s.delete(`${crds}/widgets.${s.group}`, undefined, { silent: true });
    await s.eventually(`${crds}/gadgets.${s.group}`, isIn("Established", "True"));
    await s.eventually(`/apis/${s.group}/v1/gadgets`, (reply) => reply.status === 200);
  },
});
