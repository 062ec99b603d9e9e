import type { UntypedObject } from "setpoint/kinds";
import { expect, it } from "vitest";
import { readinessOf } from "./readiness.js";

const object = (apiVersion: string, kind: string, rest: object): UntypedObject =>
  ({ apiVersion, kind, metadata: { name: "a", generation: 2 }, ...rest }) as unknown as UntypedObject;
const deployment = (status: object): UntypedObject =>
  object("apps/v1", "Deployment", { spec: { replicas: 2 }, status: { observedGeneration: 2, ...status } });
const custom = (status?: object): UntypedObject => object("example.com/v1", "Gadget", status ? { status } : {});
const condition = (type: string, status: string): object => ({
  conditions: [{ type, status, reason: "Why", message: "so" }],
});

it.each([
  ["an object without conditions", custom(), "ready", "ready"],
  ["a true condition Ready", custom(condition("Ready", "True")), "ready", "ready"],
  ["a false one", custom(condition("Available", "False")), "progressing", "Why: so"],
  ["a stalled object", custom(condition("Stalled", "True")), "failed", "Why: so"],
  [
    "an unseen generation",
    custom({ observedGeneration: 1, ...condition("Ready", "True") }),
    "progressing",
    "has not seen",
  ],
  ["a deployment without status", object("apps/v1", "Deployment", { spec: {} }), "progressing", "not seen it yet"],
  [
    "one that is half there",
    deployment({ updatedReplicas: 2, availableReplicas: 1, replicas: 2 }),
    "progressing",
    "1 of 2 available replicas",
  ],
  [
    "one with old replicas",
    deployment({ updatedReplicas: 2, availableReplicas: 2, replicas: 3 }),
    "progressing",
    "1 old replicas to go",
  ],
  ["one that is there", deployment({ updatedReplicas: 2, availableReplicas: 2, replicas: 2 }), "ready", "ready"],
  ["a failed job", object("batch/v1", "Job", { status: condition("Failed", "True") }), "failed", "Why: so"],
  ["a pending pod", object("v1", "Pod", { status: { phase: "Pending" } }), "progressing", "Pending"],
  ["a pod that ended well", object("v1", "Pod", { status: { phase: "Succeeded" } }), "ready", "ready"],
  [
    "an unbound claim",
    object("v1", "PersistentVolumeClaim", { status: { phase: "Pending" } }),
    "progressing",
    "Pending",
  ],
  ["a service", object("v1", "Service", { spec: { type: "ClusterIP" } }), "ready", "ready"],
  [
    "a load balancer without address",
    object("v1", "Service", { spec: { type: "LoadBalancer" } }),
    "progressing",
    "load balancer",
  ],
])("%s is %3$s", (_, given, state, message) => {
  expect(readinessOf(given)).toMatchObject({ state, message: expect.stringContaining(message) });
});
