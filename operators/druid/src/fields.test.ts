import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { wantedConfigs } from "./api/dynamic-configs.js";
import { accessOf } from "./api/endpoint.js";
import { notices, validate } from "./cluster/validation.js";
import type { Druid } from "./druid.js";
import { ignoredBy } from "./druid-operator.js";
import { fixture, hasFixtures, WITHOUT } from "./fixtures.testing.js";
import { childrenOf, render } from "./rendering/render.js";
import { sampleDruid } from "./sample.testing.js";

type Level = "spec" | "node";
const probe = { httpGet: { path: "/mine", port: 1 } };
const claim = { metadata: { name: "data" }, spec: { storageClassName: "fast", accessModes: ["ReadWriteOnce"] } };
const container = { containerName: "side", image: "side", command: ["run"] };
const scaleTargetRef = { apiVersion: "apps/v1", kind: "StatefulSet", name: "druid-tiny-brokers" };
const dependency = { type: "default", spec: { properties: "a=b" } };

/** A value of each field that is not its default. */
const VALUES: Readonly<Record<string, unknown>> = {
  additionalContainer: [container],
  affinity: { nodeAffinity: {} },
  auth: { type: "basic-auth", secretRef: { name: "login" } },
  "common.runtime.properties": "a=b",
  commonConfigMountPath: "/mine",
  containerSecurityContext: { runAsUser: 1 },
  "core-site.xml": "<core/>",
  deepStorage: dependency,
  defaultProbes: false,
  deleteOrphanPvc: false,
  disablePVCDeletionFinalizer: true,
  dnsConfig: { nameservers: ["1.1.1.1"] },
  dnsPolicy: "Default",
  "druid.port": 9999,
  dynamicConfig: { type: "default" },
  env: [{ name: "A", value: "b" }],
  envFrom: [{ secretRef: { name: "a" } }],
  "extra.jvm.options": "-Xss1m",
  extraCommonConfig: [{ name: "extra", namespace: "default" }],
  forceDeleteStsPodOnError: false,
  "hdfs-site.xml": "<hdfs/>",
  hpAutoscaler: { maxReplicas: 3, scaleTargetRef },
  ignored: true,
  image: "mine:1",
  imagePullPolicy: "Always",
  imagePullSecrets: [{ name: "pull" }],
  ingress: { ingressClassName: "nginx" },
  ingressAnnotations: { a: "b" },
  "jvm.options": "-Xmx1g",
  kind: "Deployment",
  lifecycle: { preStop: { exec: { command: ["true"] } } },
  livenessProbe: probe,
  "log4j.config": "<Configuration/>",
  maxSurge: 1,
  maxUnavailable: 2,
  metadataStore: dependency,
  "metricDimensions.json": "{}",
  nodeConfigMountPath: "/mine",
  nodeSelector: { a: "b" },
  nodeType: "router",
  nodes: {},
  persistentVolumeClaim: [claim],
  podAnnotations: { a: "b" },
  podDisruptionBudgetSpec: { maxUnavailable: 1 },
  podLabels: { a: "b" },
  podManagementPolicy: "OrderedReady",
  ports: [{ name: "jmx", containerPort: 1234 }],
  priorityClassName: "high",
  readinessProbe: probe,
  replicas: 3,
  resources: { limits: { memory: "1Gi" } },
  rollingDeploy: false,
  "runtime.properties": "a=b",
  scalePvcSts: true,
  securityContext: { runAsUser: 1 },
  serviceAccount: "mine",
  serviceAccountName: "mine",
  services: [{ metadata: { name: "mine-%s" }, spec: { type: "NodePort" } }],
  startScript: "/mine.sh",
  startUpProbe: probe,
  terminationGracePeriodSeconds: 5,
  tolerations: [{ key: "a", operator: "Exists" }],
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" }],
  updateStrategy: { type: "OnDelete" },
  volumeClaimTemplates: [claim],
  volumeMounts: [{ name: "a", mountPath: "/a" }],
  volumes: [{ name: "a", emptyDir: {} }],
  workloadAnnotations: { a: "b" },
  zookeeper: dependency,
};

/** Fields that affect the behaviour of the loop, each with its test. */
const SHOWN: Readonly<Record<string, readonly [file: string, title: string]>> = {
  deleteOrphanPvc: ["cluster/druids.test.ts", "are kept if the cluster says so"],
  disablePVCDeletionFinalizer: ["cluster/druids.test.ts", "stay if that is switched off"],
  forceDeleteStsPodOnError: ["cluster/druids.test.ts", "with %s, and the flag %s, are deleted: %s"],
  maxUnavailable: ["cluster/batches.test.ts", "has batches of maxUnavailable"],
  rollingDeploy: ["cluster/rollout.test.ts", "updates all groups at once without rollingDeploy"],
  scalePvcSts: ["cluster/rollout.test.ts", "grow, and their StatefulSet is recreated"],
};

function withField(level: Level, field: string, kind: string): Druid {
  const value = VALUES[field];
  const node = { nodeType: "broker", kind, ...(level === "node" ? { [field]: value } : {}) };
  return sampleDruid({ brokers: node as never }, level === "spec" && field !== "nodes" ? { [field]: value } : {});
}

/** The effects of a field: in the children, in a message, in calls to Druid, or in a test of the loop. */
async function effects(level: Level, field: string, kind: string): Promise<readonly string[]> {
  const [given, plain] = [withField(level, field, kind), sampleDruid({ brokers: { nodeType: "broker", kind } })];
  const extra = given.spec.extraCommonConfig ? [{ "extra.txt": "text" }] : [];
  const shape = (druid: Druid, data: typeof extra = []) => JSON.stringify(childrenOf(render(druid, data)));
  const messages = [...validate(given), ...notices(given)].filter(({ path }) => path.includes(field));
  const secret = async () => ({ data: { OperatorUserName: "", OperatorPassword: "" } }) as never;
  const access = await accessOf(given, given.spec.auth, "http://druid", { find: secret });
  const [file, title] = (kind === "StatefulSet" && SHOWN[field]) || [];
  return [
    ...(shape(given, extra) === shape(plain) ? [] : ["render"]),
    ...(messages.length > 0 ? ["message"] : []),
    ...(ignoredBy({})(given) || wantedConfigs(given).size > 0 || access.user ? ["loop"] : []),
    ...(file && readFileSync(new URL(file, import.meta.url), "utf8").includes(title!) ? ["test"] : []),
  ];
}

describe.runIf(hasFixtures)(
  `every field of the published CRD has an effect, or a message says why not${WITHOUT}`,
  () => {
    const crd = fixture("crds/druids.yaml") as never as { spec: { versions: readonly Version[] } };
    interface Schema {
      readonly properties: Readonly<Record<string, Schema>>;
      readonly additionalProperties: Schema;
    }
    type Version = { readonly schema: { readonly openAPIV3Schema: Schema } };
    const { spec } = crd.spec.versions[0]!.schema.openAPIV3Schema.properties as never as { spec: Schema };
    const fields = { spec, node: spec.properties.nodes!.additionalProperties };
    const rows = (["spec", "node"] as const).flatMap((level) =>
      Object.keys(fields[level].properties)
        .filter((field) => field !== "nodes")
        .map((field) => [level, field] as const),
    );

    it("all are known", () => {
      expect(rows).toHaveLength(97);
      expect(rows.filter(([, field]) => !(field in VALUES))).toEqual([]);
    });

    it.each(rows)("%s %s, of a StatefulSet", async (level, field) => {
      expect(await effects(level, field, "StatefulSet")).not.toEqual([]);
    });

    it.each(rows.filter(([, field]) => !(field in SHOWN) || field === "maxUnavailable"))(
      "%s %s, of a Deployment",
      async (level, field) => {
        expect(await effects(level, field, field === "kind" ? "StatefulSet" : "Deployment")).not.toEqual([]);
      },
    );
  },
);

describe("a field without an effect in its place is reported", () => {
  const paths = (node: object, spec: object = {}) =>
    notices(sampleDruid({ brokers: { nodeType: "broker", ...node } as never }, spec)).map(({ path }) => path);

  it.each<[string, object, object]>([
    ["spec.podManagementPolicy", {}, { podManagementPolicy: "OrderedReady" }],
    ["spec.updateStrategy", { kind: "Deployment" }, { updateStrategy: { type: "OnDelete" } }],
    ["spec.volumeClaimTemplates", { kind: "Deployment" }, { volumeClaimTemplates: [claim] }],
    ["spec.nodes.brokers.ingressAnnotations", { ingressAnnotations: {} }, {}],
    ["spec.nodes.brokers.volumeClaimTemplates", { kind: "Deployment", volumeClaimTemplates: [claim] }, {}],
    ["spec.nodes.brokers.updateStrategy", { kind: "Deployment", updateStrategy: { type: "OnDelete" } }, {}],
    ["spec.nodes.brokers.podManagementPolicy", { kind: "Deployment", podManagementPolicy: "OrderedReady" }, {}],
    ["spec.nodes.brokers.maxSurge", { maxSurge: 1 }, {}],
    ["spec.nodes.brokers.maxUnavailable", { maxUnavailable: 1 }, { rollingDeploy: false }],
    ["spec.nodes.brokers.maxUnavailable", { maxUnavailable: 1, updateStrategy: { type: "OnDelete" } }, {}],
  ])("%s", (path, node, spec) => {
    expect(paths(node, spec)).toEqual([path]);
  });

  it("and one with an effect is not", () => {
    expect(paths({ maxUnavailable: 1 }, { updateStrategy: { type: "RollingUpdate" } })).toEqual([]);
    expect(paths({ kind: "Deployment", maxSurge: 1, maxUnavailable: 1 })).toEqual([]);
  });
});
