import { widgetPath, widgets } from "../areas/custom/widgets.js";
import { area, type Case } from "../case.js";
import type { Body, Session } from "../session.js";
import { Dice } from "./dice.js";

const MANAGERS = ["one", "two", "three"];
const STEPS = 14;
const KEYS = ["a", "b", "c"];

/** A kind under test: its collection, and random whole objects and fragments. */
interface Subject {
  readonly name: string;
  readonly path: (s: Session) => string;
  readonly apiVersion: (s: Session) => string;
  readonly kind: string;
  readonly takesStrategic: boolean;
  readonly prepare?: (s: Session) => Promise<void>;
  /** The part of the object besides metadata that a manager may apply. */
  readonly content: (dice: Dice) => Record<string, unknown>;
  /** Fields that a controller may change meanwhile, which are not compared. */
  readonly shown: (object: Body) => unknown;
}

const record = (dice: Dice): Record<string, string> =>
  Object.fromEntries(dice.some(KEYS).map((key) => [key, String(dice.number(3))]));
const managed = (object: Body): Body => ({
  managedFields: (object.metadata?.managedFields ?? []).filter((entry: Body) => entry.subresource === undefined),
});
const shownObject = (object: Body): unknown =>
  object.kind === "Status"
    ? object
    : [
        object.metadata.labels,
        object.metadata.annotations,
        object.metadata.finalizers,
        object.metadata.generation,
        object.spec,
        object.template,
        object.data,
        managed(object),
      ];

const configMap: Subject = {
  name: "config map",
  path: (s) => `/api/v1/namespaces/${s.namespace}/configmaps`,
  apiVersion: () => "v1",
  kind: "ConfigMap",
  takesStrategic: true,
  content: (dice) => ({ data: record(dice), ...(dice.chance(0.2) ? { binaryData: { z: "dg==" } } : {}) }),
  shown: (object) =>
    object.kind === "Status" ? object : [shownObject(object), { resourceVersion: object.metadata.resourceVersion }],
};

/** A kind with nested lists by key that no controller writes. */
const podTemplate: Subject = {
  name: "pod template",
  path: (s) => `/api/v1/namespaces/${s.namespace}/podtemplates`,
  apiVersion: () => "v1",
  kind: "PodTemplate",
  takesStrategic: true,
  content: (dice) => ({
    template: {
      metadata: { labels: { app: "x", ...record(dice) } },
      spec: {
        containers: ["main", ...dice.some(["side", "third"])].map((name) => ({
          name,
          image: `i:${dice.number(2)}`,
          ...(dice.chance(0.5)
            ? { env: dice.some(KEYS).map((key) => ({ name: key.toUpperCase(), value: String(dice.number(2)) })) }
            : {}),
          ...(dice.chance(0.5)
            ? {
                ports: dice
                  .some([80, 81])
                  .map((containerPort) => ({ containerPort, ...(dice.chance(0.3) ? { protocol: "UDP" } : {}) })),
              }
            : {}),
          ...(dice.chance(0.3) ? { args: dice.some(["-v", "-x"]) } : {}),
          ...(dice.chance(0.3) ? { resources: { requests: { cpu: dice.pick(["100m", "0.5", "1"]) } } } : {}),
        })),
        ...(dice.chance(0.3) ? { tolerations: [{ key: dice.pick(KEYS), operator: "Exists" }] } : {}),
        ...(dice.chance(0.3) ? { volumes: dice.some(KEYS).map((name) => ({ name, emptyDir: {} })) } : {}),
        ...(dice.chance(0.3) ? { nodeSelector: record(dice) } : {}),
      },
    },
  }),
  shown: shownObject,
};

const text = { type: "string" };
const widgetSchema = {
  type: "object",
  properties: {
    text,
    number: { type: "integer", default: 3 },
    set: { type: "array", "x-kubernetes-list-type": "set", items: text },
    map: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k", "p"],
      items: {
        type: "object",
        required: ["k"],
        properties: {
          k: text,
          p: { type: "string", default: "x" },
          v: text,
          inner: { type: "object", additionalProperties: text },
        },
      },
    },
    atomicList: { type: "array", items: text },
    atomicMap: { type: "object", "x-kubernetes-map-type": "atomic", additionalProperties: text },
    labels: { type: "object", additionalProperties: text },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    either: { "x-kubernetes-int-or-string": true },
  },
};

const customResource: Subject = {
  name: "custom resource",
  path: widgetPath,
  apiVersion: (s) => `${s.group}/v1`,
  kind: "Widget",
  takesStrategic: false,
  prepare: (s) => s.crd(widgets(s, widgetSchema)),
  content: (dice) => {
    const parts: Record<string, () => unknown> = {
      text: () => dice.pick(KEYS),
      number: () => dice.number(5),
      set: () => dice.some(KEYS),
      map: () =>
        dice.some(KEYS).map((k) => ({
          k,
          ...(dice.chance(0.4) ? { p: dice.pick(["x", "y"]) } : {}),
          ...(dice.chance(0.6) ? { v: String(dice.number(3)) } : {}),
          ...(dice.chance(0.3) ? { inner: record(dice) } : {}),
        })),
      atomicList: () => dice.some(KEYS),
      atomicMap: () => record(dice),
      labels: () => record(dice),
      free: () => ({ [dice.pick(KEYS)]: dice.pick([1, "t", [1, 2], { deep: { x: dice.number(3) } }]) }),
      either: () => dice.pick([1, "50%"]),
    };
    return { spec: Object.fromEntries(dice.some(Object.keys(parts)).map((key) => [key, parts[key]!()])) };
  },
  shown: (object) =>
    object.kind === "Status" ? object : [shownObject(object), { resourceVersion: object.metadata.resourceVersion }],
};

const metadata = (dice: Dice): object => ({
  name: "x",
  ...(dice.chance(0.4) ? { labels: record(dice) } : {}),
  ...(dice.chance(0.3) ? { annotations: record(dice) } : {}),
  ...(dice.chance(0.2) ? { finalizers: dice.some(["x.io/1", "x.io/2"]) } : {}),
});

/** One object under random writes by three managers; each response is compared. */
function walk(subject: Subject, seed: number): Case["run"] {
  return async (s) => {
    await subject.prepare?.(s);
    const dice = new Dice(seed);
    const path = `${subject.path(s)}/x`;
    for (let step = 0; step < STEPS; step++) {
      const manager = dice.pick(MANAGERS);
      const body = {
        apiVersion: subject.apiVersion(s),
        kind: subject.kind,
        metadata: metadata(dice),
        ...subject.content(dice),
      };
      const how = dice.pick([
        "apply",
        "apply",
        "apply",
        "merge",
        "json",
        "update",
        ...(subject.takesStrategic ? ["strategic"] : []),
      ]);
      const force = dice.chance(0.5);
      const reply = await write(s, how, path, body, manager, force);
      s.note(`${step} ${how} by ${manager}${force ? " by force" : ""}`, [reply.status, subject.shown(reply.body)]);
    }
    await s.patch("merge", path, { metadata: { finalizers: null } }, { silent: true });
  };
}

async function write(
  s: Session,
  how: string,
  path: string,
  body: Body,
  manager: string,
  force: boolean,
): Promise<{ status: number; body: Body }> {
  const silent = { silent: true };
  const query = `?fieldManager=${manager}`;
  if (how === "apply") return await s.patch("apply", `${path}${query}${force ? "&force=true" : ""}`, body, silent);
  if (how === "merge") return await s.patch("merge", `${path}${query}`, nulled(body), silent);
  if (how === "strategic") return await s.patch("strategic", `${path}${query}`, body, silent);
  if (how === "json") {
    const field = body.spec === undefined ? "/data" : "/metadata/labels";
    return await s.patch(
      "json",
      `${path}${query}`,
      [{ op: "add", path: field, value: body.data ?? body.metadata.labels ?? {} }],
      silent,
    );
  }
  const current = await s.get(path, silent);
  if (current.status !== 200) return await s.post(`${path.slice(0, -2)}${query}`, body, silent);
  const next = { ...current.body, ...body, metadata: { ...current.body.metadata, ...body.metadata } };
  return await s.put(`${path}${query}`, next, silent);
}

/** A merge patch that also removes something. */
function nulled(body: Body): Body {
  const part = body.spec?.labels ?? body.data ?? body.metadata.labels;
  const key = part && Object.keys(part)[0];
  return key ? { ...body, metadata: { ...body.metadata, labels: { ...body.metadata.labels, [key]: null } } } : body;
}

export const patchWalks = (seeds: readonly number[]): readonly Case[] =>
  area(
    "random writes",
    Object.fromEntries(
      seeds.flatMap((seed) =>
        [configMap, podTemplate, customResource].map((subject) => [
          `${subject.name}, seed ${seed}`,
          walk(subject, seed),
        ]),
      ),
    ),
  );
