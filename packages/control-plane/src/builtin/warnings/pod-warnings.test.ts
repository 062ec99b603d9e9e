import { describe, expect, it } from "vitest";
import { podWarnings } from "./pod-warnings.js";

const container = { name: "c", image: "i" };
const ofPod = (spec: object): readonly string[] => podWarnings({ spec: { containers: [container], ...spec } }, "");

describe("warnings about pods", () => {
  it("are none for a plain pod", () => {
    expect(ofPod({})).toEqual([]);
    expect(podWarnings(undefined, "")).toEqual([]);
  });

  it("name a variable that hides another, unless it builds on it", () => {
    const env = (value: string): object => ({
      ...container,
      env: [
        { name: "A", value: "1" },
        { name: "A", value },
      ],
    });
    const why = 'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply';
    expect(ofPod({ containers: [env("2")] })).toEqual([why]);
    expect(ofPod({ containers: [env("$(A)")] })).toEqual([why]);
    expect(ofPod({ containers: [env("$(A)2")] })).toEqual([]);
  });

  it("report fractions of bytes, not whole amounts", () => {
    const memory = (amount: string): readonly string[] =>
      ofPod({ containers: [{ ...container, resources: { limits: { memory: amount } } }] });
    const shown = (amount: string): string =>
      `spec.containers[0].resources.limits[memory]: fractional byte value "${amount}" is invalid, must be an integer`;
    expect(memory("100m")).toEqual([shown("100m")]);
    expect(memory("1.5")).toEqual([shown("1500m")]);
    for (const amount of ["1Gi", "0.5Gi", "1000m", "1e3", "12E", "5M"]) expect(memory(amount)).toEqual([]);
  });

  it("cover templates below their path, and treat labels such as constructor as ordinary names", () => {
    const spec = { nodeSelector: { constructor: "x", "beta.kubernetes.io/os": "linux" } };
    expect(podWarnings({ spec }, "spec.template")).toEqual([
      'spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    ]);
  });

  it("name overlapping paths of a volume", () => {
    const items = (...paths: readonly string[]) => paths.map((path) => ({ key: "k", path }));
    const configMap = { name: "c", items: items("a/b", "a", "ab", "a/b/") };
    expect(ofPod({ volumes: [{ name: "v", configMap }] })).toEqual([
      'volume "v" (ConfigMap "c"): overlapping paths: "a" with "a/b"',
      'volume "v" (ConfigMap "c"): overlapping paths: "a/b" with "a/b"',
      'volume "v" (ConfigMap "c"): overlapping paths: "a/b" with "a"',
    ]);
    const sources = [{ secret: { name: "s", items: items("x") } }, { serviceAccountToken: { path: "x" } }, {}];
    expect(ofPod({ volumes: [{ name: "v", projected: { sources } }] })).toEqual([
      'volume "v" (Projected) has no sources provided',
      'volume "v" (Projected): overlapping paths: "x" (ServiceAccountToken) with "x" (Secret "s")',
    ]);
  });

  it("name host addresses without a port, and those in an unusual form", () => {
    const port = { containerPort: 80, hostIP: "1.2.3.4", protocol: "TCP" };
    expect(ofPod({ containers: [{ ...container, ports: [port] }], hostAliases: [{ ip: "2001:DB8::1" }] })).toEqual([
      "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.2.3.4}",
      'spec.hostAliases[0].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
    ]);
  });

  it("name an AppArmor annotation of a template that contradicts its field", () => {
    const ofTemplate = (annotation: string, appArmorProfile: object): readonly string[] =>
      podWarnings(
        {
          metadata: { annotations: { "container.apparmor.security.beta.kubernetes.io/c": annotation } },
          spec: { containers: [container], securityContext: { appArmorProfile } },
        } as never,
        "spec.template",
      );
    expect(ofTemplate("runtime/default", { type: "RuntimeDefault" })).toEqual([]);
    expect(ofTemplate("localhost/a", { type: "Localhost", localhostProfile: "a" })).toEqual([]);
    expect(ofTemplate("unconfined", { type: "RuntimeDefault" })).toHaveLength(1);
  });

  it("are limited, however many ports clash", () => {
    const ports = Array.from({ length: 20_000 }, () => ({ containerPort: 80 }));
    expect(ofPod({ containers: [{ ...container, ports }] }).length).toBeLessThan(2_000);
  });
});
