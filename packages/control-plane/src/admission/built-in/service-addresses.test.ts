import { seededRandom } from "setpoint/clock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlPlane, controlPlane } from "../../control-plane.js";

let plane: ControlPlane;
beforeEach(async () => {
  plane = await controlPlane({ random: seededRandom(1) });
});
afterEach(() => plane.stop());

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind.
async function call(method: "POST" | "PUT", path: string, body: object): Promise<any> {
  const response = await plane.transport.request({
    method,
    path: `/api/v1/namespaces/default/${path}`,
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(body)),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

const service = (name: string, spec: object) => ({ apiVersion: "v1", kind: "Service", metadata: { name }, spec });
const ports = [{ name: "http", port: 80 }];
const create = (name: string, spec: object) => call("POST", "services", service(name, { ports, ...spec }));

describe("services", () => {
  it("get an address each, of one family", async () => {
    const [one, other] = await Promise.all([create("a", {}), create("b", {})]);
    expect(one.spec).toMatchObject({
      clusterIP: expect.stringMatching(/^10\.0\./),
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
    });
    expect(one.spec.clusterIPs).toEqual([one.spec.clusterIP]);
    expect(other.spec.clusterIP).not.toBe(one.spec.clusterIP);
  });

  it("keep address and node ports over an update that leaves them out", async () => {
    const made = await create("n", { type: "NodePort" });
    const { resourceVersion } = made.metadata;
    const changed = await call("PUT", "services/n", {
      ...service("n", { type: "NodePort", ports, selector: { app: "a" } }),
      metadata: { name: "n", resourceVersion },
    });
    expect(changed.spec.clusterIP).toBe(made.spec.clusterIP);
    expect(changed.spec.ports[0].nodePort).toBe(made.spec.ports[0].nodePort);
    expect(made.spec.ports[0].nodePort).toBeGreaterThanOrEqual(30_000);
  });

  it("are refused an address that is taken or out of range", async () => {
    const made = await create("a", {});
    const taken = await create("b", { clusterIP: made.spec.clusterIP });
    expect(taken.details.causes[0]).toMatchObject({
      field: "spec.clusterIPs",
      message: expect.stringContaining("provided IP is already allocated"),
    });
    const foreign = await create("c", { clusterIP: "1.2.3.4" });
    expect(foreign.message).toContain("the provided network does not match the current range");
  });

  it("of type ExternalName, or headless, get none", async () => {
    const named = await create("e", { type: "ExternalName", externalName: "a.example", ports: [] });
    expect(named.spec).not.toHaveProperty("clusterIP");
    expect((await create("h", { clusterIP: "None" })).spec.clusterIP).toBe("None");
  });

  it.each([
    [{ selector: { a: "b" } }, ["IPv4"], "SingleStack"],
    [{}, ["IPv4", "IPv6"], "RequireDualStack"],
  ])("without an address have families nevertheless: %j", async (spec, ipFamilies, ipFamilyPolicy) => {
    const expected = { clusterIPs: ["None"], ipFamilies, ipFamilyPolicy };
    const body = service("h", { ...spec, ports, clusterIP: "None" });
    expect((await call("POST", "services", body)).spec).toMatchObject(expected);
    expect((await call("PUT", "services/h", body)).spec).toMatchObject(expected);
  });

  it("lose fields that their new type does not use", async () => {
    const made = await create("n", { type: "LoadBalancer", externalTrafficPolicy: "Local" });
    expect(made.spec.healthCheckNodePort).toBeGreaterThanOrEqual(30_000);
    const changed = await call("PUT", "services/n", { ...made, spec: { ...made.spec, type: "ClusterIP" } });
    expect(changed.spec).not.toHaveProperty("healthCheckNodePort");
    expect(changed.spec).not.toHaveProperty("externalTrafficPolicy");
    expect(changed.spec).not.toHaveProperty("allocateLoadBalancerNodePorts");
    expect(changed.spec.ports[0]).not.toHaveProperty("nodePort");
  });
});
