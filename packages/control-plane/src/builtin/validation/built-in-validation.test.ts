import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../../registry/plane.testing.js";

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
  it("refuse a selector that does not match the template", async () => {
    const { status, body } = await plane.request("POST", `${APPS}/deployments`, {
      body: deployment({ selector: { matchLabels: { app: "a" } }, template: template({ app: "b" }) }),
    });
    expect(status).toBe(422);
    expect(body.message).toBe(
      'Deployment.apps "d" is invalid: spec.template.metadata.labels: Invalid value: {"app":"b"}: `selector` does not match template `labels`',
    );
  });

  it("keep the selector of a Deployment immutable", async () => {
    const made = deployment({ selector: { matchLabels: { app: "a" } }, template: template({ app: "a" }) });
    await plane.request("POST", `${APPS}/deployments`, { body: made });
    const changed = deployment({ selector: { matchLabels: { app: "b" } }, template: template({ app: "b" }) });
    const { body } = await plane.request("PUT", `${APPS}/deployments/d`, { body: changed });
    expect(fieldsOf(body)).toEqual(["spec.selector"]);
  });

  it("report each invalid field of a pod", async () => {
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

  it("check that containers use claims and directories of their pod", async () => {
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

  it("print structs under the server's own names, with all unset fields", async () => {
    const strategy = { type: "Sometimes", rollingUpdate: { maxSurge: "25%" } };
    const made = deployment({ strategy, selector: { matchLabels: { app: "a" } }, template: template({ app: "a" }) });
    const { body } = await plane.request("POST", `${APPS}/deployments`, { body: made });
    expect(body.message).toBe(
      'Deployment.apps "d" is invalid: spec.strategy: Unsupported value: {"Type":"Sometimes","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"25%"}}: supported values: "Recreate", "RollingUpdate"',
    );
  });

  it("show an immutable change line by line", async () => {
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

  it("validate a status, and its transition from the old one", async () => {
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

  it("treat labels such as constructor as ordinary names in selectors", async () => {
    const matchExpressions = [{ key: "constructor", operator: "Exists" }];
    const { body } = await plane.request("POST", `${APPS}/deployments`, {
      body: deployment({ selector: { matchExpressions }, template: template({ app: "a" }) }),
    });
    expect(fieldsOf(body)).toEqual(["spec.template.metadata.labels"]);
  });

  it("validate ReplicationControllers completely", async () => {
    const spec = { replicas: -1, minReadySeconds: -1, selector: { app: "b" } };
    const pod = template({ app: "a" }, { restartPolicy: "Never", activeDeadlineSeconds: 5 });
    const path = "/api/v1/namespaces/default/replicationcontrollers";
    const { body } = await plane.request("POST", path, { body: deployment({ ...spec, template: pod }) });
    expect(fieldsOf(body)).toEqual([
      "spec.minReadySeconds",
      "spec.replicas",
      "spec.template.metadata.labels",
      "spec.template.spec.restartPolicy",
      "spec.template.spec.activeDeadlineSeconds",
    ]);
    const empty = await plane.request("POST", path, { body: deployment({}) });
    expect(fieldsOf(empty.body)).toEqual(["spec.selector", "spec.template"]);
  });

  it("allow scheduling and resource changes in a suspended job's template, and nothing else", async () => {
    const jobs = "/apis/batch/v1/namespaces/default/jobs";
    const job = (pod: object) => ({ metadata: { name: "j" }, spec: { suspend: true, template: { spec: pod } } });
    const container = { name: "c", image: "i" };
    const pod = { restartPolicy: "Never", containers: [container] };
    await plane.request("POST", jobs, { body: job(pod) });
    const change = (spec: object) =>
      plane.request("PATCH", `${jobs}/j`, {
        body: { spec: { template: { spec } } },
        contentType: "application/merge-patch+json",
      });
    const resources = { requests: { cpu: "1" } };
    const nodeAffinity = {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: "a", operator: "Exists" }] } },
      ],
    };
    const placed = { nodeSelector: { a: "b" }, affinity: { nodeAffinity } };
    expect(await change({ ...placed, containers: [{ ...container, resources }] })).toMatchObject({ status: 200 });
    expect(await change({ affinity: null, nodeSelector: null })).toMatchObject({ status: 200 });
    for (const other of [
      { containers: [{ ...container, image: "another" }] },
      { affinity: { podAffinity: {} } },
      { hostNetwork: true },
    ]) {
      const { status, body } = await change(other);
      expect(status).toBe(422);
      expect(fieldsOf(body)).toEqual(["spec.template.spec"]);
    }
  });

  it("allow a gated pod to be scheduled more narrowly", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    const terms = (...keys: readonly string[]) => ({
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: keys.map((key) => ({ key, operator: "Exists" })) }],
      },
    });
    const spec = {
      containers: [{ name: "c", image: "i" }],
      schedulingGates: [{ name: "g" }],
      nodeSelector: { a: "1" },
      affinity: { nodeAffinity: terms("a") },
    };
    await plane.request("POST", pods, { body: { metadata: { name: "p" }, spec } });
    const change = (more: object) =>
      plane.request("PATCH", `${pods}/p`, { body: { spec: more }, contentType: "application/merge-patch+json" });
    expect(await change({ nodeSelector: { b: "2" } })).toMatchObject({ status: 200 });
    expect(await change({ affinity: { nodeAffinity: terms("a", "b") } })).toMatchObject({ status: 200 });
    const needed = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    expect(fieldsOf((await change({ nodeSelector: { a: "3" } })).body)).toEqual(["spec.nodeSelector"]);
    expect(fieldsOf((await change({ affinity: { nodeAffinity: terms("b") } })).body)).toEqual([`${needed}[0]`]);
    expect(fieldsOf((await change({ affinity: null })).body)).toEqual([needed]);
    expect(fieldsOf((await change({ affinity: { podAffinity: {} } })).body)).toEqual(["spec"]);
  });

  it("keep the mirror annotation of a bound pod", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    const spec = { containers: [{ name: "c", image: "i" }], nodeName: "n" };
    await plane.request("POST", pods, { body: { metadata: { name: "p" }, spec } });
    const { body } = await plane.request("PATCH", `${pods}/p`, {
      body: { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } },
      contentType: "application/merge-patch+json",
    });
    expect(body.details.causes).toMatchObject([
      {
        field: "metadata.annotations[kubernetes.io/config.mirror]",
        message: "Forbidden: may not add mirror pod annotation",
      },
    ]);
  });

  it("limit indexed jobs that have too many indexes to be stored", async () => {
    const spec = { completionMode: "Indexed", completions: 100_001, parallelism: 10_001, backoffLimitPerIndex: 1 };
    const made = { metadata: { name: "j" }, spec: { ...spec, template: template({}, { restartPolicy: "Never" }) } };
    const { body } = await plane.request("POST", "/apis/batch/v1/namespaces/default/jobs", { body: made });
    expect(fieldsOf(body)).toEqual(["spec.maxFailedIndexes", "spec.parallelism"]);
  });

  it("scan lists of any length once", async () => {
    const values = Array.from({ length: 300_000 }, (_, index) => index + 1);
    const podFailurePolicy = { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values } }] };
    const pod = template({}, { restartPolicy: "Never" });
    const made = { metadata: { name: "j" }, spec: { podFailurePolicy, template: pod } };
    const { body } = await plane.request("POST", "/apis/batch/v1/namespaces/default/jobs", { body: made });
    expect(fieldsOf(body)).toEqual(["spec.podFailurePolicy.rules[0].onExitCodes.values"]);
  });

  it("validate the ranges in an annotation of a service", async () => {
    const ranges = "service.beta.kubernetes.io/load-balancer-source-ranges";
    const service = (type: string) => ({
      metadata: { name: "s", annotations: { [ranges]: "10.0.0.0/8, x" } },
      spec: { type, ports: [{ port: 80 }] },
    });
    const causesOf = async (type: string): Promise<readonly string[]> => {
      const { body } = await plane.request("POST", "/api/v1/namespaces/default/services", { body: service(type) });
      return body.details.causes.map(({ message }: { message: string }) => message);
    };
    const bad = 'Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
    expect(await causesOf("LoadBalancer")).toEqual([bad]);
    expect(await causesOf("ClusterIP")).toEqual(["Forbidden: may only be used when `type` is 'LoadBalancer'", bad]);
  });
});
