import type { Container } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import type { Druid, DruidNode } from "../druid.js";
import { druidFixture, fixture, hasFixtures, storedFixture, WITHOUT } from "../fixtures.testing.js";
import { sampleDruid } from "../sample.testing.js";
import { commonConfig, commonConfigName, configMap, nodeConfig } from "./config-maps.js";
import { GoJson } from "./go-json.js";
import { clusterLabels, groupLabels } from "./naming.js";
import { type Child, childrenOf, HASH_ANNOTATION, others, render, services, withHash, workload } from "./render.js";

const go = new GoJson();
const group = "druid-druid-test-brokers";

/** The part of an object in the original's files: without its status. */
function shown(child: object): object {
  const { status: _status, ...rest } = structuredClone(child) as {
    status?: unknown;
    metadata: { creationTimestamp?: unknown };
  };
  delete rest.metadata.creationTimestamp;
  return rest;
}

const hashed = (child: Child): Child => withHash(JSON.parse(JSON.stringify(child)), undefined, go);
const main = (druid: Druid, key: string): Container =>
  render(druid).groups.find((each) => each.key === key)!.workload.spec.template.spec!.containers[0]!;

describe.runIf(hasFixtures)(`expected objects of druid-operator${WITHOUT}`, () => {
  const druid = hasFixtures ? druidFixture("inputs/druid-test-cr.yaml") : ({} as Druid);
  const broker = (more: Partial<DruidNode> = {}): DruidNode => ({ ...druid.spec.nodes.brokers!, ...more });
  const labels = () => groupLabels(druid, "brokers", broker());
  const expectSame = (child: Child, file: string) =>
    expect(shown(hashed(child))).toEqual(shown(fixture(`expected/${file}`) as object));

  it("renders the broker StatefulSet with its hash [D1]", () => {
    expectSame(workload(druid, broker(), group, labels(), "blah"), "broker-statefulset.yaml");
  });

  const hashOf = (child: Child): string | undefined => hashed(child).metadata.annotations?.[HASH_ANNOTATION];
  const plainSpec = { ...druid.spec, workloadAnnotations: undefined, priorityClassName: undefined };
  const plainBroker = { workloadAnnotations: undefined };

  it("renders a Deployment with the same pods and no claims, and the original's hash [D2]", () => {
    const made = hashed(workload(druid, broker({ kind: "Deployment" }), group, labels(), "blah"));
    const expected = fixture("expected/broker-statefulset.yaml") as { spec: Record<string, unknown> };
    const { replicas, selector, template } = expected.spec;
    const strategy = { type: "RollingUpdate", rollingUpdate: {} };
    expect(made).toMatchObject({ apiVersion: "apps/v1", kind: "Deployment" });
    expect(made.spec).toEqual({ replicas, selector, template, strategy });
    expect(made.metadata.annotations?.[HASH_ANNOTATION]).toBe("nQv/LmxctTSRsI5dtBe3jvN5WM8=");
  });

  it("adds no probes where they are switched off, with the original's hash [D3]", () => {
    const off = { ...druid, spec: { ...plainSpec, defaultProbes: false } } as Druid;
    const made = workload(off, broker({ ...plainBroker, livenessProbe: undefined }), group, labels(), "blah");
    const { livenessProbe, readinessProbe, startupProbe } = made.spec.template.spec!.containers[0]!;
    const own = { httpGet: { path: "/status", port: 8080 } };
    expect([livenessProbe, readinessProbe, startupProbe]).toEqual([undefined, own, undefined]);
    expect(hashOf(made)).toBe("SfMSTxw3YZTBJP0JKsd5ZBiGgkI=");
  });

  it("puts a sidecar behind the main container, with the original's hash [D4]", () => {
    const half = { memory: "1Gi", cpu: "500m" };
    const options = [
      "loggingEnabled=true",
      ...["dataCenter", "environment", "application", "instance", "logFiles"].map((name) => `${name}=${name}`),
    ];
    const sidecar = {
      image: "universalforwarder-sidekick:next",
      containerName: "forwarder",
      command: ["/bin/sidekick"],
      imagePullPolicy: "Always",
      securityContext: { runAsUser: 506 },
      volumeMounts: [{ name: "logstore", mountPath: "/logstore" }],
      env: [{ name: "SAMPLE_ENV", value: "SAMPLE_VALUE" }],
      resources: { requests: half, limits: half },
      args: options.map((option) => `-${option}`),
    };
    const image = "apache/druid:0.22.1";
    const cluster = { ...druid, spec: { ...plainSpec, image, additionalContainer: [sidecar] } } as Druid;
    const made = workload(cluster, broker(plainBroker), group, labels(), "blah");
    expect(made.spec.template.spec!.containers.map(({ name }) => name)).toEqual([group, "forwarder"]);
    expect(hashOf(made)).toBe("Q+HvxwhK3mmgnAm97GEQpeWbDv0=");
  });

  it("renders an init container separately [D4]", () => {
    const init = { image: "init:1", containerName: "first", command: ["prepare"], runAsInit: true };
    const made = workload(druid, broker({ additionalContainer: [init] }), group, labels(), "blah");
    expect(made.spec.template.spec!.containers).toHaveLength(1);
    expect(made.spec.template.spec!.initContainers).toEqual([{ image: "init:1", name: "first", command: ["prepare"] }]);
  });

  it("renders ConfigMaps, budget and Services with their hashes [D5]", () => {
    const common = configMap(
      druid,
      commonConfigName("druid-test"),
      clusterLabels("druid-test"),
      commonConfig(druid, []),
    );
    expectSame(common, "common-config-map.yaml");
    expectSame(configMap(druid, `${group}-config`, labels(), nodeConfig(druid, broker())), "broker-config-map.yaml");
    expectSame(others(druid, broker(), group, labels())[0]!, "broker-pod-disruption-budget.yaml");
    const [headless, balanced] = services(druid, broker(), group, labels());
    expectSame(headless!, "broker-headless-service.yaml");
    expect(hashOf(balanced!)).toBe("vQE/6DfWCQnWFVvW3KxfOLBfdlA=");
    expect(balanced).toMatchObject({
      metadata: {
        annotations: { "service.beta.kubernetes.io/aws-load-balancer-internal": "0.0.0.0/0" },
        labels: labels(),
      },
      spec: {
        type: "LoadBalancer",
        ports: [{ name: "service-port", port: 8090, targetPort: 8080 }],
        selector: labels(),
      },
    });
  });

  it("reads the properties of dependencies as an object and as base64, as in the published CRD", () => {
    const inBase64 = (spec: unknown): string => Buffer.from(JSON.stringify(spec)).toString("base64");
    const { zookeeper, metadataStore, deepStorage } = druid.spec;
    const encoded = Object.fromEntries(
      Object.entries({ zookeeper, metadataStore, deepStorage }).map(([key, each]) => [
        key,
        { ...each, spec: inBase64(each!.spec) },
      ]),
    );
    const other = { ...druid, spec: { ...druid.spec, ...encoded } } as Druid;
    expect(commonConfig(other, [])).toEqual(commonConfig(druid, []));
  });

  it("has the names of the smoke test's children, the same at every call", () => {
    const smoke = storedFixture("inputs/druid-smoke-test-cluster.yaml");
    const children = childrenOf(render(smoke));
    expect(children).toHaveLength(16);
    expect(childrenOf(render(structuredClone(smoke)))).toEqual(children);
    expect(children.every(({ metadata }) => /^[\w+/]{27}=$/.test(metadata.annotations![HASH_ANNOTATION]!))).toBe(true);
  });
});

describe("rendering", () => {
  it("merges pod labels: the group's override the cluster's, the fixed ones override both [D10]", () => {
    const podLabels = { b: "2", app: "mine", druid_cr: "mine" };
    const druid = sampleDruid({ brokers: { nodeType: "broker", podLabels } }, { podLabels: { a: "1", b: "1" } });
    const expected = {
      a: "1",
      b: "2",
      app: "druid",
      druid_cr: "tiny",
      nodeSpecUniqueStr: "druid-tiny-brokers",
      component: "broker",
    };
    const { workload: made } = render(druid).groups[0]!;
    expect([made.metadata.labels, made.spec.selector!.matchLabels, made.spec.template.metadata!.labels]).toEqual([
      expected,
      expected,
      expected,
    ]);
  });

  it("replaces the cluster's environment by the group's, and adds tolerations [D11]", () => {
    const [here, there] = [{ key: "here" }, { key: "there" }];
    const druid = sampleDruid(
      { brokers: { nodeType: "broker", env: [{ name: "Y", value: "1" }], tolerations: [there] } },
      { env: [{ name: "X", value: "1" }], tolerations: [here] },
    );
    expect(main(druid, "brokers").env!.map(({ name }) => name)).toEqual(["Y", "configMapSHA"]);
    expect(render(druid).groups[0]!.workload.spec.template.spec!.tolerations).toEqual([here, there]);
  });

  it("changes every group's configMapSHA with the common configuration, and one group's with its own [D12]", () => {
    const nodes = { brokers: { nodeType: "broker" }, routers: { nodeType: "router" } } as const;
    const shas = (druid: Druid) => ["brokers", "routers"].map((key) => main(druid, key).env!.at(-1)!.value);
    const [broker, router] = shas(sampleDruid(nodes));
    const [broker2, router2] = shas(sampleDruid(nodes, { "common.runtime.properties": "druid.zk.service.host=other" }));
    expect([broker2 === broker, router2 === router]).toEqual([false, false]);
    const own = { ...nodes, brokers: { nodeType: "broker", "runtime.properties": "druid.service=x" } } as const;
    const [broker3, router3] = shas(sampleDruid(own));
    expect([broker3 === broker, router3 === router]).toEqual([false, true]);
  });

  it("inserts the group's name into a Service's template, which is the default name [D13]", () => {
    const given = [{ metadata: { name: "broker-%s-service" }, spec: {} }, { spec: {} }];
    const druid = sampleDruid({ brokers: { nodeType: "broker", services: given } });
    const { services: made, workload: set } = render(druid).groups[0]!;
    expect(made.map(({ metadata }) => metadata.name)).toEqual([
      "broker-druid-tiny-brokers-service",
      "druid-tiny-brokers",
    ]);
    expect(set.spec.serviceName).toBe("broker-druid-tiny-brokers-service");
  });

  it.each([[{ maxSurge: 2 }], [{ maxUnavailable: 1 }], [{ maxSurge: 2, maxUnavailable: 1 }]])(
    "renders %j of a Deployment, alone or together [D20]",
    (rollingUpdate) => {
      const druid = sampleDruid({ brokers: { nodeType: "broker", kind: "Deployment", ...rollingUpdate } });
      expect(render(druid).groups[0]!.workload.spec.strategy).toEqual({ type: "RollingUpdate", rollingUpdate });
    },
  );

  it("prints like Go: canonical quantities, and no empty or zero values that omitempty drops", () => {
    const druid = sampleDruid({
      brokers: {
        nodeType: "broker",
        podAnnotations: {},
        nodeSelector: {},
        resources: { limits: { cpu: 1 as never, memory: "0.5Gi" }, requests: { cpu: "0.5", memory: "1024Mi" } },
        volumes: [{ name: "scratch", emptyDir: {} }],
        volumeMounts: [{ name: "scratch", mountPath: "/scratch", readOnly: false }],
      },
    });
    const { template } = render(druid).groups[0]!.workload.spec;
    expect(template.metadata).not.toHaveProperty("annotations");
    expect(template.spec).not.toHaveProperty("nodeSelector");
    expect(template.spec?.volumes?.at(-1)).toEqual({ name: "scratch", emptyDir: {} });
    const { resources, volumeMounts } = main(druid, "brokers");
    expect(volumeMounts?.at(-1)).toEqual({ name: "scratch", mountPath: "/scratch" });
    expect(resources).toEqual({ limits: { cpu: "1", memory: "512Mi" }, requests: { cpu: "500m", memory: "1Gi" } });
  });

  it("has a hash that changes with a field that is newer than the original's types", () => {
    const sleeping = (seconds: number) =>
      render(sampleDruid({ brokers: { nodeType: "broker", lifecycle: { preStop: { sleep: { seconds } } } as never } }))
        .groups[0]!.workload.metadata.annotations?.[HASH_ANNOTATION];
    expect(sleeping(5)).not.toBe(sleeping(10));
  });

  it("includes keys of extra ConfigMaps, later ones overriding earlier ones", () => {
    const druid = sampleDruid({});
    const data = commonConfig(druid, [{ "test.txt": "1", a: "1" }, { "test.txt": "This Is Test" }]);
    expect(data).toEqual({
      "common.runtime.properties": "druid.zk.service.host=zk",
      a: "1",
      "test.txt": "This Is Test",
    });
  });

  it("gives each standalone claim its own name and spec", () => {
    const claim = (name: string, storage: string) => ({
      metadata: { name },
      spec: { resources: { requests: { storage } } },
    });
    const druid = sampleDruid({
      brokers: { nodeType: "broker", persistentVolumeClaim: [claim("a", "1Gi"), claim("b", "2Gi")] },
    });
    const claims = render(druid).groups[0]!.others as readonly (Child & {
      spec: { resources: { requests: { storage: string } } };
    })[];
    expect(claims.map(({ metadata, spec }) => [metadata.name, spec.resources.requests.storage])).toEqual([
      ["a", "1Gi"],
      ["b", "2Gi"],
    ]);
  });
});

describe("GoJson", () => {
  it("escapes as Go does, sorts maps and writes quantities in their canonical form", () => {
    const map = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a" },
      data: { b: "<&>\u2028\b\f\\b", a: "é" },
    };
    expect(go.marshal(map)).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":null},' +
        '"data":{"a":"é","b":"\\u003c\\u0026\\u003e\\u2028\\u0008\\u000c\\\\b"}}',
    );
    const claim = {
      kind: "PersistentVolumeClaim",
      metadata: {},
      spec: { resources: { requests: { storage: "1024Mi" } } },
    };
    expect(go.marshal(claim)).toContain('"requests":{"storage":"1Gi"}');
  });
});
