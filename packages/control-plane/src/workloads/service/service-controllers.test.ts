import { EndpointSlice } from "setpoint/kinds/discovery.k8s.io/v1";
import { Endpoints, Pod, Service } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { Simulation } from "../simulation.testing.js";

const web = {
  metadata: { name: "web", namespace: "default", labels: { team: "a" } },
  spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
};

describe("a service", () => {
  it("has an empty slice, then its pods as they become ready, and no finished ones", async () => {
    await using simulation = await Simulation.start();
    await simulation.client.create(Service, web);
    await simulation.advance(1);
    expect(await simulation.list(EndpointSlice, "kubernetes.io/service-name=web")).toMatchObject([
      { addressType: "IPv4", metadata: { generateName: "web-", labels: { team: "a" } } },
    ]);
    await simulation.createDeployment("web", { replicas: 2 }, { "ready-after": "10s" });
    await simulation.advance(5);
    const ready = async () => {
      const [slice] = await simulation.list(EndpointSlice, "kubernetes.io/service-name=web");
      return (slice?.endpoints ?? []).map(({ conditions }) => conditions?.ready);
    };
    expect(await ready()).toEqual([false, false]);
    await simulation.advance(10);
    expect(await ready()).toEqual([true, true]);
    const [slice] = await simulation.list(EndpointSlice, "kubernetes.io/service-name=web");
    const [pod] = await simulation.pods("app=web");
    expect(slice?.ports).toEqual([{ name: "http", port: 8080, protocol: "TCP" }]);
    const endpoint = slice?.endpoints?.find(({ targetRef }) => targetRef?.uid === pod?.metadata.uid);
    expect(endpoint).toMatchObject({ addresses: [pod?.status?.podIP], nodeName: pod?.spec?.nodeName });
    const { subsets } = await simulation.get(Endpoints, "web");
    expect(subsets?.[0]?.addresses).toHaveLength(2);
    await simulation.client.delete(Pod, pod!.metadata.name, { namespace: "default" });
    await simulation.advance(20);
    expect(await ready()).toEqual([true, true]);
  });

  it("is deleted with its slices and endpoints", async () => {
    await using simulation = await Simulation.start();
    await simulation.client.create(Service, web);
    await simulation.advance(1);
    expect(await simulation.find(Endpoints, "web")).toBeDefined();
    await simulation.client.delete(Service, "web", { namespace: "default" });
    await simulation.advance(1);
    expect(await simulation.find(Endpoints, "web")).toBeUndefined();
    expect(await simulation.list(EndpointSlice, "kubernetes.io/service-name=web")).toEqual([]);
  });

  it("is deleted with Endpoints that somebody made for it, but Endpoints without a service stay", async () => {
    await using simulation = await Simulation.start();
    await simulation.client.create(Service, {
      metadata: { name: "far", namespace: "default" },
      spec: { ports: [{ port: 80 }] },
    });
    for (const name of ["far", "alone"]) {
      await simulation.client.create(Endpoints, { metadata: { name, namespace: "default" } });
    }
    await simulation.advance(1);
    expect(await simulation.find(Endpoints, "far")).toBeDefined();
    await simulation.client.delete(Service, "far", { namespace: "default" });
    await simulation.advance(1);
    expect(await simulation.find(Endpoints, "far")).toBeUndefined();
    expect(await simulation.find(Endpoints, "alone")).toBeDefined();
  });

  it("without a selector mirrors Endpoints that somebody made as slices", async () => {
    await using simulation = await Simulation.start();
    const spec = { ports: [{ port: 80 }] };
    await simulation.client.create(Service, { metadata: { name: "far", namespace: "default" }, spec });
    const subsets = [
      {
        addresses: [{ ip: "10.9.9.1" }],
        notReadyAddresses: [{ ip: "10.9.9.2" }, { ip: "fd00::1" }],
        ports: [{ port: 80 }],
      },
    ];
    const metadata = { name: "far", namespace: "default", labels: { own: "yes" } };
    await simulation.client.create(Endpoints, { metadata, subsets } as never);
    await simulation.advance(1);
    const shown = async () =>
      (await simulation.list(EndpointSlice, "kubernetes.io/service-name=far,own=yes")).map(
        ({ addressType, endpoints }) => [
          addressType,
          endpoints?.map(({ addresses, conditions }) => [addresses, conditions]),
        ],
      );
    expect(await shown()).toEqual(
      expect.arrayContaining([
        [
          "IPv4",
          [
            [["10.9.9.1"], { ready: true }],
            [["10.9.9.2"], { ready: false }],
          ],
        ],
        ["IPv6", [[["fd00::1"], { ready: false }]]],
      ]),
    );
    const label = { metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } } };
    await simulation.client.patch(Endpoints, "far", { type: "merge", body: label }, { namespace: "default" });
    await simulation.advance(1);
    expect(await shown()).toEqual([]);
  });
});
