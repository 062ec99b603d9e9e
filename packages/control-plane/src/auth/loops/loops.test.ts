import { describe, expect, it, onTestFinished } from "vitest";
import { TestPlane } from "../../registry/test-plane.js";
import { NamespaceFurnishing } from "./namespace-furnishing.js";
import { RoleAggregation } from "./role-aggregation.js";

async function start() {
  const plane = await TestPlane.start();
  const options = { storage: plane.storage, clock: plane.clock, handler: plane.registry.handler };
  const loops = [new RoleAggregation(options), new NamespaceFurnishing({ ...options, rootCa: "PEM" })];
  onTestFinished(async () => {
    for (const loop of loops) await loop[Symbol.asyncDispose]();
    await plane[Symbol.asyncDispose]();
  });
  return plane;
}

const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

describe("RoleAggregation", () => {
  it("fills aggregated roles, also in steps, and follows changes", async () => {
    const plane = await start();
    const rule = (resource: string) => ({ verbs: ["get"], apiGroups: [""], resources: [resource] });
    const aggregated = (name: string, label: string, labels = {}) => ({
      metadata: { name, labels },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: "true" } }] },
      rules: [],
    });
    await plane.request("POST", ROLES, { body: aggregated("outer", "to-outer") });
    await plane.request("POST", ROLES, { body: aggregated("inner", "to-inner", { "to-outer": "true" }) });
    for (const name of ["b", "a"]) {
      const body = { metadata: { name, labels: { "to-inner": "true" } }, rules: [rule(name), rule("shared")] };
      await plane.request("POST", ROLES, { body });
    }
    await plane.clock.settle();
    const outer = await plane.request("GET", `${ROLES}/outer`);
    expect(outer.body.rules).toEqual([rule("a"), rule("shared"), rule("b")]);
    expect(outer.body.metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: "clusterrole-aggregation-controller", operation: "Apply" }),
    );
    await plane.request("DELETE", `${ROLES}/a`);
    await plane.clock.settle();
    expect((await plane.request("GET", `${ROLES}/outer`)).body.rules).toEqual([rule("b"), rule("shared")]);
  });
});

describe("NamespaceFurnishing", () => {
  it("gives each namespace its service account and root certificate, again when they are taken away", async () => {
    const plane = await start();
    await plane.request("POST", "/api/v1/namespaces", { body: { metadata: { name: "team" } } });
    await plane.clock.settle();
    const account = "/api/v1/namespaces/team/serviceaccounts/default";
    const configMap = "/api/v1/namespaces/team/configmaps/kube-root-ca.crt";
    expect((await plane.request("GET", account)).status).toBe(200);
    const published = await plane.request("GET", configMap);
    expect(published.body.data).toEqual({ "ca.crt": "PEM" });
    expect(published.body.metadata.annotations["kubernetes.io/description"]).toContain("CA bundle");
    expect(published.body.metadata.managedFields[0].manager).toBe("kube-controller-manager");
    await plane.request("DELETE", account);
    await plane.request("PUT", configMap, { body: { ...published.body, data: { "ca.crt": "wrong" } } });
    await plane.clock.settle();
    expect((await plane.request("GET", account)).status).toBe(200);
    expect((await plane.request("GET", configMap)).body.data).toEqual({ "ca.crt": "PEM" });
  });

  it("leaves a namespace that is going in peace", async () => {
    const plane = await start();
    await plane.request("POST", "/api/v1/namespaces", { body: { metadata: { name: "team" } } });
    await plane.clock.settle();
    await plane.request("DELETE", "/api/v1/namespaces/team");
    await plane.clock.settle();
    expect((await plane.request("GET", "/api/v1/namespaces/team")).status).toBe(404);
    const left = await plane.request("GET", "/api/v1/namespaces/team/serviceaccounts");
    expect(left.body.items).toEqual([]);
  });
});
