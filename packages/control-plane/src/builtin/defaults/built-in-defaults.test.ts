import { describe, expect, it } from "vitest";
import { loadFacts } from "../../facts/facts.js";
import { BuiltInDefaults } from "./built-in-defaults.js";

describe("defaults of built-in kinds", async () => {
  const facts = await loadFacts();
  const defaults = new BuiltInDefaults(facts.components);
  const fill = (group: string, kind: string, object: object): unknown =>
    defaults.apply(facts.componentOf(group, "v1", kind)!, object as never);

  it("defaults a container wherever it occurs", () => {
    const spec = { containers: [{ name: "c", image: "i:1", ports: [{ containerPort: 80 }] }] };
    const filled = {
      containers: [
        {
          name: "c",
          image: "i:1",
          imagePullPolicy: "IfNotPresent",
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
          ports: [{ containerPort: 80, protocol: "TCP" }],
        },
      ],
      dnsPolicy: "ClusterFirst",
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    };
    expect(fill("", "PodTemplate", { template: { spec } })).toEqual({ template: { spec: filled } });
    expect(fill("", "Pod", { spec })).toEqual({ spec: { ...filled, enableServiceLinks: true } });
  });

  it("always pulls an image without a tag, or with latest", () => {
    const policy = (image: string): unknown => {
      const pod = fill("", "Pod", { spec: { containers: [{ name: "c", image }] } });
      return (pod as { spec: { containers: { imagePullPolicy: string }[] } }).spec.containers[0]!.imagePullPolicy;
    };
    expect(["i", "i:latest", "host:5000/i", "i:1", "host:5000/i:1", "i@sha256:0"].map(policy)).toEqual([
      "Always",
      "Always",
      "Always",
      "IfNotPresent",
      "IfNotPresent",
      "IfNotPresent",
    ]);
  });

  it("keeps stated values, and shares unchanged parts", () => {
    const labels = { a: "b" };
    const object = { metadata: { name: "x", labels }, spec: { replicas: 0, strategy: { type: "Recreate" } } };
    const filled = fill("apps", "Deployment", object) as typeof object;
    expect(filled.spec).toEqual({
      replicas: 0,
      strategy: { type: "Recreate" },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
    expect(filled.metadata).toBe(object.metadata);
    const configMap = { metadata: { name: "x" }, data: { k: "v" } };
    expect(fill("", "ConfigMap", configMap)).toBe(configMap);
  });

  it("makes a volume without a source an emptyDir", () => {
    const filled = fill("", "Pod", {
      spec: { containers: [], volumes: [{ name: "a" }, { name: "b", secret: { secretName: "s" } }] },
    });
    expect((filled as { spec: { volumes: unknown } }).spec.volumes).toEqual([
      { name: "a", emptyDir: {} },
      { name: "b", secret: { secretName: "s", defaultMode: 420 } },
    ]);
  });
});
