import { X509Certificate } from "node:crypto";
import { systemRandom } from "setpoint/clock";
import { describe, expect, it, onTestFinished } from "vitest";
import { TestPlane } from "../../registry/plane.testing.js";
import { CertificateAuthority } from "../certificates/certificate-authority.js";
import { CertificateSigner } from "./certificate-signer.js";
import { NamespaceFurnishing } from "./namespace-furnishing.js";
import { RoleAggregation } from "./role-aggregation.js";

async function start() {
  const plane = await TestPlane.start();
  const options = { storage: plane.storage, clock: plane.clock, handler: plane.registry.handler, log: () => {} };
  const authority = CertificateAuthority.create({ clock: plane.clock, random: systemRandom });
  const loops = [
    new RoleAggregation(options),
    new NamespaceFurnishing({ ...options, rootCa: "PEM" }),
    new CertificateSigner({ ...options, authority }),
  ];
  onTestFinished(async () => {
    for (const loop of loops) await loop[Symbol.asyncDispose]();
    await plane[Symbol.asyncDispose]();
  });
  return plane;
}

const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

describe("RoleAggregation", () => {
  it("fills aggregated roles, also transitively, and follows changes", async () => {
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

describe("RoleAggregation on drift", () => {
  it("removes rules that somebody has written into an aggregated role", async () => {
    const plane = await start();
    const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }];
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { part: "true" } }] };
    await plane.request("POST", ROLES, { body: { metadata: { name: "part", labels: { part: "true" } }, rules } });
    await plane.request("POST", ROLES, { body: { metadata: { name: "whole" }, aggregationRule, rules: [] } });
    await plane.clock.settle();
    const more = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }];
    await plane.request("PATCH", `${ROLES}/whole`, {
      contentType: "application/merge-patch+json",
      body: { rules: more },
    });
    await plane.clock.settle();
    expect((await plane.request("GET", `${ROLES}/whole`)).body.rules).toEqual(rules);
  });
});

describe("NamespaceFurnishing", () => {
  it("gives each namespace its service account and root certificate, again when they are deleted", async () => {
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

  it("leaves a terminating namespace alone", async () => {
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

/** A request for CN=harvest; its private key was discarded. */
const REQUEST =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITU1IUUNBUUF3RWpFUU1BNEdBMVVFQXd3SGFHRnlkbVZ6ZERCWk1CTUdCeXFHU000OUFnRUdDQ3FHU000OQpBd0VIQTBJQUJQRm1UWDNKNTlNTEtzb3VIODZMVW4yaHdETzhIVnlldlY1ZnM1WVZKMlhGbjRxUjU3bHQrYlN4Cnd4aHc5WFpqTFpWWE5DKzlkVTV3S2dNQ05ES2xRQmFnQURBS0JnZ3Foa2pPUFFRREFnTklBREJGQWlBWG5PWnAKYWM1SFNlVnZPai9PaCtkbVhLcjRZNUk1OEFpb0xUOTB1RjN3U0FJaEFJcVY2WDdZTHVVT0JiUTExUzROTzYrMwp2cUJ2dFFHZWFPS2s1SmhiRk5VWQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K";

describe("CertificateSigner", () => {
  const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const approved = { conditions: [{ type: "Approved", status: "True", reason: "r", message: "m" }] };

  async function signed(usages: string[]) {
    const plane = await start();
    const spec = {
      request: REQUEST,
      signerName: "kubernetes.io/kube-apiserver-client",
      usages,
      expirationSeconds: 3600,
    };
    const created = await plane.request("POST", path, { body: { metadata: { name: "a" }, spec } });
    await plane.clock.settle();
    expect((await plane.request("GET", `${path}/a`)).body.status?.certificate).toBeUndefined();
    await plane.request("PUT", `${path}/a/approval`, { body: { ...created.body, status: approved } });
    await plane.clock.settle();
    return (await plane.request("GET", `${path}/a`)).body.status;
  }

  it("signs an approved request, for as long as it asks", async () => {
    const { certificate } = await signed(["client auth"]);
    const parsed = new X509Certificate(Buffer.from(certificate, "base64"));
    expect(parsed.subject).toBe("CN=harvest");
    expect(Date.parse(parsed.validTo)).toBe(Date.UTC(2026, 0, 1, 1));
  });

  it("reports why it does not sign a request", async () => {
    const { certificate, conditions } = await signed(["server auth"]);
    expect(certificate).toBeUndefined();
    expect(conditions).toContainEqual(expect.objectContaining({ type: "Failed", reason: "SignerValidationFailure" }));
  });
});
