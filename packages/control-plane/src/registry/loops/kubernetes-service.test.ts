import { networkInterfaces } from "node:os";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../plane.testing.js";
import { advertisedAddress, KubernetesService } from "./kubernetes-service.js";

const SERVICE = "/api/v1/namespaces/default/services/kubernetes";
const ENDPOINTS = "/api/v1/namespaces/default/endpoints/kubernetes";
const SLICE = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";

let plane: TestPlane;
beforeEach(async () => {
  plane = await TestPlane.start();
});
afterEach(() => plane[Symbol.asyncDispose]());

const failures: string[] = [];
const log = (message: string, error: unknown): void => void failures.push(`${message}: ${String(error)}`);

const announce = async (port: number): Promise<KubernetesService> => {
  const { environment } = await plane.registry.writeSide();
  const service = new KubernetesService({ ...environment, log }, { host: "192.0.2.7", port });
  await service.settled();
  return service;
};

const get = async (path: string) => (await plane.request("GET", path)).body;

describe("the service kubernetes", () => {
  it("leads to the server, like the real one", async () => {
    await using _service = await announce(6443);
    expect(failures).toEqual([]);
    expect(await get(SERVICE)).toMatchObject({
      metadata: {
        labels: { component: "apiserver", provider: "kubernetes" },
        managedFields: [{ manager: "kube-apiserver", operation: "Update" }],
      },
      spec: { clusterIP: "10.0.0.1", ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }] },
    });
    expect(await get(ENDPOINTS)).toMatchObject({
      metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
      subsets: [{ addresses: [{ ip: "192.0.2.7" }], ports: [{ name: "https", port: 6443, protocol: "TCP" }] }],
    });
    expect(await get(SLICE)).toMatchObject({
      addressType: "IPv4",
      endpoints: [{ addresses: ["192.0.2.7"], conditions: { ready: true } }],
      ports: [{ name: "https", port: 6443, protocol: "TCP" }],
    });
  });

  it("restores what somebody has changed", async () => {
    await using service = await announce(6443);
    const merge = (path: string, body: object) =>
      plane.request("PATCH", path, { body, contentType: "application/merge-patch+json" });
    const before = [await get(SERVICE), await get(ENDPOINTS), await get(SLICE)];
    await merge(SERVICE, { metadata: { labels: { provider: "other" } }, spec: { ports: null } });
    await merge(ENDPOINTS, { subsets: null });
    await merge(SLICE, { endpoints: [], ports: [] });
    await service.settled();
    const after = [await get(SERVICE), await get(ENDPOINTS), await get(SLICE)];
    const content = ({ metadata: { labels }, spec, subsets, endpoints, ports }: Awaited<ReturnType<typeof get>>) => ({
      ...{ labels, spec, subsets, endpoints, ports },
    });
    expect(after.map(content)).toEqual(before.map(content));
    expect(failures).toEqual([]);
  });

  it("follows a server that starts at another port, writes nothing at the same one, and keeps additions of others", async () => {
    {
      await using _service = await announce(6443);
    }
    const body = { metadata: { labels: { mine: "1" } } };
    await plane.request("PATCH", SERVICE, { body, contentType: "application/merge-patch+json" });
    const { revision } = plane.storage;
    {
      await using _service = await announce(6443);
    }
    expect(plane.storage.revision).toBe(revision);
    await using _service = await announce(6444);
    const service = await get(SERVICE);
    expect([service.spec.ports[0].targetPort, service.metadata.labels.mine]).toEqual([6444, "1"]);
    expect((await get(SLICE)).ports[0].port).toBe(6444);
  });

  it("is recreated if somebody deletes it", async () => {
    await using service = await announce(6443);
    for (const path of [SERVICE, ENDPOINTS, SLICE]) {
      await plane.request("DELETE", path);
      await service.settled();
      expect((await get(path)).metadata.name).toBe("kubernetes");
    }
  });

  it("has an address that others can reach, or none", () => {
    const here = networkInterfaces();
    const outside = { lo: here.lo, eth0: [{ ...here.lo![0]!, address: "192.0.2.2", family: "IPv4", internal: false }] };
    expect(advertisedAddress("192.0.2.9", outside as typeof here)).toBe("192.0.2.9");
    for (const host of ["127.0.0.1", "0.0.0.0", "::1", "::", "localhost"]) {
      expect(advertisedAddress(host, outside as typeof here)).toBe("192.0.2.2");
    }
    expect(advertisedAddress("127.0.0.1", { lo: here.lo })).toBeUndefined();
  });
});
