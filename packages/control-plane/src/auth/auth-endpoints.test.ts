import { seededRandom } from "setpoint/clock";
import { VirtualClock } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import type { ApiRequest } from "../api/api-request.js";
import { parseTarget } from "../api/request-target.js";
import { loadFacts } from "../facts/facts.js";
import { Registry } from "../registry/registry.js";
import { MemoryStorage } from "../storage/memory-storage.js";
import { upperLayers } from "../write-parts.js";
import { authEndpoints } from "./auth-endpoints.js";
import { authPaths } from "./auth-paths.js";
import { RequestAuthenticator } from "./authenticator.js";
import { generateKey } from "./certificates/certificate.js";
import { signingKey } from "./jwt.js";
import { RbacAuthorizer } from "./rbac/rbac-authorizer.js";
import { RoleIndex } from "./rbac/role-index.js";
import { ServiceAccountTokens } from "./service-account-tokens.js";

const ISSUER = "https://kubernetes.default.svc.cluster.local";

async function start() {
  const clock = new VirtualClock();
  const storage = new MemoryStorage({ clock });
  const random = seededRandom(1);
  const keys = [signingKey(generateKey().privateKey)];
  const tokens = new ServiceAccountTokens({ storage, clock, random, issuer: ISSUER, keys });
  const rbac = new RbacAuthorizer(new RoleIndex(storage));
  const authenticator = new RequestAuthenticator({ tokens, audiences: [ISSUER] });
  const options = {
    authorizer: rbac,
    rbac,
    tokens,
    audiences: [ISSUER],
    serviceAccountTokens: tokens,
    issuer: ISSUER,
    keys,
  };
  const registry = new Registry({
    storage,
    clock,
    random,
    facts: await loadFacts(),
    writeParts: () => ({ ...upperLayers, admission: [], endpoints: authEndpoints(options) }),
    authenticate: async (request) => authenticator.authenticate(request),
    authorizer: rbac,
    paths: authPaths(options),
  });
  return async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await registry.handler({
      ...parseTarget(method, path),
      headers: { "user-agent": "test/1", ...(body && { "content-type": "application/json" }), ...headers },
      body: Buffer.from(body ? JSON.stringify(body) : ""),
      isInProcess: true,
      signal: new AbortController().signal,
    } as ApiRequest);
    return { ...response, body: JSON.parse(Buffer.from(response.body as Uint8Array).toString()) };
  };
}

describe("authEndpoints", () => {
  it("issues a token, recognises its bearer and reviews its access", async () => {
    const call = await start();
    await call("POST", "/api/v1/namespaces/team/serviceaccounts", { metadata: { name: "bob" } });
    const issued = await call("POST", "/api/v1/namespaces/team/serviceaccounts/bob/token", {});
    expect(issued.status).toBe(201);
    expect(issued.body).toMatchObject({
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: {
        name: "bob",
        namespace: "team",
        managedFields: [
          { manager: "test", subresource: "token", fieldsV1: { "f:spec": { "f:expirationSeconds": {} } } },
        ],
      },
    });
    const bearer = { authorization: `Bearer ${issued.body.status.token}` };
    const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview" };
    const spec = { resourceAttributes: { verb: "get", resource: "pods" } };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const refused = await call("POST", path, { ...review, spec }, bearer);
    expect(refused.body.message).toBe(
      'selfsubjectaccessreviews.authorization.k8s.io is forbidden: User "system:serviceaccount:team:bob" cannot create resource "selfsubjectaccessreviews" in API group "authorization.k8s.io" at the cluster scope',
    );
    const allowed = await call("POST", path, { ...review, spec });
    expect(allowed.body).toMatchObject({ ...review, spec, status: { allowed: true } });
    expect(allowed.body.metadata.managedFields).toHaveLength(1);
    const who = await call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {});
    expect(who.body.status.userInfo).toEqual({ username: "admin", groups: ["system:masters", "system:authenticated"] });
  });

  it("drops the namespace of a cluster-wide review, and checks that of a local one", async () => {
    const call = await start();
    const spec = { user: "x", resourceAttributes: { verb: "get", resource: "pods", namespace: "team" } };
    const path = "/apis/authorization.k8s.io/v1/namespaces/team/localsubjectaccessreviews";
    const local = await call("POST", path, { spec });
    expect(local.body).toMatchObject({ metadata: { namespace: "team" }, status: { allowed: false } });
    const tokens = "/apis/authentication.k8s.io/v1/tokenreviews";
    const review = await call("POST", tokens, { metadata: { namespace: "x", name: "y" }, spec: { token: "abc" } });
    expect(review.body.metadata).toMatchObject({ name: "y" });
    expect(review.body.metadata.namespace).toBeUndefined();
  });

  it("publishes keys and configuration for verifying tokens", async () => {
    const call = await start();
    const keys = await call("GET", "/openid/v1/jwks");
    expect(keys.headers).toMatchObject({
      "content-type": "application/jwk-set+json",
      "cache-control": "public, max-age=3600",
    });
    expect(keys.body.keys[0]).toMatchObject({ kty: "EC", alg: "ES256", use: "sig" });
    // The caller's Host header must not reach a response that others may get from a cache.
    const configuration = await call("GET", "/.well-known/openid-configuration", undefined, {
      host: "evil.example.com",
    });
    expect(configuration.body).toEqual({
      issuer: ISSUER,
      jwks_uri: `${ISSUER}/openid/v1/jwks`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
    });
  });

  it("has no tables for reviews and tokens, but their metadata", async () => {
    const call = await start();
    await call("POST", "/api/v1/namespaces/team/serviceaccounts", { metadata: { name: "bob" } });
    const review = { spec: { nonResourceAttributes: { path: "/", verb: "get" } } };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const accept = (as: string) => ({ accept: `application/json;as=${as};v=v1;g=meta.k8s.io` });
    const refused = await call("POST", path, review, accept("Table"));
    expect(refused).toMatchObject({ status: 406, body: { reason: "NotAcceptable", code: 406 } });
    const token = "/api/v1/namespaces/team/serviceaccounts/bob/token";
    expect((await call("POST", token, {}, accept("Table"))).status).toBe(406);
    const either = { accept: `${accept("Table").accept},application/json` };
    expect((await call("POST", path, review, either)).body).toMatchObject({ status: { allowed: true } });
    const { status, body } = await call("POST", path, review, accept("PartialObjectMetadata"));
    expect(status).toBe(201);
    expect(body.kind).toBe("PartialObjectMetadata");
    expect(body).not.toHaveProperty("status");
  });
});
