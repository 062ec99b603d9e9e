import { systemClock } from "setpoint/clock";
import { afterAll, beforeAll, describe, it } from "vitest";
import type { Json } from "../api/json.js";
import { loadFacts } from "../facts/facts.js";
import type { Schema } from "../facts/schema.js";
import { RealServer, SEED } from "../real-server.testing.js";
import { coerceCustomResource, completeSchema } from "../schema/custom-resource.js";
import { applyDefaults, pruneNulls } from "../schema/defaulting.js";
import { setOf } from "./field-set.js";
import { expectAgreement } from "./random-run.testing.js";

const NAMESPACE = `custom-${SEED}-${process.pid}`;
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

let real: RealServer;

beforeAll(async () => {
  real = await RealServer.start();
  await real.make("/api/v1/namespaces", { metadata: { name: NAMESPACE } });
}, 600_000);

afterAll(() => real[Symbol.asyncDispose]());

describe(`random writes agree with a real server (SETPOINT_SEED=${SEED})`, () => {
  it("custom resources", { timeout: 3_600_000 }, async () => {
    const facts = await loadFacts();
    const objectMeta = facts.messageNamed("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")!;
    const schema = completeSchema(CUSTOM, facts.schemaOf("", "v1", "ConfigMap")!.properties!.metadata!);
    await real.make("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
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
    const path = `/apis/${GROUP}/v1/namespaces/${NAMESPACE}/things`;
    while ((await real.call("GET", path)).status !== 200) await systemClock.sleep(100);
    const apiVersion = `${GROUP}/v1`;
    await expectAgreement(real, {
      namespace: NAMESPACE,
      path,
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
      readBack: (object) => pruneNulls(CUSTOM, object),
      hasStatus: true,
      allocated: undefined,
      patches: ["apply", "apply", "apply", "merge", "json", "update"],
      resets: (subresource) => (subresource === "" ? setOf(["f:status"]) : setOf(["f:metadata"], ["f:spec"])),
    });
  });
});
