import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../registry/plane.testing.js";
import { limitRanger } from "./limit-ranger.js";

let plane: TestPlane;
beforeEach(async () => {
  plane = await TestPlane.start({ admission: (storage) => [limitRanger(storage)] });
});
afterEach(() => plane[Symbol.asyncDispose]());

const CORE = "/api/v1/namespaces/default";
const range = (limit: object) =>
  plane.request("POST", `${CORE}/limitranges`, { body: { metadata: { name: "l" }, spec: { limits: [limit] } } });
const pod = (resources: object) =>
  plane.request("POST", `${CORE}/pods`, {
    body: { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i", resources }] } },
  });

describe("limit ranges", () => {
  it("set defaults for containers, and record that in an annotation", async () => {
    await range({ type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "500m" } });
    const { body } = await pod({});
    expect(body.spec.containers[0].resources).toEqual({ limits: { cpu: "1" }, requests: { cpu: "500m" } });
    expect(body.metadata.annotations).toEqual({
      "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container c; cpu limit for container c",
    });
  });

  it("refuse values out of bounds, in the real server's words", async () => {
    await range({ type: "Container", max: { cpu: "2" }, min: { cpu: "100m" } });
    const { status, body } = await pod({ requests: { cpu: "50m" }, limits: { cpu: "3" } });
    expect(status).toBe(403);
    expect(body.message).toBe(
      'pods "p" is forbidden: [minimum cpu usage per Container is 100m, but request is 50m, maximum cpu usage per Container is 2, but limit is 3]',
    );
  });

  it("limit the requests of claims", async () => {
    await range({ type: "PersistentVolumeClaim", max: { storage: "1Gi" } });
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } };
    const { body } = await plane.request("POST", `${CORE}/persistentvolumeclaims`, {
      body: { metadata: { name: "v" }, spec },
    });
    expect(body.message).toBe(
      'persistentvolumeclaims "v" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
    );
  });
});
