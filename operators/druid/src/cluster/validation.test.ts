import { describe, expect, it } from "vitest";
import type { DruidNode } from "../druid.js";
import { hasFixtures, storedFixture, WITHOUT } from "../fixtures.testing.js";
import { sampleDruid } from "../sample.testing.js";
import { validate } from "./validation.js";

const broker = (more: Partial<DruidNode> = {}) => ({ brokers: { nodeType: "broker", ...more } }) as const;
const problems = (...given: Parameters<typeof sampleDruid>) =>
  validate(sampleDruid(...given)).map(({ path, message }) => `${path}: ${message}`);
const container = (containerName: string) => ({ containerName, image: "side", command: ["run"] });

describe("validation", () => {
  it.runIf(hasFixtures).each(["tiny-cluster", "tiny-cluster-hpa", "tiny-cluster-mmless", "extra-common-config"])(
    `accepts the published example %s${WITHOUT}`,
    (name) => expect(validate(storedFixture(`examples/${name}.yaml`))).toEqual([]),
  );

  it.each(["broker-svc", "broker-%d-svc", "%s-%s", "a-%s-100%"])(
    "refuses the Service name %s, which has no place for the group [D14]",
    (name) => {
      const [problem] = problems(broker({ services: [{ metadata: { name }, spec: {} }] }));
      expect(problem).toMatch(/^spec\.nodes\.brokers\.services\[0\]\.metadata\.name: must have (one )?%s/);
    },
  );

  it("requires an image [D15]", () => {
    expect(problems(broker(), { image: undefined })).toEqual([
      "spec.nodes.brokers.image: Image missing from Druid Cluster Spec",
    ]);
    expect(problems(broker({ image: "druid:1" }), { image: undefined })).toEqual([]);
  });

  it.each(["My_Brokers", "-a-", "brokers.hot", "BROKERS", "b".repeat(50)])("refuses the group key %s [D16]", (key) => {
    const [problem] = problems({ [key]: { nodeType: "broker" } });
    expect(problem).toContain(`spec.nodes.${key}`);
    expect(problem).toContain(key);
  });

  it("allows longer names for a Deployment, whose pods carry no revision in a label", () => {
    const key = "b".repeat(45);
    expect(problems({ [key]: { nodeType: "broker" } })[0]).toContain(
      "has 56 characters, of 52 that a StatefulSet may have",
    );
    expect(problems({ [key]: { nodeType: "broker", kind: "Deployment" } })).toEqual([]);
  });

  it("refuses a container name that the cluster or the main container uses, too [D17]", () => {
    const twice = problems(broker({ additionalContainer: [container("a")] }), {
      additionalContainer: [container("a")],
    });
    expect(twice).toEqual([
      "spec.nodes.brokers.additionalContainer: node group broker has duplicate container name: a",
    ]);
    expect(problems(broker({ additionalContainer: [container("druid-tiny-brokers")] }))).toHaveLength(1);
  });

  it("requires a storage class for a StatefulSet's claims [D18]", () => {
    const claims = [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce" as const] } }];
    expect(problems(broker({ volumeClaimTemplates: claims }))).toEqual([
      "spec.nodes.brokers.volumeClaimTemplates[0].spec.storageClassName: node group broker has volume claim template without storage class which is not allowed: data",
    ]);
    expect(problems(broker({ volumeClaimTemplates: claims, kind: "Deployment" }))).toEqual([]);
  });

  it.each(["Statefulset", "deployment", ""])('refuses the kind "%s" [D19]', (kind) => {
    expect(problems(broker({ kind }))).toContain(
      `spec.nodes.brokers.kind: must be StatefulSet or Deployment, not "${kind}"`,
    );
  });

  it("allows maxSurge and maxUnavailable alone, and not both as 0 [D20]", () => {
    expect(problems(broker({ kind: "Deployment", maxSurge: 1 }))).toEqual([]);
    expect(problems(broker({ kind: "Deployment", maxSurge: 0, maxUnavailable: 0 }))).toHaveLength(1);
  });

  it.each(["zookeeper", "metadataStore", "deepStorage"])("refuses a %s of unknown type [D22]", (field) => {
    const found = problems(broker(), { [field]: { type: "foo", spec: { properties: "" } } });
    expect(found[0]).toMatch(new RegExp(`^spec\\.${field}\\.type: Can't find type\\[foo\\] for`));
  });

  it("refuses duplicate ports, names, variables and claims", () => {
    const ports = [
      { name: "a", containerPort: 8088 },
      { name: "a", containerPort: 1 },
    ];
    const claim = { metadata: { name: "c" }, spec: {} };
    const given = { ports, env: [{ name: "A" }, { name: "A" }], persistentVolumeClaim: [claim, claim] };
    expect(problems(broker(given))).toEqual([
      "spec.nodes.brokers.ports: port 8088/TCP appears twice; druid.port needs no entry",
      "spec.nodes.brokers.ports: the name a appears twice",
      "spec.nodes.brokers.env: the variable A appears twice",
      "spec.nodes.brokers.persistentVolumeClaim: the name c appears twice",
    ]);
  });

  it.each<[string, Partial<DruidNode>, string]>([
    ["env", { env: [{ name: "A", value: 5 as never }] }, "env[0].value: must be a string, not 5"],
    [
      "resources",
      { resources: { limits: { memory: "1Gib" } } },
      'resources.limits.memory: must be a quantity, not "1Gib"',
    ],
    ["livenessProbe", { livenessProbe: { httpGet: [] as never } }, "livenessProbe.httpGet: must be an object, not []"],
    [
      "volumes",
      { volumes: [{ name: "a", secret: { items: {} as never } }] },
      "volumes[0].secret.items: must be a list, not {}",
    ],
    ["ports", { ports: [{ containerPort: 1.5 }] }, "ports[0].containerPort: must be an integer, not 1.5"],
  ])("names the field of %s whose type Kubernetes does not accept", (_field, given, problem) => {
    expect(problems(broker(given))).toEqual([`spec.nodes.brokers.${problem}`]);
  });

  it("checks the types of the cluster's own fields, and ignores fields that it does not know", () => {
    expect(problems(broker(), { volumeMounts: [{ name: "a", mountPath: "/a", readOnly: "yes" }] })).toEqual([
      'spec.volumeMounts[0].readOnly: must be true or false, not "yes"',
    ]);
    expect(problems(broker({ lifecycle: { preStop: { sleep: { seconds: 5 } } } as never }))).toEqual([]);
  });

  it("refuses values that Java or a JSON parser could not read", () => {
    expect(problems(broker({ "runtime.properties": "a=1\nb=\\u12g4" }))).toEqual([
      'spec.nodes.brokers["runtime.properties"]: line 2 has \\u without four hexadecimal digits',
    ]);
    expect(problems(broker(), { "metricDimensions.json": "{" })[0]).toMatch(/^spec\["metricDimensions\.json"\]: /);
  });

  it("refuses invalid settings, authentication and dynamic configuration", () => {
    const annotations = { "druid.setpoint.dev/rollout-order": "random", "druid.setpoint.dev/orphan-grace": "soon" };
    expect(problems(broker(), {}, { annotations }).map((each) => each.split(":")[0])).toEqual([
      "metadata.annotations[druid.setpoint.dev/rollout-order]",
      "metadata.annotations[druid.setpoint.dev/orphan-grace]",
    ]);
    expect(problems(broker(), { auth: { type: "kerberos", secretRef: {} } })).toEqual([
      'spec.auth.type: must be basic-auth, not "kerberos"',
    ]);
    expect(problems(broker({ dynamicConfig: {} }))[0]).toContain(
      "spec.nodes.brokers.dynamicConfig: a broker has no dynamic configuration",
    );
  });

  it("refuses two dynamic configurations if Druid has only one", () => {
    const workers = (maxWorkers: number) => ({
      middlemanagers: { nodeType: "middleManager", dynamicConfig: { type: "default" } },
      overlords: { nodeType: "overlord", dynamicConfig: { type: "default", maxWorkers } },
      coordinators: { nodeType: "coordinator", dynamicConfig: { a: 1 } },
    });
    expect(problems(workers(1) as never)).toEqual([
      "spec.nodes.overlords.dynamicConfig: must be that of spec.nodes.middlemanagers: Druid has one for both",
    ]);
    expect(problems(workers(undefined as never) as never)).toEqual([]);
  });
});
