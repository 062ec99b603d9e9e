import { systemClock } from "setpoint/clock";
import { area } from "../../case.js";
import type { Body, Reply, Session } from "../../session.js";

const V2 = "/openapi/v2";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
/** Options and events of every group; the real server names groups that it does not serve. */
const OF_ALL_GROUPS = /\.(DeleteOptions|WatchEvent)$/;

const document = async (s: Session): Promise<Body> => JSON.parse((await s.get(V2, { silent: true })).text);

/** Servers publish CRDs after a delay. */
const published = async (s: Session, isDone: (spec: Body) => boolean): Promise<Body> => {
  const deadline = systemClock.monotonic() + s.patienceMs;
  let spec = await document(s);
  while (!isDone(spec) && systemClock.monotonic() < deadline) {
    await systemClock.sleep(500);
    spec = await document(s);
  }
  return spec;
};

/** Replaces references to parameters by the parameters, sorts them, and drops descriptions. */
const resolved = (spec: Body, value: Body, key = ""): Body => {
  if (Array.isArray(value)) {
    const items = value.map((item) => resolved(spec, item));
    return key === "parameters" ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const { $ref } = value;
  if (typeof $ref === "string" && $ref.startsWith("#/parameters/")) {
    return resolved(spec, spec.parameters[$ref.slice("#/parameters/".length)]);
  }
  const entries = Object.entries(value).filter(([name, part]) => name !== "description" || typeof part !== "string");
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, part]) => [name, resolved(spec, part, name)]),
  );
};

const prefixOf = (s: Session, version: string): string => [...s.group.split(".").reverse(), version].join(".");

const crd = (s: Session, schema: object, more: object = {}, group = s.group) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `foos.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "foos", kind: "Foo" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more }],
  },
});

const foo =
  (version: string) =>
  (s: Session, spec: Body): Body =>
    spec.definitions[`${prefixOf(s, version)}.Foo`];

const noteSchema = async (s: Session, schema: object, more: object = {}): Promise<void> => {
  await s.crd(crd(s, schema, more));
  const spec = await published(s, (each) => foo("v1")(s, each));
  s.note("definition", resolved(spec, foo("v1")(s, spec)));
  s.note("list", resolved(spec, spec.definitions[`${prefixOf(s, "v1")}.FooList`]));
  const own = Object.entries(spec.paths).filter(([path]) => path.includes(`/${s.group}/`));
  s.note("paths", resolved(spec, Object.fromEntries(own)));
  await s.delete(`${CRDS}/foos.${s.group}`, undefined, { silent: true });
};

const builtIn = (names: readonly string[]): readonly string[] =>
  names.filter((name) => !/example[.]|example$/.test(name));

const definitionsOf = (prefix: string) => async (s: Session) => {
  const spec = await document(s);
  const found = Object.entries(spec.definitions).filter(
    ([name]) => name.startsWith(prefix) && !OF_ALL_GROUPS.test(name),
  );
  s.note("definitions", resolved(spec, Object.fromEntries(found)));
};

const pathsOf = (prefix: string) => async (s: Session) => {
  const spec = await document(s);
  const found = Object.entries(spec.paths).filter(([path]) => path.startsWith(prefix));
  s.note("paths", resolved(spec, Object.fromEntries(found)));
};

export const swaggerCases = area("openapi v2", {
  "the frame of the document": async (s) => {
    const { paths: _paths, definitions: _definitions, parameters: _parameters, ...frame } = await document(s);
    s.note("frame", frame);
  },
  "the names of all paths": async (s) =>
    s.note(
      "paths",
      Object.keys((await document(s)).paths)
        .filter((path) => !path.includes("example.com"))
        .sort(),
    ),
  "the names of all definitions": async (s) =>
    s.note(
      "definitions",
      builtIn(
        Object.keys((await document(s)).definitions).filter((name) => !name.startsWith("com.example.")),
      ).toSorted(),
    ),
  "the definitions of core/v1": definitionsOf("io.k8s.api.core.v1."),
  "the definitions of apps/v1": definitionsOf("io.k8s.api.apps.v1."),
  "the definitions of metadata": definitionsOf("io.k8s.apimachinery."),
  "the paths of core/v1": pathsOf("/api/"),
  "the paths of apps/v1": pathsOf("/apis/apps/"),
  "the paths of reviews": pathsOf("/apis/authorization.k8s.io/"),
  "a custom resource": (s) =>
    noteSchema(
      s,
      {
        type: "object",
        description: "Foo for testing",
        properties: {
          spec: {
            type: "object",
            required: ["size", "color"],
            properties: {
              size: { type: "integer", minimum: 0, default: 1 },
              color: { type: "string", enum: ["red", "blue"], nullable: true },
              labels: { type: "object", additionalProperties: { type: "string" } },
              ports: {
                type: "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                items: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
              },
            },
          },
          status: { type: "object", properties: { replicas: { type: "integer" } } },
        },
      },
      {
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.replicas" },
        },
        selectableFields: [{ jsonPath: ".spec.color" }],
      },
    ),
  "what version 2 has no word for": (s) =>
    noteSchema(s, {
      type: "object",
      properties: {
        spec: {
          type: "object",
          "x-kubernetes-validations": [{ rule: "true" }],
          properties: {
            port: { "x-kubernetes-int-or-string": true },
            any: { "x-kubernetes-preserve-unknown-fields": true },
            open: {
              type: "object",
              "x-kubernetes-preserve-unknown-fields": true,
              properties: { a: { type: "string" } },
            },
            none: { type: "object", nullable: true, properties: { a: { type: "string" } } },
            nones: { type: "array", nullable: true, items: { type: "string" } },
            embedded: {
              type: "object",
              "x-kubernetes-embedded-resource": true,
              properties: { spec: { type: "object" } },
            },
            held: {
              type: "object",
              "x-kubernetes-embedded-resource": true,
              "x-kubernetes-preserve-unknown-fields": true,
            },
            either: {
              type: "object",
              properties: { a: { type: "string", not: { enum: ["x"] } }, b: { type: "string" } },
              oneOf: [{ required: ["a"] }, { required: ["b"] }],
            },
            nullMap: { type: "object", additionalProperties: { type: "string", nullable: true } },
          },
        },
      },
    }),
  "a custom resource that keeps everything": (s) =>
    noteSchema(s, {
      type: "object",
      description: "anything",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { spec: { type: "object" } },
    }),
  "a version that is renamed": async (s) => {
    const definition = crd(s, { type: "object", properties: { spec: { type: "string" } } });
    await s.crd(definition);
    await published(s, (spec) => foo("v1")(s, spec));
    const versions = [
      { ...definition.spec.versions[0], name: "v2" },
      { ...definition.spec.versions[0], storage: false, served: false },
    ];
    await s.patch("merge", `${CRDS}/foos.${s.group}`, { spec: { versions } }, { silent: true });
    const spec = await published(s, (each) => foo("v2")(s, each) && !foo("v1")(s, each));
    s.note(
      "definitions",
      Object.keys(spec.definitions)
        .filter((name) => name.startsWith(prefixOf(s, "v")))
        .toSorted(),
    );
    s.note("v2", resolved(spec, foo("v2")(s, spec)));
    s.note(
      "paths",
      Object.keys(spec.paths)
        .filter((path) => path.includes(`/${s.group}/`))
        .toSorted(),
    );
    await s.delete(`${CRDS}/foos.${s.group}`, undefined, { silent: true });
  },
  "two groups of one kind, of which one goes": async (s) => {
    const other = `other.${s.group}`;
    await s.crd(crd(s, { type: "object" }));
    await s.crd(crd(s, { type: "object" }, {}, other));
    const otherName = `${[...other.split(".").reverse(), "v1", "Foo"].join(".")}`;
    const both = await published(s, (each) => foo("v1")(s, each) && each.definitions[otherName]);
    s.note("both", [resolved(both, foo("v1")(s, both)), resolved(both, both.definitions[otherName])]);
    await s.delete(`${CRDS}/foos.${s.group}`, undefined, { silent: true });
    const one = await published(s, (each) => !foo("v1")(s, each));
    s.note("left", [foo("v1")(s, one) === undefined, one.definitions[otherName] !== undefined]);
    await s.delete(`${CRDS}/foos.${other}`, undefined, { silent: true });
  },
  "is not sent again": {
    alone: true,
    run: async (s) => {
      const reply = await s.get(V2, { silent: true });
      const headers = { "if-none-match": String(reply.headers.etag) };
      s.note("again", (await s.get(V2, { silent: true, headers })).status);
    },
  },
  "in protobuf": async (s) => {
    const reply: Reply = await s.get(V2, { headers: { accept: PROTOBUF }, silent: true });
    s.note("answer", [reply.status, reply.headers["content-type"]]);
    // Names are plain text in the bytes.
    const names = [
      "io.k8s.api.core.v1.Pod",
      "/apis/apps/v1/namespaces/{namespace}/deployments",
      "BearerToken",
      "getCoreAPIVersions",
    ];
    s.note(
      "names",
      names.map((name) => reply.text.includes(name)),
    );
  },
});
