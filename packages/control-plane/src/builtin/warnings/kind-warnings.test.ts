import type { KubeObject } from "setpoint";
import { describe, expect, it } from "vitest";
import { addressWarnings, rangeWarnings } from "./address-warnings.js";
import { kindWarnings } from "./kind-warnings.js";

const warningsOf = (kind: string, object: object, old?: object): readonly string[] =>
  kindWarnings[kind]!(object as KubeObject, old as KubeObject | undefined);
const named = (name: string, more: object = {}) => ({ metadata: { name, ...more } });

describe("warnings about objects", () => {
  it.each([
    [
      "networking.k8s.io/ingresses",
      { ...named("i", { annotations: { "kubernetes.io/ingress.class": "x" } }), spec: {} },
      `annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`,
    ],
    [
      "/resourcequotas",
      { ...named("q"), spec: { hard: { cpu: "2", "limits.cpu": "1500m" } } },
      "ResourceQuota cpu (2) should be less than limits.cpu (1500m)",
    ],
    [
      "/serviceaccounts",
      named("a", { annotations: { "kubernetes.io/enforce-mountable-secrets": "true" } }),
      "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets",
    ],
    ["/nodes", { ...named("n"), spec: { configSource: {} } }, "spec.configSource: the feature is removed"],
    [
      "node.k8s.io/runtimeclasses",
      { ...named("r"), scheduling: { nodeSelector: { "beta.kubernetes.io/os": "linux", constructor: "x" } } },
      'scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead',
    ],
    [
      "storage.k8s.io/csistoragecapacities",
      { ...named("c"), nodeTopology: { matchLabels: { "beta.kubernetes.io/arch": "x" } } },
      'nodeTopology.matchLabels.beta.kubernetes.io/arch: deprecated since v1.14; use "kubernetes.io/arch" instead',
    ],
    [
      "storage.k8s.io/storageclasses",
      {
        ...named("s"),
        allowedTopologies: [{ matchLabelExpressions: [{ key: "beta.kubernetes.io/os", values: ["a"] }] }],
      },
      'allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.14; use "kubernetes.io/os" instead',
    ],
    [
      "admissionregistration.k8s.io/validatingwebhookconfigurations",
      named("a.static.k8s.io"),
      'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API',
    ],
    [
      "batch/jobs",
      { ...named("j"), spec: { completionMode: "Indexed", completions: 100_001, parallelism: 10_001, template: {} } },
      "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail",
    ],
    [
      "/secrets",
      { ...named("s"), type: "kubernetes.io/tls", data: { "tls.crt": "eA==", "tls.key": "eA==" } },
      "tls: failed to find any PEM data in certificate input",
    ],
  ])("of %s", (kind, object, warning) => {
    expect(warningsOf(kind, object)).toEqual([warning]);
  });

  it("are repeated for a DaemonSet whose template changed, not for its other fields", () => {
    const set = (count: number, generation: number) => ({
      metadata: { name: "d", generation, annotations: { "deprecated.daemonset.template.generation": `${count}` } },
      spec: { template: { spec: { nodeSelector: { "beta.kubernetes.io/os": "linux" } } } },
    });
    expect(warningsOf("apps/daemonsets", set(2, 3), set(1, 2))).toHaveLength(1);
    expect(warningsOf("apps/daemonsets", set(1, 3), set(1, 2))).toEqual([]);
  });

  it("name the spec of a claim's template as the real server does, when it is new and when it changed", () => {
    const claim = { metadata: { name: "c" }, spec: { resources: { requests: { storage: "100m" } } } };
    const set = { metadata: { name: "s", generation: 1 }, spec: { template: {}, volumeClaimTemplates: [claim] } };
    const why = 'resources.requests[storage]: fractional byte value "100m" is invalid, must be an integer';
    expect(warningsOf("apps/statefulsets", set)).toEqual([`spec.volumeClaimTemplates[0].${why}`]);
    expect(warningsOf("apps/statefulsets", set, set)).toEqual([`spec.volumeClaimTemplates[0].Spec.${why}`]);
  });
});

describe("warnings about addresses", () => {
  it("suggest the canonical form of unusual ones", () => {
    expect(addressWarnings("2001:DB8::1", "ip")).toEqual([
      'ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
    ]);
    expect(addressWarnings("010.0.0.1", "ip")).toEqual([
      'ip: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"',
    ]);
    expect(addressWarnings("::ffff:1.2.3.4", "ip")).toEqual([
      'ip: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"',
    ]);
    expect(rangeWarnings("10.1.2.3/8", "r")).toEqual([
      'r: CIDR value "10.1.2.3/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.1.2.3/32"?)',
    ]);
    for (const text of ["10.0.0.1", "::1", "None", ""]) expect(addressWarnings(text, "ip")).toEqual([]);
    for (const text of ["10.0.0.0/8", "2001:db8::/32", "x"]) expect(rangeWarnings(text, "r")).toEqual([]);
  });
});
