import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../kinds/object.js";
import { differingPaths, digestOfApplied, isApplied, isSameBeside } from "./applied-fields.js";
import { isEqual, joinPath } from "./field-paths.js";

/** The managedFields of a real server for an applied deployment: lists by their keys, atomic ones as leaves. */
const applied: JsonObject = {
  "f:metadata": { "f:labels": { "f:app": {} }, "f:ownerReferences": { 'k:{"uid":"u1"}': {} } },
  "f:spec": {
    "f:replicas": {},
    "f:selector": {},
    "f:template": {
      "f:spec": {
        "f:containers": {
          'k:{"name":"web"}': {
            ".": {},
            "f:args": {},
            "f:image": {},
            "f:name": {},
            "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} } },
            "f:resources": { "f:limits": { "f:cpu": {} } },
          },
        },
      },
    },
  },
};
const desired = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "team", labels: { app: "web" }, ownerReferences: [{ uid: "u1" }] },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "web" } },
    template: {
      spec: {
        containers: [
          {
            name: "web",
            image: "nginx",
            args: ["-v"],
            ports: [{ containerPort: 80 }],
            resources: { limits: { cpu: "1000m" } },
          },
        ],
      },
    },
  },
} satisfies JsonObject;
const container = {
  ...desired.spec.template.spec.containers[0]!,
  ports: [{ containerPort: 80, protocol: "TCP" }],
  resources: { limits: { cpu: "1" } },
  terminationMessagePath: "/dev/termination-log",
};
const sidecar = { name: "sidecar", image: "injected" };
const currentWith = (web: object, more: object = {}): object => ({
  ...desired,
  metadata: {
    ...desired.metadata,
    labels: { app: "web", theirs: "yes" },
    ownerReferences: [{ uid: "u0" }, { uid: "u1" }],
  },
  spec: { ...desired.spec, template: { spec: { containers: [sidecar, web] } }, ...more },
});
const current = currentWith(container);

const containers = desired.spec.template.spec.containers;
const desiredWith = (web: object): JsonObject =>
  ({ ...desired, spec: { ...desired.spec, template: { spec: { containers: [web] } } } }) as unknown as JsonObject;

describe("differingPaths", () => {
  it("finds nothing if the server only defaulted, normalised or reordered, or others added fields", () => {
    expect(differingPaths(applied, desired, current)).toEqual([]);
  });

  it.each<[string, JsonObject, object, string]>([
    [
      "a changed value",
      desiredWith({ ...containers[0], image: "caddy" }),
      current,
      "spec.template.spec.containers[0].image",
    ],
    ["drift", desired, currentWith({ ...container, image: "evil" }), "spec.template.spec.containers[0].image"],
    [
      "drift in an atomic list",
      desired,
      currentWith({ ...container, args: ["-v", "-x"] }),
      "spec.template.spec.containers[0].args",
    ],
    [
      "drift of a quantity",
      desired,
      currentWith({ ...container, resources: { limits: { cpu: "2" } } }),
      "spec.template.spec.containers[0].resources.limits.cpu",
    ],
    ["an item that was taken out", desired, currentWith(sidecar), "spec.template.spec.containers[0]"],
    [
      "a field never applied",
      desiredWith({ ...containers[0], tty: true }),
      current,
      "spec.template.spec.containers[0].tty",
    ],
    [
      "an item never applied",
      desiredWith({ ...containers[0], name: "other" }),
      current,
      "spec.template.spec.containers[0]",
    ],
  ])("finds %s", (_, wanted, found, path) => expect(differingPaths(applied, wanted, found)).toContain(path));

  it("names fields that others took over at the depth of the object, and a missing part as a whole", () => {
    const desired = { data: { color: "red", size: "1" }, spec: { new: { a: 1 } } };
    const current = { data: { color: "blue", size: "1" } };
    const taken = { "f:data": { "f:size": {} } };
    expect(differingPaths(taken, desired, current)).toEqual(["data.color", "spec"]);
    expect(differingPaths({}, desired, current)).toEqual(["data.color", "data.size", "spec"]);
  });

  it("finds applied fields that are no longer desired", () => {
    const { args: _, ...withoutArgs } = containers[0]!;
    expect(differingPaths(applied, desiredWith(withoutArgs), current)).toEqual([
      "spec.template.spec.containers[0].args",
    ]);
    const unlabelled = { ...desired, metadata: { ...desired.metadata, labels: {} } };
    expect(differingPaths(applied, unlabelled, current)).toEqual(["metadata.labels.app"]);
  });

  it("finds each change and nothing else, whatever the keys are called", () => {
    const word = fc.oneof(fc.constantFrom("constructor", "toString", "valueOf", "__proto__"), fc.string());
    const data = fc.dictionary(word, fc.string(), { noNullPrototype: true });
    fc.assert(
      fc.property(
        data.filter((mine) => Object.keys(mine).length > 0),
        data,
        (mine, theirs) => {
          const set = Object.fromEntries(Object.keys(mine).map((key) => [`f:${key}`, {}]));
          const owned = { "f:data": { ".": {}, ...set } };
          expect(differingPaths(owned, { data: mine }, { data: { ...theirs, ...mine } })).toEqual([]);
          const drifted = Object.entries(mine).filter(
            ([key, value]) => !Object.hasOwn(theirs, key) || theirs[key] !== value,
          );
          const found = differingPaths(owned, { data: mine }, { data: theirs });
          expect(found).toEqual(drifted.map(([key]) => joinPath("data", key)));
          const dropped = differingPaths(owned, { data: {} }, { data: mine });
          expect(dropped).toEqual(Object.keys(mine).map((key) => joinPath("data", key)));
          const foreign = Object.entries(theirs).filter(([key]) => !Object.hasOwn(mine, key));
          const isSame = isSameBeside([owned], { data: { ...theirs, ...mine } }, { data: mine });
          expect(isSame).toBe(foreign.length === 0);
        },
      ),
    );
  });

  it.each(["constructor", "__proto__"])("matches list items by a key field called %s", (field) => {
    const set = { "f:items": { [`k:{"${field}":"a"}`]: { ".": {}, [`f:${field}`]: {} } } };
    const item = (value: string): JsonObject => JSON.parse(`{"${field}":"${value}"}`);
    expect(differingPaths(set, { items: [item("a")] }, { items: [{}, item("a")] })).toEqual([]);
    expect(differingPaths(set, { items: [item("b")] }, { items: [item("a")] })).toContain("items[0]");
    expect(differingPaths(set, { items: [{}] }, { items: [item("a")] })).toContain("items[0]");
  });

  it("does not treat other text as a quantity", () => {
    const env: JsonObject = { "f:data": { "f:version": {} } };
    expect(differingPaths(env, { data: { version: "1.0" } }, { data: { version: "1" } })).toEqual(["data.version"]);
  });

  it.each<[string, string, string]>([
    ["v1", "data", "limits"],
    ["v1", "metadata", "capacity"],
    ["apps/v1", "spec", "requests"],
    ["batch/v1", "metadata", "hard"],
    ["web.example.com/v1", "spec", "capacity"],
    ["web.example.com/v1", "resources", "limits"],
  ])("does not treat text of %s as a quantity because its key looks like one: %s.%s", (apiVersion, outer, key) => {
    const set: JsonObject = { [`f:${outer}`]: { [`f:${key}`]: {} } };
    const wanted = { apiVersion, [outer]: { [key]: "1.0" } };
    expect(differingPaths(set, wanted, { [outer]: { [key]: "1" } })).toEqual([`${outer}.${key}`]);
  });

  it.each([
    "spec.hard.cpu",
    "spec.capacity.storage",
    "spec.resources.requests.storage",
    "spec.template.spec.overhead.cpu",
    "overhead.podFixed.cpu",
    "spec.emptyDir.sizeLimit",
  ])("compares quantities of built-in kinds by value: %s", (path) => {
    const steps = path.split(".");
    const nested = (leaf: unknown, prefix = "") =>
      steps.reduceRight((inner, step) => ({ [prefix + step]: inner }), leaf) as JsonObject;
    const wanted = { apiVersion: "v1", ...nested("1024Mi") };
    expect(differingPaths(nested({}, "f:"), wanted, nested("1Gi"))).toEqual([]);
    expect(differingPaths(nested({}, "f:"), wanted, nested("2Gi"))).toEqual([path]);
  });

  it("finds an empty value that was never applied and is missing, except one that servers drop", () => {
    const set: JsonObject = { "f:spec": { "f:image": {} } };
    const wanted = { spec: { image: "x", tls: {}, rules: [], gone: null } };
    const there = { spec: { image: "x" } };
    expect(differingPaths(set, { apiVersion: "a.example.com/v1", ...wanted }, there)).toEqual([
      "spec.tls",
      "spec.rules",
    ]);
    expect(differingPaths(set, { apiVersion: "apps/v1", ...wanted }, there)).toEqual(["spec.tls"]);
    const has = { spec: { image: "x", tls: { a: 1 }, rules: [] } };
    expect(differingPaths(set, { apiVersion: "a.example.com/v1", ...wanted }, has)).toEqual([]);
  });

  it("treats an empty list as a missing one", () => {
    const set: JsonObject = { "f:spec": { "f:tolerations": {} } };
    expect(differingPaths(set, { spec: { tolerations: [] } }, { spec: {} })).toEqual([]);
  });

  it("compares sets by value", () => {
    const set: JsonObject = { "f:metadata": { "f:finalizers": { 'v:"a/b"': {} } } };
    const with_ = (...finalizers: string[]): JsonObject => ({ metadata: { finalizers } });
    expect(differingPaths(set, with_("a/b"), with_("x/y", "a/b"))).toEqual([]);
    expect(differingPaths(set, with_("a/b"), with_("x/y"))).toEqual(["metadata.finalizers[0]"]);
  });
});

describe("digestOfApplied", () => {
  it("changes with the owned fields, and with nothing else", () => {
    const digest = digestOfApplied(applied, current);
    expect(digestOfApplied(applied, currentWith({ ...container, terminationMessagePath: "/x" }))).toBe(digest);
    expect(digestOfApplied(applied, currentWith({ ...container, image: "caddy" }))).not.toBe(digest);
    expect(digestOfApplied({ "f:spec": {} }, current)).not.toBe(digest);
  });
});

describe("isSameBeside", () => {
  it("ignores changes of owned fields, and sees all others", () => {
    const isSame = (state: object) => isSameBeside([applied], current, state);
    expect(isSame(current)).toBe(true);
    expect(isSame(currentWith({ ...container, image: "caddy" }))).toBe(true);
    expect(isSame(currentWith(container, { paused: true }))).toBe(false);
    expect(isSame(currentWith({ ...container, tty: true }))).toBe(false);
    expect(isSame(currentWith({ ...container, name: "other" }))).toBe(false);
  });

  it("ignores the fields of all given sets, and empty values", () => {
    const [one, other] = [{ "f:data": { "f:a": {} } }, { "f:data": { "f:b": {} } }];
    const states = [{ data: { a: "1", b: "1" } }, { data: { b: "2" } }] as const;
    expect(isSameBeside([one], ...states)).toBe(false);
    expect(isSameBeside([one, other], ...states)).toBe(true);
    expect(isSameBeside([one, other], states[0], { labels: {} })).toBe(true);
    expect(isSameBeside([{}], states[0], {})).toBe(true);
    expect(isSameBeside([one], { data: { a: "1" } }, { data: "text" })).toBe(false);
  });

  it("is true for any two states only if they are equal apart from owned fields", () => {
    const state = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.jsonValue({ maxDepth: 2 }), {
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(state, state, fc.subarray(["a", "b", "c"]), (left, right, own) => {
        const set = { "f:kept": {}, ...Object.fromEntries(own.map((field) => [`f:${field}`, {}])) };
        const rest = (from: object) =>
          Object.entries(from).filter(
            ([field, value]) => !own.includes(field) && !["null", "{}", "[]"].includes(JSON.stringify(value)),
          );
        const isSame = isEqual(Object.fromEntries(rest(left)), Object.fromEntries(rest(right)));
        expect(isSameBeside([set], left, right)).toBe(isSame);
      }),
    );
  });
});

describe("isApplied", () => {
  it("is true for the paths of the set", () => {
    expect(isApplied(applied, ["spec", "replicas"])).toBe(true);
    expect(isApplied(applied, ["spec", "paused"])).toBe(false);
  });
});
