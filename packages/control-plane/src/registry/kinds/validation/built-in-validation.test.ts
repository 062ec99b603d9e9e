import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../../test-plane.js";

let plane: TestPlane;
beforeEach(async () => {
  plane = await TestPlane.start();
});
afterEach(() => plane[Symbol.asyncDispose]());

const APPS = "/apis/apps/v1/namespaces/default";
const template = (labels: object, spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: "c", image: "i" }], ...spec },
});
const deployment = (spec: object) => ({ metadata: { name: "d" }, spec });
const fieldsOf = (body: { details?: { causes?: { field: string }[] } }) =>
  body.details?.causes?.map(({ field }) => field);

describe("built-in kinds", () => {
  it("refuse a selector that does not select the template", async () => {
    const { status, body } = await plane.request("POST", `${APPS}/deployments`, {
      body: deployment({ selector: { matchLabels: { app: "a" } }, template: template({ app: "b" }) }),
    });
    expect(status).toBe(422);
    expect(body.message).toBe(
      'Deployment.apps "d" is invalid: spec.template.metadata.labels: Invalid value: {"app":"b"}: `selector` does not match template `labels`',
    );
  });

  it("keep the selector of a Deployment", async () => {
    const made = deployment({ selector: { matchLabels: { app: "a" } }, template: template({ app: "a" }) });
    await plane.request("POST", `${APPS}/deployments`, { body: made });
    const changed = deployment({ selector: { matchLabels: { app: "b" } }, template: template({ app: "b" }) });
    const { body } = await plane.request("PUT", `${APPS}/deployments/d`, { body: changed });
    expect(fieldsOf(body)).toEqual(["spec.selector"]);
  });

  it("name each field that is wrong with a pod", async () => {
    const container = {
      name: "Bad_Name",
      image: "i",
      ports: [{ containerPort: 70_000 }],
      env: [{ name: "" }],
      volumeMounts: [{ name: "none", mountPath: "/x" }],
      resources: { requests: { cpu: "2" }, limits: { cpu: "1" } },
      livenessProbe: { successThreshold: 2, tcpSocket: { port: 80 } },
    };
    const { body } = await plane.request("POST", "/api/v1/namespaces/default/pods", {
      body: { metadata: { name: "p" }, spec: { containers: [container], restartPolicy: "Sometimes" } },
    });
    expect(fieldsOf(body)).toEqual([
      "spec.containers[0].name",
      "spec.containers[0].ports[0].containerPort",
      "spec.containers[0].env[0].name",
      "spec.containers[0].volumeMounts[0].name",
      "spec.containers[0].resources.requests",
      "spec.containers[0].livenessProbe.successThreshold",
      "spec.restartPolicy",
    ]);
  });

  it("judge what containers use of their pod: its claims, its directories", async () => {
    const spec = {
      containers: [
        {
          name: "a",
          image: "i",
          resources: { claims: [{ name: "gpu" }, { name: "gpu", request: "r" }, { name: "none" }] },
          env: [{ name: "A", valueFrom: { fileKeyRef: { volumeName: "none", path: "f", key: "A" } } }],
        },
      ],
      resourceClaims: [{ name: "gpu", resourceClaimName: "c" }, { name: "gpu" }],
    };
    const made = deployment({ selector: { matchLabels: { app: "a" } }, template: template({ app: "a" }, spec) });
    const { body } = await plane.request("POST", `${APPS}/deployments`, { body: made });
    const path = "spec.template.spec";
    expect(fieldsOf(body)).toEqual([
      `${path}.resourceClaims[1].name`,
      `${path}.resourceClaims[1]`,
      `${path}.containers[0].resources.claims[1]`,
      `${path}.containers[0].resources.claims[2]`,
      `${path}.containers[0].env[0].valueFrom.fileKeyRef.volumeName`,
    ]);
  });

  it("show structs under the server's own names, with all that is not set", async () => {
    const strategy = { type: "Sometimes", rollingUpdate: { maxSurge: "25%" } };
    const made = deployment({ strategy, selector: { matchLabels: { app: "a" } }, template: template({ app: "a" }) });
    const { body } = await plane.request("POST", `${APPS}/deployments`, { body: made });
    expect(body.message).toBe(
      'Deployment.apps "d" is invalid: spec.strategy: Unsupported value: {"Type":"Sometimes","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"25%"}}: supported values: "Recreate", "RollingUpdate"',
    );
  });

  it("show what changed that must not, line by line", async () => {
    const claim = (storageClassName: string) => ({
      metadata: { name: "c" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, storageClassName },
    });
    const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    await plane.request("POST", claims, { body: claim("slow") });
    const { body } = await plane.request("PUT", `${claims}/c`, { body: claim("fast") });
    expect(body.message).toContain(
      [
        "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
        "@@ -10,7 +10,7 @@",
        "   }",
        "  },",
        '  "VolumeName": "",',
        '- "StorageClassName": "slow",',
        '+ "StorageClassName": "fast",',
        '  "VolumeMode": "Filesystem",',
        '  "DataSource": null,',
        '  "DataSourceRef": null,',
      ].join("\n"),
    );
  });

  it("judge a status by what it says, and by what it said", async () => {
    const made = deployment({ selector: { matchLabels: { app: "a" } }, template: template({ app: "a" }) });
    await plane.request("POST", `${APPS}/deployments`, { body: made });
    const status = { replicas: 1, readyReplicas: 2, availableReplicas: -1 };
    const { body } = await plane.request("PUT", `${APPS}/deployments/d/status`, { body: { ...made, status } });
    expect(body.details.causes).toMatchObject([
      { field: "status.availableReplicas", message: expect.stringContaining("must be greater than or equal to 0") },
      { field: "status.readyReplicas", message: expect.stringContaining("cannot be greater than status.replicas") },
    ]);
    await plane.request("PUT", `${APPS}/deployments/d/status`, { body: { ...made, status: { collisionCount: 2 } } });
    const later = await plane.request("PUT", `${APPS}/deployments/d/status`, { body: { ...made, status: {} } });
    expect(fieldsOf(later.body)).toEqual(["status.collisionCount"]);
  });
});
