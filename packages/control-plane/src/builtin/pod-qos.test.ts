import type { KubeObject } from "setpoint";
import { describe, expect, it } from "vitest";
import { qosClassOf } from "./pod-qos.js";

const both = { cpu: "1", memory: "1Gi" };
const pod = (spec: object): KubeObject => ({ metadata: { name: "p" }, spec }) as unknown as KubeObject;
const of = (...resources: readonly object[]) => pod({ containers: resources.map((each) => ({ resources: each })) });

describe("the QoS class of a pod", () => {
  it.each([
    ["BestEffort", of({}, {})],
    ["BestEffort", of({ requests: { cpu: "0" } })],
    ["BestEffort", of({ requests: { "example.com/gpu": "1" } })],
    ["Burstable", of({ requests: { cpu: "1" } })],
    ["Burstable", of({ limits: both, requests: both }, {})],
    ["Burstable", of({ limits: both, requests: { ...both, cpu: "500m" } })],
    ["Guaranteed", of({ limits: both, requests: both }, { limits: both, requests: { cpu: "1000m", memory: "1Gi" } })],
    ["Guaranteed", pod({ containers: [{}], resources: { limits: both, requests: both } })],
  ])("is %s", (expected, given) => {
    expect(qosClassOf(given)).toBe(expected);
  });
});
