import { area } from "../../case.js";
import type { Session } from "../../session.js";
import { deployment } from "./update.js";

const path = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;
const deployments = (s: Session): string => `/apis/apps/v1/namespaces/${s.namespace}/deployments`;
const make = async (s: Session): Promise<void> => {
  await s.post(path(s), { metadata: { name: "a", labels: { x: "1" } }, data: { k: "v", l: "w" } }, { silent: true });
};

/** Patches a deployment and shows its pod template, which contains lists and maps. */
async function template(s: Session, patch: object, start: object = deployment("a")): Promise<void> {
  await s.post(deployments(s), start, { silent: true });
  const reply = await s.patch("strategic", `${deployments(s)}/a`, patch, { silent: true });
  s.note("answer", [reply.status, reply.status === 200 ? reply.body.spec.template : reply.body]);
}

const withContainers = (...containers: object[]): object => {
  const made = deployment("a") as { spec: { template: { spec: { containers: object[] } } } };
  made.spec.template.spec.containers = containers;
  return made;
};

export const jsonPatchCases = area("json patch", {
  "adds, replaces and removes": async (s) => {
    await make(s);
    await s.patch("json", `${path(s)}/a`, [
      { op: "add", path: "/data/new", value: "1" },
      { op: "replace", path: "/data/k", value: "2" },
      { op: "remove", path: "/data/l" },
    ]);
  },
  "moves and copies": async (s) => {
    await make(s);
    await s.patch("json", `${path(s)}/a`, [
      { op: "copy", from: "/data/k", path: "/data/copied" },
      { op: "move", from: "/data/l", path: "/data/moved" },
    ]);
  },
  "tests a value": async (s) => {
    await make(s);
    await s.patch("json", `${path(s)}/a`, [
      { op: "test", path: "/data/k", value: "v" },
      { op: "remove", path: "/data/k" },
    ]);
    await s.patch("json", `${path(s)}/a`, [
      { op: "test", path: "/data/l", value: "no" },
      { op: "remove", path: "/data/l" },
    ]);
    await s.patch("json", `${path(s)}/a`, [{ op: "test", path: "/data/none", value: null }]);
  },
  "of a path that is not there": async (s) => {
    await make(s);
    await s.patch("json", `${path(s)}/a`, [{ op: "remove", path: "/data/none" }]);
    await s.patch("json", `${path(s)}/a`, [{ op: "replace", path: "/data/none", value: "x" }]);
    await s.patch("json", `${path(s)}/a`, [{ op: "add", path: "/none/deep", value: "x" }]);
    await s.patch("json", `${path(s)}/a`, [{ op: "move", from: "/none", path: "/data/x" }]);
  },
  "with escaped paths": async (s) => {
    await make(s);
    await s.patch("json", `${path(s)}/a`, [
      { op: "add", path: "/metadata/annotations", value: {} },
      { op: "add", path: "/metadata/annotations/example.com~1key", value: "v" },
      { op: "add", path: "/metadata/annotations/tilde~0key", value: "v" },
    ]);
  },
  "in a list": async (s) => {
    await s.post(path(s), { metadata: { name: "a", finalizers: ["x.io/1", "x.io/3"] } });
    await s.patch("json", `${path(s)}/a`, [{ op: "add", path: "/metadata/finalizers/1", value: "x.io/2" }]);
    await s.patch("json", `${path(s)}/a`, [{ op: "add", path: "/metadata/finalizers/-", value: "x.io/4" }]);
    await s.patch("json", `${path(s)}/a`, [{ op: "add", path: "/metadata/finalizers/9", value: "x.io/9" }]);
    await s.patch("json", `${path(s)}/a`, [{ op: "remove", path: "/metadata/finalizers/7" }]);
    await s.patch("json", `${path(s)}/a`, [{ op: "remove", path: "/metadata/finalizers/x" }]);
    await s.patch("json", `${path(s)}/a`, [{ op: "remove", path: "/metadata/finalizers" }]);
  },
  "that is malformed": async (s) => {
    await make(s);
    await s.patch("json", `${path(s)}/a`, { op: "add" });
    await s.patch("json", `${path(s)}/a`, "[");
    await s.patch("json", `${path(s)}/a`, [{ op: "jump", path: "/data/k" }]);
    await s.patch("json", `${path(s)}/a`, [{ op: "add", path: "data/k", value: "x" }]);
    await s.patch("json", `${path(s)}/a`, []);
  },
  "of a missing object": async (s) => {
    await s.patch("json", `${path(s)}/none`, [{ op: "add", path: "/data", value: {} }]);
  },
  "with a resourceVersion": async (s) => {
    await make(s);
    const { body } = await s.get(`${path(s)}/a`, { silent: true });
    await s.patch("json", `${path(s)}/a`, [
      { op: "replace", path: "/metadata/resourceVersion", value: body.metadata.resourceVersion },
      { op: "add", path: "/data/n", value: "1" },
    ]);
    await s.patch("json", `${path(s)}/a`, [
      { op: "replace", path: "/metadata/resourceVersion", value: body.metadata.resourceVersion },
      { op: "add", path: "/data/n", value: "2" },
    ]);
  },
  "that makes the object invalid": async (s) => {
    await make(s);
    await s.patch("json", `${path(s)}/a`, [{ op: "add", path: "/data/k", value: 7 }]);
    await s.patch("json", `${path(s)}/a`, [{ op: "add", path: "/metadata/labels/x", value: "a:b" }]);
    await s.patch("json", `${path(s)}/a`, [{ op: "replace", path: "/metadata/name", value: "b" }]);
    await s.patch("json", `${path(s)}/a`, [{ op: "replace", path: "", value: {} }]);
  },
  "with more than ten thousand operations": async (s) => {
    await make(s);
    const operations = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/data/k", value: "v" }));
    await s.patch("json", `${path(s)}/a`, operations);
  },
});

export const mergePatchCases = area("merge patch", {
  "adds, replaces and removes": async (s) => {
    await make(s);
    await s.patch("merge", `${path(s)}/a`, { data: { new: "1", k: "2", l: null } });
  },
  "removes a whole map": async (s) => {
    await make(s);
    await s.patch("merge", `${path(s)}/a`, { data: null, metadata: { labels: null } });
  },
  "replaces lists": async (s) => {
    await s.post(path(s), { metadata: { name: "a", finalizers: ["x.io/1", "x.io/2"] } });
    await s.patch("merge", `${path(s)}/a`, { metadata: { finalizers: ["x.io/3"] } });
    await s.patch("merge", `${path(s)}/a`, { metadata: { finalizers: null } });
  },
  "with a resourceVersion": async (s) => {
    await make(s);
    const { body } = await s.get(`${path(s)}/a`, { silent: true });
    const resourceVersion = body.metadata.resourceVersion;
    await s.patch("merge", `${path(s)}/a`, { metadata: { resourceVersion }, data: { n: "1" } });
    await s.patch("merge", `${path(s)}/a`, { metadata: { resourceVersion }, data: { n: "2" } });
  },
  "that is malformed": async (s) => {
    await make(s);
    await s.patch("merge", `${path(s)}/a`, "{");
    await s.patch("merge", `${path(s)}/a`, "[]");
    await s.patch("merge", `${path(s)}/a`, "null");
    await s.patch("merge", `${path(s)}/a`, "");
  },
  "with unknown fields": async (s) => {
    await make(s);
    await s.patch("merge", `${path(s)}/a`, { nope: 1 });
    await s.patch("merge", `${path(s)}/a?fieldValidation=Strict`, { nope: 1, metadata: { nope: 2 } });
    await s.patch("merge", `${path(s)}/a?fieldValidation=Ignore`, { nope: 1 });
  },
  "that changes name, kind or version": async (s) => {
    await make(s);
    await s.patch("merge", `${path(s)}/a`, { metadata: { name: "b" } });
    await s.patch("merge", `${path(s)}/a`, { kind: "Secret" });
    await s.patch("merge", `${path(s)}/a`, { apiVersion: "v2" });
    await s.patch("merge", `${path(s)}/a`, { metadata: { namespace: "default" } });
  },
  "as a dry run": async (s) => {
    await make(s);
    await s.patch("merge", `${path(s)}/a?dryRun=All`, { data: { k: "2" } });
    await s.get(`${path(s)}/a`);
  },
  "by two managers": async (s) => {
    await make(s);
    await s.patch("merge", `${path(s)}/a?fieldManager=one`, { data: { k: "1" } });
    await s.patch("merge", `${path(s)}/a?fieldManager=two`, { data: { k: "2", m: "3" } });
  },
  "with a type that is not supported": async (s) => {
    await make(s);
    await s.patch("merge", `${path(s)}/a`, { data: {} }, { headers: { "content-type": "application/json" } });
    await s.patch("merge", `${path(s)}/a`, { data: {} }, { headers: { "content-type": "text/plain" } });
    await s.patch("merge", `${path(s)}/a?force=true`, { data: {} });
  },
  "in yaml is not taken": async (s) => {
    await make(s);
    await s.patch("merge", `${path(s)}/a`, "data:\n  k: x\n", {
      headers: { "content-type": "application/merge-patch+yaml" },
    });
  },
});

export const strategicPatchCases = area("strategic patch", {
  "merges containers by name": (s) =>
    template(s, {
      spec: {
        template: {
          spec: {
            containers: [
              { name: "d", image: "j:1" },
              { name: "c", imagePullPolicy: "Always" },
            ],
          },
        },
      },
    }),
  "deletes a container": (s) =>
    template(
      s,
      { spec: { template: { spec: { containers: [{ name: "d", $patch: "delete" }] } } } },
      withContainers({ name: "c", image: "i:1" }, { name: "d", image: "i:1" }),
    ),
  "replaces the list": (s) =>
    template(s, { spec: { template: { spec: { containers: [{ name: "e", image: "k:1" }, { $patch: "replace" }] } } } }),
  "sets the order of elements": (s) =>
    template(
      s,
      {
        spec: {
          template: {
            spec: {
              $setElementOrder: undefined,
              "$setElementOrder/containers": [{ name: "d" }, { name: "c" }],
              containers: [{ name: "c", image: "i:2" }],
            },
          },
        },
      },
      withContainers({ name: "c", image: "i:1" }, { name: "d", image: "i:1" }),
    ),
  "merges env and ports by their keys": (s) =>
    template(
      s,
      {
        spec: {
          template: {
            spec: {
              containers: [
                {
                  name: "c",
                  env: [
                    { name: "B", value: "2" },
                    { name: "A", $patch: "delete" },
                  ],
                  ports: [{ containerPort: 81, name: "p81" }],
                },
              ],
            },
          },
        },
      },
      withContainers({ name: "c", image: "i:1", env: [{ name: "A", value: "1" }], ports: [{ containerPort: 80 }] }),
    ),
  "retains keys": async (s) => {
    await s.post(deployments(s), deployment("a"), { silent: true });
    const reply = await s.patch(
      "strategic",
      `${deployments(s)}/a`,
      { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } },
      { silent: true },
    );
    s.note("answer", [reply.status, reply.body.spec?.strategy ?? reply.body]);
  },
  "replaces a map": async (s) => {
    await s.post(path(s), { metadata: { name: "a", labels: { x: "1" } }, data: { k: "v" } });
    await s.patch("strategic", `${path(s)}/a`, { data: { $patch: "replace", n: "1" } });
    await s.patch("strategic", `${path(s)}/a`, { data: { $patch: "delete" } });
  },
  "deletes from a list of values": async (s) => {
    await s.post(path(s), { metadata: { name: "a", finalizers: ["x.io/1", "x.io/2", "x.io/3"] } });
    await s.patch("strategic", `${path(s)}/a`, { metadata: { "$deleteFromPrimitiveList/finalizers": ["x.io/2"] } });
    await s.patch("strategic", `${path(s)}/a`, { metadata: { finalizers: ["x.io/4"] } });
    await s.patch("strategic", `${path(s)}/a`, { metadata: { finalizers: null } });
  },
  "with directives that are wrong": async (s) => {
    await s.post(path(s), { metadata: { name: "a" }, data: { k: "v" } });
    await s.patch("strategic", `${path(s)}/a`, { data: { $patch: "jump" } });
    await s.patch("strategic", `${path(s)}/a`, { data: "text" });
    await s.patch("strategic", `${path(s)}/a`, { data: { k: 1 } });
    await s.patch("strategic", `${path(s)}/a`, { immutable: "yes" });
    await s.patch("strategic", `${path(s)}/a`, { metadata: { generation: "one" } });
    await s.patch("strategic", `${path(s)}/a`, { metadata: { generation: 1.5 } });
    await s.patch("strategic", `${path(s)}/a`, "{");
    await s.patch("strategic", `${path(s)}/a`, "[]");
  },
  "an element without its key": (s) => template(s, { spec: { template: { spec: { containers: [{ image: "x" }] } } } }),
  "tolerations are replaced": (s) =>
    template(s, {
      spec: { template: { spec: { tolerations: [{ key: "a", operator: "Exists" }], nodeSelector: { a: "b" } } } },
    }),
  "is not taken for custom resources": async (s) => {
    await s.patch("strategic", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/none", {});
  },
});
