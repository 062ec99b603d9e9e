import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadFacts } from "../facts/facts.js";
import { StatusError } from "../registry/status-error.js";
import {
  coerceCustomResource,
  completeSchema,
  validateCustomResource,
  validateStatus,
} from "../schema/custom-resource.js";
import { applyDefaults } from "../schema/defaulting.js";
import { DecodingError, decodeStruct } from "../schema/go-decoding.js";
import { isObject, type Json, type JsonObject, withField, withoutField } from "../schema/json.js";
import type { Schema } from "../schema/schema.js";
import { applyServerSide, trackUpdate, type WriteContext } from "./field-manager.js";
import { setOf } from "./field-set.js";
import { jsonPatch } from "./json-patch.js";
import type { ManagedFieldsEntry } from "./managed-fields.js";
import { mergePatch } from "./merge-patch.js";
import { Dice, type RandomWrite, randomJsonPatch, randomValue, withNulls } from "./random-writes.js";
import { strategicPatch } from "./strategic-patch.js";

/**
 * Random sequences of writes by three managers, sent to a real server and computed here from the same live object; the
 * object, its managed fields and the errors must agree after every step. `STEPS` and `SEED` make longer or repeated runs,
 * `KUBECONFIG_REAL` names a server that is already up.
 */
const STEPS = Number(process.env.STEPS ?? 400);
const SEED = Number(process.env.SEED ?? Math.floor(Date.now() / 1000));
const NAMESPACE = `apply-${SEED}-${process.pid}`;

const GROUP = `apply${SEED}-${process.pid}.example.com`;

const SPEC: Schema = {
  type: "object",
  properties: {
    replicas: { type: "integer", default: 1 },
    title: { type: "string" },
    note: { type: "string", nullable: true },
    ratio: { type: "number" },
    enabled: { type: "boolean" },
    color: { type: "string", enum: ["red", "blue"] },
    labels: { type: "object", additionalProperties: { type: "string" } },
    selector: {
      type: "object",
      "x-kubernetes-map-type": "atomic",
      properties: { app: { type: "string" }, tier: { type: "string" } },
    },
    tags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    args: { type: "array", items: { type: "string" } },
    steps: {
      type: "array",
      items: { type: "object", properties: { run: { type: "string" }, times: { type: "integer" } } },
    },
    ports: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["port", "protocol"],
      items: {
        type: "object",
        required: ["port"],
        properties: {
          port: { type: "integer" },
          protocol: { type: "string", enum: ["TCP", "UDP"], default: "TCP" },
          name: { type: "string" },
          target: { "x-kubernetes-int-or-string": true },
        },
      },
    },
    containers: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string" },
          image: { type: "string" },
          args: { type: "array", items: { type: "string" } },
          env: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            items: {
              type: "object",
              required: ["name"],
              properties: { name: { type: "string" }, value: { type: "string", default: "none" } },
            },
          },
          limits: { type: "object", additionalProperties: { "x-kubernetes-int-or-string": true } },
        },
      },
    },
    nested: {
      type: "object",
      properties: {
        a: { type: "string" },
        b: { type: "object", properties: { c: { type: "integer" }, d: { type: "string", default: "dee" } } },
        m: { type: "object", additionalProperties: { type: "object", properties: { q: { type: "string" } } } },
      },
    },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    any: { "x-kubernetes-preserve-unknown-fields": true },
    mixed: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { known: { type: "string" }, list: { type: "array", items: { type: "string" } } },
    },
  },
};

const STATUS: Schema = {
  type: "object",
  properties: {
    phase: { type: "string" },
    ready: { type: "integer" },
    conditions: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
      items: {
        type: "object",
        required: ["type"],
        properties: { type: { type: "string" }, status: { type: "string" }, reason: { type: "string" } },
      },
    },
  },
};

const CUSTOM: Schema = { type: "object", properties: { spec: SPEC, status: STATUS } };

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

let call: (method: string, path: string, body?: Json, contentType?: string) => Promise<Answer>;
let stop: () => Promise<void> = async () => {};

beforeAll(async () => {
  let kubeconfig = process.env.KUBECONFIG_REAL;
  if (kubeconfig === undefined) {
    const { startKubernetes } = await import("../../../../tools/kubernetes/start.mjs");
    const cluster = await startKubernetes();
    kubeconfig = cluster.kubeconfig as string;
    stop = cluster.stop as () => Promise<void>;
  }
  call = clientOf(kubeconfig);
  expect((await call("POST", "/api/v1/namespaces", { metadata: { name: NAMESPACE } })).status).toBe(201);
}, 600_000);

afterAll(async () => {
  await call("DELETE", `/api/v1/namespaces/${NAMESPACE}`);
  await call("DELETE", `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${GROUP}`);
  await stop();
});

/** One kind under test: how to make its writes, and how to compute what they lead to. */
interface Subject {
  readonly path: string;
  readonly identity: JsonObject;
  readonly roots: readonly string[];
  readonly schema: Schema;
  readonly context: Omit<WriteContext, "manager" | "subresource" | "nowMs">;
  /** What the server does to an object before ownership is told: decoding and, for custom resources, defaulting. */
  read(object: JsonObject): JsonObject;
  /** What it does to the outcome of an apply. */
  settle(object: JsonObject): JsonObject;
  readonly hasStatus: boolean;
  /** Fields that are filled in after ownership is told. All other fields that a built-in kind gains are defaults. */
  readonly allocated: readonly string[] | undefined;
  readonly patches: readonly RandomWrite["type"][];
  readonly resets: (subresource: string) => ReturnType<typeof setOf> | undefined;
}

describe(`random writes agree with a real server (SEED=${SEED})`, () => {
  it("custom resources", { timeout: 3_600_000 }, async () => {
    const facts = await loadFacts();
    const objectMeta = facts.messageNamed("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")!;
    const schema = completeSchema(CUSTOM, facts.schemaOf("", "v1", "ConfigMap")!.properties!.metadata!);
    const created = await call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `things.${GROUP}` },
      spec: {
        group: GROUP,
        scope: "Namespaced",
        names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: CUSTOM as unknown as Json },
            subresources: { status: {} },
          },
        ],
      },
    });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const apiVersion = `${GROUP}/v1`;
    await run({
      path: `/apis/${GROUP}/v1/namespaces/${NAMESPACE}/things`,
      identity: { apiVersion, kind: "Thing" },
      roots: ["spec", "status"],
      schema: CUSTOM,
      context: {
        apiVersion,
        kind: "Thing",
        message: undefined,
        schemaOf: (version) => (version === apiVersion ? schema : undefined),
      },
      read: (object) => applyDefaults(CUSTOM, coerceCustomResource(CUSTOM, object, objectMeta).object),
      settle: (object) => applyDefaults(CUSTOM, object),
      hasStatus: true,
      allocated: undefined,
      patches: ["apply", "apply", "apply", "merge", "json", "update"],
      resets: (subresource) => (subresource === "" ? setOf(["f:status"]) : setOf(["f:metadata"], ["f:spec"])),
    });
  });

  it("config maps", { timeout: 3_600_000 }, async () => {
    const facts = await loadFacts();
    const message = facts.messageOf("v1", "ConfigMap")!;
    const schema = facts.schemaOf("", "v1", "ConfigMap")!;
    await run({
      path: `/api/v1/namespaces/${NAMESPACE}/configmaps`,
      identity: { apiVersion: "v1", kind: "ConfigMap" },
      roots: ["data", "metadata"],
      schema: {
        type: "object",
        properties: {
          data: { type: "object", additionalProperties: { type: "string" } },
          metadata: {
            type: "object",
            properties: {
              labels: { type: "object", additionalProperties: { type: "string", enum: ["a", "b"] } },
              annotations: { type: "object", additionalProperties: { type: "string" } },
              finalizers: {
                type: "array",
                "x-kubernetes-list-type": "set",
                items: { type: "string", enum: ["example.com/a", "example.com/b", "example.com/c"] },
              },
            },
          },
        },
      },
      context: { apiVersion: "v1", kind: "ConfigMap", message, schemaOf: (v) => (v === "v1" ? schema : undefined) },
      read: (object) => decodeStruct(message, object).object,
      settle: (object) => decodeStruct(message, object).object,
      hasStatus: false,
      allocated: undefined,
      patches: ["apply", "apply", "merge", "json", "strategic", "update"],
      resets: () => undefined,
    });
  });

  it("deployments", { timeout: 3_600_000 }, async () => {
    const facts = await loadFacts();
    const message = facts.messageOf("apps/v1", "Deployment")!;
    const schema = facts.schemaOf("apps", "v1", "Deployment")!;
    await run({
      path: `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`,
      identity: { apiVersion: "apps/v1", kind: "Deployment" },
      roots: ["spec"],
      schema: { type: "object", properties: { spec: DEPLOYMENT_SPEC } },
      context: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        message,
        schemaOf: (v) => (v === "apps/v1" ? schema : undefined),
      },
      read: (object) => decodeStruct(message, object).object,
      settle: (object) => decodeStruct(message, object).object,
      hasStatus: false,
      allocated: ["status"],
      patches: ["apply", "apply", "merge", "strategic", "strategic", "json", "update"],
      resets: () => setOf(["f:status"]),
    });
  });

  it("services", { timeout: 3_600_000 }, async () => {
    const facts = await loadFacts();
    const message = facts.messageOf("v1", "Service")!;
    const schema = facts.schemaOf("", "v1", "Service")!;
    await run({
      path: `/api/v1/namespaces/${NAMESPACE}/services`,
      identity: { apiVersion: "v1", kind: "Service" },
      roots: ["spec"],
      schema: { type: "object", properties: { spec: SERVICE_SPEC } },
      context: { apiVersion: "v1", kind: "Service", message, schemaOf: (v) => (v === "v1" ? schema : undefined) },
      read: (object) => decodeStruct(message, object).object,
      settle: (object) => decodeStruct(message, object).object,
      hasStatus: false,
      allocated: ["status", "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"],
      patches: ["apply", "apply", "merge", "strategic", "strategic", "json", "update"],
      resets: () => setOf(["f:status"]),
    });
  });
});

const NAMED: Schema = { type: "string", enum: ["a", "b", "c"] };

const CONTAINER: Schema = {
  type: "object",
  required: ["name", "image"],
  properties: {
    name: NAMED,
    image: { type: "string", enum: ["i:1", "i:2"] },
    command: { type: "array", items: { type: "string", enum: ["x", "y"] } },
    env: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string", enum: ["A", "B"] }, value: { type: "string", enum: ["1", "2"] } },
      },
    },
    ports: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["containerPort"],
      items: {
        type: "object",
        required: ["containerPort"],
        properties: {
          containerPort: { type: "integer", minimum: 80 },
          name: { type: "string", enum: ["http", "web"] },
        },
      },
    },
    resources: {
      type: "object",
      properties: {
        limits: {
          type: "object",
          properties: {
            cpu: { type: "string", enum: ["1000m", "1", "1500m", "2"] },
            memory: { type: "string", enum: ["1024Ki", "1Mi", "2Gi"] },
          },
        },
      },
    },
  },
};

const DEPLOYMENT_SPEC: Schema = {
  type: "object",
  properties: {
    replicas: { type: "integer" },
    minReadySeconds: { type: "integer" },
    paused: { type: "boolean" },
    template: {
      type: "object",
      properties: {
        metadata: {
          type: "object",
          properties: {
            annotations: { type: "object", additionalProperties: { type: "string", enum: ["1", "2"] } },
          },
        },
        spec: {
          type: "object",
          properties: {
            containers: {
              type: "array",
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["name"],
              items: CONTAINER,
            },
            nodeSelector: { type: "object", additionalProperties: { type: "string", enum: ["1", "2"] } },
            terminationGracePeriodSeconds: { type: "integer" },
            hostNetwork: { type: "boolean" },
            tolerations: {
              type: "array",
              items: {
                type: "object",
                properties: { key: NAMED, operator: { type: "string", enum: ["Exists"] } },
                required: ["key", "operator"],
              },
            },
          },
        },
      },
    },
  },
};

const SERVICE_SPEC: Schema = {
  type: "object",
  properties: {
    selector: { type: "object", additionalProperties: { type: "string", enum: ["1", "2"] } },
    sessionAffinity: { type: "string", enum: ["None"] },
    ports: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["port"],
      items: {
        type: "object",
        required: ["port", "name"],
        properties: {
          port: { type: "integer", minimum: 80 },
          name: { type: "string", enum: ["http", "web", "api"] },
          targetPort: { type: "integer", minimum: 8080 },
          protocol: { type: "string", enum: ["TCP", "UDP"] },
        },
      },
    },
  },
};

const BASE: Readonly<Record<string, JsonObject>> = {
  Deployment: {
    spec: {
      selector: { matchLabels: { app: "x" } },
      template: {
        metadata: { labels: { app: "x" } },
        spec: { containers: [{ name: "a", image: "i:1" }] },
      },
    },
  },
  Service: { spec: { ports: [{ port: 80, name: "http" }], selector: { app: "x" } } },
};

async function run(subject: Subject): Promise<void> {
  const dice = new Dice(SEED);
  let name = "";
  let live: JsonObject | undefined;
  let errors = 0;
  for (let step = 0; step < STEPS; step++) {
    if (step % 25 === 0) {
      if (live !== undefined) await call("DELETE", `${subject.path}/${name}`);
      name = `o${step}`;
      live = undefined;
    }
    const write = randomWrite(dice, subject, live, name);
    const answer = await send(subject, live, write, name);
    const predicted = predict(subject, live, write, name, answer);
    const where = `SEED=${SEED} step ${step} ${subject.identity.kind} ${JSON.stringify(write)}\nlive ${JSON.stringify(live)}\n`;
    if (answer.status >= 400) {
      errors++;
      expectSameError(subject, live, write, answer, predicted, where);
    } else {
      expect(predicted.error, `${where}computed ${predicted.error?.message}, real ${answer.status}`).toBeUndefined();
      expectSameObject(subject, answer.body, predicted.object!, where);
      live = answer.body;
      if (isObject(live.metadata) && live.metadata.deletionTimestamp !== undefined) live = undefined;
    }
  }
  console.log(`${subject.identity.kind}: ${STEPS} steps, ${errors} of them refused by both`);
  expect(errors).toBeLessThan(STEPS * 0.7);
}

function randomWrite(dice: Dice, subject: Subject, live: JsonObject | undefined, name: string): RandomWrite {
  const manager = dice.pick(["alice", "bob", "carol"]);
  const base = BASE[subject.identity.kind as string];
  if (live === undefined) {
    const body = base ?? randomBody(dice, subject, "spec");
    const type = dice.oneIn(2) ? "apply" : "update";
    return { type, manager, subresource: "", force: false, body };
  }
  const subresource = subject.hasStatus && dice.oneIn(5) ? "status" : "";
  const type = dice.pick(subject.patches);
  const root = subresource === "status" ? "status" : dice.pick(subject.roots.filter((part) => part !== "status"));
  const force = dice.oneIn(2);
  const partial = randomBody(dice, subject, root);
  let body: Json = partial;
  if (type === "merge") body = withNulls(dice, partial);
  else if (type === "strategic") body = withDirectives(dice, withNulls(dice, partial) as JsonObject);
  else if (type === "json") {
    body = randomJsonPatch(dice, live, subject.schema.properties![root]!, root);
  } else if (type === "apply" && base !== undefined && dice.oneIn(2)) body = mergePatch(base, partial);
  void name;
  return { type, manager, subresource, force, body };
}

function randomBody(dice: Dice, subject: Subject, root: string): JsonObject {
  const schema = subject.schema.properties![root] ?? subject.schema.properties![subject.roots[0]!]!;
  const key = subject.schema.properties![root] === undefined ? subject.roots[0]! : root;
  return { [key]: randomValue(dice, schema) };
}

/** Adds directives of strategic patches here and there. */
function withDirectives(dice: Dice, patch: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const [key, value] of Object.entries(patch)) {
    if (Array.isArray(value) && value.every(isObject) && value.length > 0) {
      const items: Json[] = value.map((item) => {
        const id = ["name", "port", "containerPort", "key"].find((candidate) => Object.hasOwn(item, candidate));
        return dice.oneIn(6) && id !== undefined && key !== "tolerations"
          ? { $patch: "delete", [id]: item[id]! }
          : withDirectives(dice, item);
      });
      if (dice.oneIn(8) && key !== "tolerations") items.push({ $patch: "replace" });
      result[key] = items;
    } else if (isObject(value)) {
      result[key] = withDirectives(dice, value);
      if (dice.oneIn(12) && key !== "metadata")
        (result[key] as Record<string, Json>).$patch = dice.pick(["replace", "delete"]);
    } else result[key] = value;
  }
  return result;
}

interface Prediction {
  readonly object?: JsonObject;
  readonly error?: StatusError | Error;
}

function predict(
  subject: Subject,
  live: JsonObject | undefined,
  write: RandomWrite,
  name: string,
  answer: Answer,
): Prediction {
  const context: WriteContext = {
    ...subject.context,
    manager: write.manager,
    subresource: write.subresource,
    nowMs: Date.now(),
    resetFields: () => subject.resets(write.subresource),
  };
  try {
    if (write.type === "apply") {
      const config = { ...subject.identity, ...withName(write.body as JsonObject, name) };
      const applied = applyServerSide(context, live, config, { force: write.force });
      return { object: finished(subject, live, subject.settle(applied), write.subresource) };
    }
    const changed = live === undefined ? newObject(subject, write, name) : patched(subject, live, write);
    const decoded = subject.read(changed as JsonObject);
    const { allocated } = subject;
    const isFilled = allocated !== undefined && answer.status < 400;
    const read = isFilled ? (filled(decoded, answer.body, allocated) as JsonObject) : decoded;
    const tracked = trackUpdate(context, live, read);
    return { object: finished(subject, live, tracked, write.subresource) };
  } catch (error) {
    return { error: error as Error };
  }
}

/** The value with the defaults that the real server gave it. */
function filled(value: Json, real: Json | undefined, allocated: readonly string[]): Json {
  if (Array.isArray(value) && Array.isArray(real) && value.length === real.length) {
    return value.map((item, index) => filled(item as Json, real[index] as Json, allocated));
  }
  if (!isObject(value) || !isObject(real)) return value === null && real !== undefined ? real : value;
  const result: Record<string, Json> = {};
  for (const key of Object.keys(real)) {
    if (key === "managedFields") continue;
    // An absent targetPort is a zero one to Go, and defaulted as such.
    if (key === "targetPort" && value[key] === 0) result[key] = real[key]!;
    else if (Object.hasOwn(value, key)) result[key] = filled(value[key]!, real[key], allocated);
    else if (!allocated.includes(key) && key !== "metadata") result[key] = real[key]!;
  }
  return { ...value, ...result };
}

function withName(body: JsonObject, name: string): JsonObject {
  const metadata = isObject(body.metadata) ? body.metadata : {};
  return { ...body, metadata: { ...metadata, name, namespace: NAMESPACE } };
}

function newObject(subject: Subject, write: RandomWrite, name: string): JsonObject {
  return { ...subject.identity, ...withName(write.body as JsonObject, name) };
}

function patched(subject: Subject, live: JsonObject, write: RandomWrite): Json {
  switch (write.type) {
    case "json":
      return jsonPatch(live, write.body);
    case "strategic":
      return strategicPatch(subject.context.schemaOf(subject.context.apiVersion)!, live, write.body);
    default:
      return mergePatch(live, write.body);
  }
}

/** What the strategy does after ownership is told: the main endpoint keeps the status, `/status` all else. */
function finished(subject: Subject, live: JsonObject | undefined, object: JsonObject, subresource: string): JsonObject {
  if (!subject.hasStatus) return object;
  if (live === undefined) return withoutField(object, "status");
  const [from, rest] = subresource === "status" ? [object, live] : [live, object];
  const merged = from.status === undefined ? withoutField(rest, "status") : withField(rest, "status", from.status);
  const { managedFields } = object.metadata as JsonObject;
  const metadata = merged.metadata as JsonObject;
  return withField(
    merged,
    "metadata",
    managedFields === undefined
      ? withoutField(metadata, "managedFields")
      : withField(metadata, "managedFields", managedFields),
  );
}

async function send(subject: Subject, live: JsonObject | undefined, write: RandomWrite, name: string): Promise<Answer> {
  const query = `fieldManager=${write.manager}&fieldValidation=Ignore`;
  const path = `${subject.path}/${name}${write.subresource === "" ? "" : `/${write.subresource}`}`;
  if (write.type === "apply") {
    const config = { ...subject.identity, ...withName(write.body as JsonObject, name) };
    return call("PATCH", `${path}?${query}&force=${write.force}`, config, "application/apply-patch+yaml");
  }
  if (live === undefined) return call("POST", `${subject.path}?${query}`, newObject(subject, write, name));
  if (write.type === "update") {
    return call("PUT", `${path}?${query}`, patched(subject, live, write));
  }
  const type = write.type === "strategic" ? "strategic-merge-patch" : `${write.type}-patch`;
  return call("PATCH", `${path}?${query}`, write.body, `application/${type}+json`);
}

function expectSameError(
  subject: Subject,
  live: JsonObject | undefined,
  write: RandomWrite,
  answer: Answer,
  predicted: Prediction,
  where: string,
): void {
  const real = answer.body;
  const shown = `${where}real ${JSON.stringify(real)}, computed ${predicted.error?.message}`;
  if (predicted.error instanceof StatusError) {
    const { status } = predicted.error;
    expect(status.code, shown).toBe(real.code);
    expect(String(status.message).split("\n").sort(), shown).toEqual(String(real.message).split("\n").sort());
    expect(causesOf(status.details as unknown as Json), shown).toEqual(causesOf(real.details));
  } else if (predicted.error instanceof DecodingError) {
    // Of several fields that do not fit, Go names the first as it comes to them: that order is not kept here.
    if (Array.isArray(write.body) && write.body.length > 1) return;
    // The facts know that a field is a string, not what Go calls this string: `v1.DNSPolicy`.
    const [sentence = "", type = ""] = predicted.error.message.split(" of type ");
    const realType = String(real.message).split(" of type ").at(-1)!;
    expect(String(real.message), shown).toContain(sentence);
    if (type !== "string" || !/^\w+\.\w+$/.test(realType)) expect(type || realType, shown).toBe(realType);
  } else {
    expect(predicted.error, shown).toBeUndefined();
    expect(real.reason, shown).toBe("Invalid");
    // The real server tests texts as they were written: `<`, unescaped by a client, is not its own escaped one.
    if (write.type === "json" && JSON.stringify(write.body).includes("<")) return;
    if (subject.allocated !== undefined || subject.context.message !== undefined) return;
    const errors =
      write.subresource === "status"
        ? validateStatus(subject.schema, predicted.object!, live!)
        : validateCustomResource(subject.schema, predicted.object!, live);
    const causes = errors.map(({ type, field, detail }) => ({ reason: type, message: detail, field }));
    expect(causesOf({ causes }), shown).toEqual(causesOf(real.details));
  }
}

function causesOf(details: Json | undefined): string[] {
  const causes = isObject(details) ? ((details.causes ?? []) as readonly Json[]) : [];
  return causes.map((cause) => JSON.stringify(sorted(cause))).sort();
}

const SERVER_FIELDS = [
  "resourceVersion",
  "uid",
  "creationTimestamp",
  "generation",
  "managedFields",
  "deletionTimestamp",
];

function expectSameObject(subject: Subject, real: JsonObject, computed: JsonObject, where: string): void {
  const bare = (object: JsonObject): JsonObject => {
    let metadata = object.metadata as JsonObject;
    for (const name of [...SERVER_FIELDS, "deletionGracePeriodSeconds"]) metadata = withoutField(metadata, name);
    return withField(object, "metadata", metadata);
  };
  if (subject.allocated === undefined) {
    expect(sorted(bare(computed)), `${where}real ${JSON.stringify(real)}`).toEqual(sorted(bare(real)));
  } else {
    expect(missing(bare(computed), bare(real)), `${where}real ${JSON.stringify(real)}`).toEqual([]);
  }
  expect(entries(computed), `${where}real ${JSON.stringify(real)}\n`).toEqual(entries(real));
}

/** Paths at which the first value is not part of the second, which may have more: defaults. */
function missing(part: Json, whole: Json | undefined, path = ""): string[] {
  if (isObject(part) && isObject(whole)) {
    return Object.keys(part).flatMap((key) => missing(part[key]!, whole[key], `${path}.${key}`));
  }
  if (Array.isArray(part) && Array.isArray(whole) && part.length === whole.length) {
    return part.flatMap((item, index) => missing(item as Json, whole[index] as Json, `${path}[${index}]`));
  }
  if (part === null && whole === undefined) return [];
  if (part === 0 && path.endsWith(".targetPort")) return [];
  if (isObject(part) && Object.keys(part).length === 0 && whole === undefined) return [];
  return JSON.stringify(part) === JSON.stringify(whole) ? [] : [`${path}: ${JSON.stringify(part)}`];
}

function entries(object: JsonObject): unknown[] {
  const fields = ((object.metadata as JsonObject).managedFields ?? []) as unknown as ManagedFieldsEntry[];
  return fields
    .map(({ time: _time, ...entry }) => sorted(entry as unknown as Json))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => sorted(item as Json));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key]!)]),
  );
}

function clientOf(kubeconfig: string): typeof call {
  const config = JSON.parse(readFileSync(kubeconfig, "utf8"));
  const server = new URL(config.clusters[0].cluster.server);
  const { token } = config.users[0].user;
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  return (method, path, body, contentType = "application/json") =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? "" : JSON.stringify(body);
      const outgoing = request(
        {
          agent,
          method,
          host: server.hostname,
          port: server.port,
          path,
          headers: {
            authorization: `Bearer ${token}`,
            "content-type": contentType,
            accept: "application/json",
            "content-length": Buffer.byteLength(text),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => {
            const answer = Buffer.concat(chunks).toString();
            const parsed = answer.startsWith("{") ? JSON.parse(answer) : { message: answer };
            resolve({ status: response.statusCode!, body: parsed });
          });
        },
      );
      outgoing.on("error", reject);
      outgoing.end(text);
    });
}
