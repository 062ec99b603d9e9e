import { area } from "../../case.js";
import type { Session } from "../../session.js";
import { object, widget, widgetPath, widgets } from "../custom/widgets.js";
import { deployment } from "./update.js";

const path = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps/a`;
const config = (data: object, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", ...metadata },
  data,
});

export const applyCases = area("apply", {
  "creates the object": async (s) => {
    await s.apply("one", path(s), config({ k: "v" }, { labels: { x: "y" } }));
  },
  "the same again changes nothing": async (s) => {
    await s.apply("one", path(s), config({ k: "v" }));
    await s.apply("one", path(s), config({ k: "v" }));
  },
  "removes what is no longer applied": async (s) => {
    await s.apply("one", path(s), config({ k: "v", l: "w" }, { annotations: { n: "1" } }));
    await s.apply("one", path(s), config({ k: "v" }));
    await s.apply("one", path(s), { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } });
  },
  "keeps what another manager owns as well": async (s) => {
    await s.apply("one", path(s), config({ k: "v", l: "w" }));
    await s.apply("two", path(s), config({ l: "w" }));
    await s.apply("one", path(s), config({ k: "v" }));
  },
  "empties what another manager owns whole": async (s) => {
    const free = { "x-kubernetes-preserve-unknown-fields": true };
    await s.crd(widgets(s, object({ free, note: { type: "string" } })));
    const at = `${widgetPath(s)}/a`;
    await s.apply("one", at, widget(s, "a", { free: {}, note: "x" }));
    await s.apply("two", at, widget(s, "a", { free: { k: 1 } }));
    await s.apply("two", at, widget(s, "a", {}), "&dryRun=All");
    await s.apply("two", at, widget(s, "a", {}));
    await s.get(at);
    await s.apply("two", at, widget(s, "a", { free: { k: 1 } }));
  },
  "conflicts with another manager": async (s) => {
    await s.apply("one", path(s), config({ k: "v", l: "w" }));
    await s.apply("two", path(s), config({ k: "x", l: "y" }));
  },
  "takes over by force": async (s) => {
    await s.apply("one", path(s), config({ k: "v" }));
    await s.apply("two", path(s), config({ k: "x" }), "&force=true");
    await s.apply("one", path(s), config({ k: "v" }));
  },
  "conflicts with an updater": async (s) => {
    await s.post(`${path(s).slice(0, -2)}?fieldManager=editor`, config({ k: "v" }));
    await s.apply("one", path(s), config({ k: "x" }));
    await s.patch("merge", `${path(s)}?fieldManager=editor`, { data: { k: null } });
    await s.apply("one", path(s), config({ k: "x" }));
  },
  "an update takes ownership": async (s) => {
    await s.apply("one", path(s), config({ k: "v", l: "w" }));
    await s.patch("merge", `${path(s)}?fieldManager=editor`, { data: { k: "edited" } });
  },
  "without a field manager": async (s) => {
    await s.patch("apply", path(s), config({}));
    await s.patch("apply", `${path(s)}?fieldManager=`, config({}));
  },
  "with a body that does not fit": async (s) => {
    await s.apply("one", path(s), { metadata: { name: "a" } });
    await s.apply("one", path(s), { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } });
    await s.apply("one", path(s), { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" } });
    await s.apply("one", path(s), {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", managedFields: [{}] },
    });
    await s.patch("apply", `${path(s)}?fieldManager=one`, "{");
    await s.patch("apply", `${path(s)}?fieldManager=one`, "- a\n- b\n");
  },
  "with unknown fields": async (s) => {
    await s.apply("one", path(s), { ...config({}), nope: 1 });
    await s.apply("one", path(s), { ...config({}), nope: 1 }, "&fieldValidation=Strict");
  },
  "in yaml": async (s) => {
    const body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: |\n    text\n  yes: 'on'\n";
    await s.patch("apply", `${path(s)}?fieldManager=one`, body);
    await s.patch(
      "apply",
      `${path(s)}?fieldManager=one`,
      "data: {a: 1, a: 2}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    );
  },
  "with a resourceVersion or uid": async (s) => {
    await s.apply("one", path(s), config({ k: "v" }, { resourceVersion: "1" }));
    const { body } = await s.apply("one", path(s), config({ k: "v" }));
    await s.apply("one", path(s), config({ k: "w" }, { resourceVersion: body.metadata.resourceVersion }));
    await s.apply("one", path(s), config({ k: "x" }, { resourceVersion: body.metadata.resourceVersion }));
    await s.apply("one", path(s), config({ k: "y" }, { uid: "5f0f34b4-0000-4000-8000-000000000000" }));
  },
  "lists merge by key": async (s) => {
    const body = (containers: readonly object[]): object => ({
      apiVersion: "v1",
      kind: "PodTemplate",
      metadata: { name: "a" },
      template: { spec: { containers } },
    });
    for (const [manager, containers] of [
      ["one", [{ name: "c", image: "i:1", ports: [{ containerPort: 80 }, { containerPort: 80, protocol: "UDP" }] }]],
      ["two", [{ name: "d", image: "j:1", env: [{ name: "A", value: "1" }] }]],
      ["one", [{ name: "c", image: "i:2", ports: [{ containerPort: 80 }] }]],
      ["two", [{ name: "c", image: "i:3" }]],
    ] as const) {
      await s.apply(manager, `/api/v1/namespaces/${s.namespace}/podtemplates/a`, body(containers));
    }
  },
  "a duplicate list key": async (s) => {
    const deployments = `/apis/apps/v1/namespaces/${s.namespace}/deployments/a`;
    const base = deployment("a") as { spec: { template: { spec: Record<string, unknown> } } };
    base.spec.template.spec = {
      containers: [
        { name: "c", image: "i:1" },
        { name: "c", image: "i:2" },
      ],
    };
    await s.apply("one", deployments, { apiVersion: "apps/v1", kind: "Deployment", ...base });
  },
  "sets merge by value": async (s) => {
    await s.apply("one", path(s), config({}, { finalizers: ["x.io/1", "x.io/2"] }));
    await s.apply("two", path(s), config({}, { finalizers: ["x.io/2", "x.io/3"] }));
    await s.apply("one", path(s), config({}, { finalizers: ["x.io/1"] }));
    await s.patch("merge", path(s), { metadata: { finalizers: null } });
  },
  "an atomic map has one owner": async (s) => {
    const services = `/api/v1/namespaces/${s.namespace}/services/a`;
    const body = (selector: object): object => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "a" },
      spec: { clusterIP: "None", selector, ports: [{ port: 80 }] },
    });
    await s.apply("one", services, body({ a: "1" }));
    await s.apply("two", services, body({ b: "2" }));
  },
  "upgrades from client-side apply": async (s) => {
    const applied = JSON.stringify(config({ k: "v", l: "w" }));
    await s.post(
      `${path(s).slice(0, -2)}?fieldManager=kubectl-client-side-apply`,
      config({ k: "v", l: "w" }, { annotations: { "kubectl.kubernetes.io/last-applied-configuration": applied } }),
    );
    await s.apply("kubectl", path(s), config({ k: "x" }));
  },
  "as a dry run": async (s) => {
    await s.apply("one", path(s), config({ k: "v" }), "&dryRun=All");
    await s.get(path(s));
  },
  "managed fields can be reset": async (s) => {
    await s.apply("one", path(s), config({ k: "v" }));
    await s.patch("json", path(s), [{ op: "replace", path: "/metadata/managedFields", value: [{}] }]);
    await s.apply("two", path(s), config({ k: "x" }));
    await s.patch("json", path(s), [
      { op: "replace", path: "/metadata/managedFields", value: [{ manager: "x", operation: "Jump" }] },
    ]);
  },
});
