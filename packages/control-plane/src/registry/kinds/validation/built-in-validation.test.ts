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

  it("warn of a field that is taken as it is", async () => {
    const made = deployment({
      selector: { matchLabels: { app: "a" } },
      template: template({ app: "a" }, { os: { name: "linux" } }),
    });
    const { status, headers } = await plane.request("POST", `${APPS}/deployments`, { body: made });
    expect(status).toBe(201);
    expect(String(headers.warning)).toContain("spec.template.spec.os is not validated");
  });
});
