import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadFacts } from "../facts/facts.js";
import { RealServer, SEED } from "../real-server.testing.js";
import { decodeStruct } from "../schema/go-decoding.js";
import type { Schema } from "../schema/schema.js";
import { setOf } from "./field-set.js";
import { expectAgreement } from "./random-run.testing.js";

const NAMESPACE = `built-in-${SEED}-${process.pid}`;

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

let real: RealServer;

beforeAll(async () => {
  real = await RealServer.start();
  expect((await real.call("POST", "/api/v1/namespaces", { metadata: { name: NAMESPACE } })).status).toBe(201);
}, 600_000);

afterAll(async () => {
  await real.call("DELETE", `/api/v1/namespaces/${NAMESPACE}`);
  await real[Symbol.asyncDispose]();
});

describe(`random writes agree with a real server (SEED=${SEED})`, () => {
  it("config maps", { timeout: 3_600_000 }, async () => {
    const facts = await loadFacts();
    const message = facts.messageOf("v1", "ConfigMap")!;
    const schema = facts.schemaOf("", "v1", "ConfigMap")!;
    await expectAgreement(real, {
      namespace: NAMESPACE,
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
    await expectAgreement(real, {
      namespace: NAMESPACE,
      path: `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`,
      identity: { apiVersion: "apps/v1", kind: "Deployment" },
      roots: ["spec"],
      base: {
        spec: {
          selector: { matchLabels: { app: "x" } },
          template: {
            metadata: { labels: { app: "x" } },
            spec: { containers: [{ name: "a", image: "i:1" }] },
          },
        },
      },
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
    await expectAgreement(real, {
      namespace: NAMESPACE,
      path: `/api/v1/namespaces/${NAMESPACE}/services`,
      identity: { apiVersion: "v1", kind: "Service" },
      roots: ["spec"],
      base: { spec: { ports: [{ port: 80, name: "http" }], selector: { app: "x" } } },
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
