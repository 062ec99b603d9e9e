import { afterAll, beforeAll, describe, it } from "vitest";
import { isObject, type JsonObject } from "../api/json.js";
import { loadFacts } from "../facts/facts.js";
import type { Schema } from "../facts/schema.js";
import { RealServer, SEED } from "../real-server.testing.js";
import { decodeStruct } from "../schema/go-decoding.js";
import { setOf } from "./field-set.js";
import { isReset } from "./managed-fields.js";
import { expectAgreement, type Subject } from "./random-run.testing.js";

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
  await real.make("/api/v1/namespaces", { metadata: { name: NAMESPACE } });
}, 600_000);

afterAll(() => real[Symbol.asyncDispose]());

/** The common part of all built-in kinds: a namespaced collection, and Go's decoding before and after. */
async function builtIn(
  [group, version, kind, plural]: readonly [group: string, version: string, kind: string, plural: string],
  rest: Pick<Subject, "roots" | "schema" | "allocated" | "patches" | "resets" | "base">,
): Promise<Subject> {
  const facts = await loadFacts();
  const apiVersion = group === "" ? version : `${group}/${version}`;
  const message = facts.messageOf(apiVersion, kind)!;
  const schema = facts.schemaOf(group, version, kind)!;
  const decoded = (object: JsonObject): JsonObject => decodeStruct(message, object).object;
  /** Emptied managedFields request that all are dropped, unlike absent ones. */
  const read = (object: JsonObject): JsonObject => {
    const { metadata, ...others } = decoded(object);
    const isEmptied = isObject(object.metadata) && isReset(object.metadata.managedFields as unknown[]);
    return { ...others, metadata: { ...(metadata as JsonObject), ...(isEmptied && { managedFields: [] }) } };
  };
  return {
    namespace: NAMESPACE,
    path: `/${group === "" ? "api" : "apis"}/${apiVersion}/namespaces/${NAMESPACE}/${plural}`,
    identity: { apiVersion, kind },
    context: { apiVersion, kind, message, schemaOf: (asked) => (asked === apiVersion ? schema : undefined) },
    read,
    settle: decoded,
    hasStatus: false,
    ...rest,
  };
}

describe(`random writes agree with a real server (SETPOINT_SEED=${SEED})`, () => {
  it("config maps", { timeout: 3_600_000 }, async () => {
    const subject = await builtIn(["", "v1", "ConfigMap", "configmaps"], {
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
      allocated: undefined,
      patches: ["apply", "apply", "merge", "json", "strategic", "update"],
      resets: () => undefined,
    });
    await expectAgreement(real, subject);
  });

  it("deployments", { timeout: 3_600_000 }, async () => {
    const subject = await builtIn(["apps", "v1", "Deployment", "deployments"], {
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
      allocated: ["status"],
      patches: ["apply", "apply", "merge", "strategic", "strategic", "json", "update"],
      resets: () => setOf(["f:status"]),
    });
    await expectAgreement(real, subject);
  });

  it("services", { timeout: 3_600_000 }, async () => {
    const subject = await builtIn(["", "v1", "Service", "services"], {
      roots: ["spec"],
      base: { spec: { ports: [{ port: 80, name: "http" }], selector: { app: "x" } } },
      schema: { type: "object", properties: { spec: SERVICE_SPEC } },
      allocated: ["status", "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"],
      patches: ["apply", "apply", "merge", "strategic", "strategic", "json", "update"],
      resets: () => setOf(["f:status"]),
    });
    await expectAgreement(real, subject);
  });
});
