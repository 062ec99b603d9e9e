import { generateKeyPairSync } from "node:crypto";
import type { KubeObject } from "setpoint";
import { seededRandom } from "setpoint/clock";
import { VirtualClock } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import type { ApiRequest } from "../api/api-request.js";
import type { StatusError } from "../api/status-error.js";
import { MemoryStorage } from "../storage/memory-storage.js";
import { RequestAuthenticator } from "./authenticator.js";
import { jsonWebKeySet, signingKey, signToken, verifiedClaims } from "./jwt.js";
import { RbacAuthorizer } from "./rbac/rbac-authorizer.js";
import { RoleIndex } from "./rbac/role-index.js";
import { answerReview, type ReviewContext } from "./review.js";
import { ServiceAccountTokens } from "./service-account-tokens.js";
import { anyOf, staticTokens } from "./token-authenticator.js";
import { createToken, type TokenRequest } from "./token-request.js";

const ISSUER = "https://kubernetes.default.svc.cluster.local";
const HOUR_MS = 3_600_000;
const ecKey = signingKey(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);

function message(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return (error as StatusError).status.message;
  }
  throw new Error("was accepted");
}

async function world() {
  const clock = new VirtualClock();
  const storage = new MemoryStorage({ clock });
  const put = async (plural: string, object: { metadata: object }): Promise<KubeObject> => {
    const metadata = object.metadata as { name: string; namespace?: string };
    const key = metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
    const resource = `/${plural}`;
    const expected = storage.head(resource, key);
    return (await storage.commit({ resource, key, expected, object: object as KubeObject })).object;
  };
  await put("serviceaccounts", { metadata: { name: "bob", namespace: "team", uid: "u1" } });
  const tokens = new ServiceAccountTokens({ storage, clock, random: seededRandom(1), issuer: ISSUER, keys: [ecKey] });
  const request = (spec: object, metadata: object = {}): TokenRequest =>
    createToken(
      { storage, tokens, audiences: [ISSUER], nowMs: clock.now() },
      { metadata, spec } as unknown as TokenRequest,
      "team",
      "bob",
    );
  const tokenOf = (answer: TokenRequest): string => (answer as unknown as { status: { token: string } }).status.token;
  const all = anyOf([staticTokens(new Map([["secret", { name: "ann", groups: ["g"] }]]), [ISSUER]), tokens]);
  const review = (spec: object, context: ReviewContext = { user: { name: "x", groups: [] }, namespace: "" }) =>
    answerReview(
      { authorizer: rbac, rbac, tokens: all, audiences: [ISSUER], clock },
      { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", metadata: {}, spec } as unknown as KubeObject,
      context,
    ).status;
  const rbac = new RbacAuthorizer(new RoleIndex(storage));
  return { clock, storage, put, tokens, request, tokenOf, all, review };
}

describe("jwt", () => {
  it("verifies what it signed, with ES256 and RS256, and nothing else", () => {
    const rsaKey = signingKey(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey);
    for (const key of [ecKey, rsaKey]) {
      const token = signToken(key, { sub: "x" });
      expect(verifiedClaims([ecKey, rsaKey], token)).toEqual({ sub: "x" });
      const [header, payload, signature] = token.split(".");
      const other = Buffer.from('{"sub":"y"}').toString("base64url");
      expect(verifiedClaims([key], `${header}.${other}.${signature}`)).toBeUndefined();
      const none = Buffer.from('{"alg":"none"}').toString("base64url");
      expect(verifiedClaims([key], `${none}.${payload}.`)).toBeUndefined();
      expect(verifiedClaims([key], `${none}.${payload}.${signature}`)).toBeUndefined();
    }
    expect(verifiedClaims([ecKey], signToken(rsaKey, {}))).toBeUndefined();
    for (const text of ["", "a", "a.b", "a.b.c", "..", "e30.e30.e30"])
      expect(verifiedClaims([ecKey], text)).toBeUndefined();
  });

  it("publishes its public keys", () => {
    expect(jsonWebKeySet([ecKey])).toEqual({
      keys: [expect.objectContaining({ use: "sig", kty: "EC", kid: ecKey.keyId, alg: "ES256", crv: "P-256" })],
    });
    expect(JSON.stringify(jsonWebKeySet([ecKey]))).not.toContain('"d"');
  });
});

describe("createToken", () => {
  it("issues a token that authenticates the service account", async () => {
    const { request, tokenOf, tokens } = await world();
    const answer = request({});
    expect(answer).toMatchObject({
      kind: "TokenRequest",
      metadata: { name: "bob", namespace: "team", uid: "u1" },
      spec: { audiences: [ISSUER], expirationSeconds: 3600, boundObjectRef: null },
      status: { expirationTimestamp: "2026-01-01T01:00:00Z" },
    });
    expect(tokens.authenticate(tokenOf(answer), [ISSUER])).toEqual({
      type: "user",
      user: {
        name: "system:serviceaccount:team:bob",
        uid: "u1",
        groups: ["system:serviceaccounts", "system:serviceaccounts:team"],
        extra: { "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^JTI=[0-9a-f-]{36}$/)] },
      },
      audiences: [ISSUER],
    });
  });

  it("refuses what the real server refuses, in its words", async () => {
    const { request, put } = await world();
    expect(message(() => request({ expirationSeconds: 60 }))).toBe(
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
    );
    expect(message(() => request({ expirationSeconds: 5_000_000_000 }))).toContain("larger than 2^32 seconds");
    expect(message(() => request({}, { name: "x" }))).toBe(
      'TokenRequest.authentication.k8s.io "bob" is invalid: metadata.name: Invalid value: "x": must match the service account name if specified',
    );
    const bound = (kind: string, name: string) => ({ boundObjectRef: { apiVersion: "v1", kind, name } });
    expect(message(() => request(bound("Pod", "nope")))).toBe('pods "nope" not found');
    expect(message(() => request(bound("ConfigMap", "nope")))).toBe(
      "cannot bind token to object of type /v1, Kind=ConfigMap",
    );
    await put("pods", {
      metadata: { name: "p", namespace: "team", uid: "p1" },
      spec: { serviceAccountName: "x" },
    } as never);
    expect(message(() => request(bound("Pod", "p")))).toContain("different serviceaccount name");
  });
});

describe("ServiceAccountTokens", () => {
  it("lets a token expire with its time, its account and the object that it is bound to", async () => {
    const { request, tokenOf, tokens, clock, put, storage } = await world();
    const why = (token: string): string => {
      const answer = tokens.authenticate(token, [ISSUER]);
      return answer.type === "refused" ? answer.why : answer.type;
    };
    await put("secrets", { metadata: { name: "s", namespace: "team", uid: "s1" } });
    const bound = tokenOf(
      request({ boundObjectRef: { apiVersion: "v1", kind: "Secret", name: "s" }, expirationSeconds: 90_000 }),
    );
    const plain = tokenOf(request({}));
    expect([why(bound), why(plain)]).toEqual(["user", "user"]);
    await put("secrets", { metadata: { name: "s", namespace: "team", uid: "s2" } });
    expect(why(bound)).toBe("secret UID (s2) does not match service account secret ref claim (s1)");
    await storage.commit({
      resource: "/secrets",
      key: "team/s",
      expected: storage.head("/secrets", "team/s"),
      object: undefined,
    });
    expect(why(bound)).toBe("service account token has been invalidated");
    await clock.advance(HOUR_MS + 59_000);
    expect(why(plain)).toBe("user");
    await clock.advance(2_000);
    expect(why(plain)).toBe("service account token has expired");
    const fresh = tokenOf(request({}));
    await put("serviceaccounts", { metadata: { name: "bob", namespace: "team", uid: "u2" } });
    expect(why(fresh)).toBe("service account UID (u2) does not match claim (u1)");
  });
});

describe("TokenReview", () => {
  it("answers as the real server does", async () => {
    const { request, tokenOf, review } = await world();
    const token = tokenOf(request({}));
    expect(review({ token })).toMatchObject({
      authenticated: true,
      user: { username: "system:serviceaccount:team:bob", groups: expect.arrayContaining(["system:authenticated"]) },
      audiences: [ISSUER],
    });
    expect(review({ token, audiences: ["x"] })).toEqual({
      user: {},
      error: `[invalid bearer token, token audiences ["${ISSUER}"] is invalid for the target audiences ["x"]]`,
    });
    expect(review({ token: "abc" })).toEqual({ user: {}, error: "invalid bearer token" });
    expect(review({ token: "secret" })).toEqual({
      authenticated: true,
      user: { username: "ann", groups: ["g", "system:authenticated"] },
      audiences: [ISSUER],
    });
    expect(message(() => review({}))).toBe("token is required for TokenReview in authentication");
  });
});

describe("RequestAuthenticator", () => {
  it("recognises certificates, tokens, the in-process administrator and anonymous callers", async () => {
    const { all } = await world();
    const authenticator = new RequestAuthenticator({ tokens: all, audiences: [ISSUER] });
    const who = (request: Partial<ApiRequest>): string => {
      const user = authenticator.authenticate({ headers: {}, isInProcess: false, ...request } as ApiRequest);
      return `${user.name} ${user.groups.join(",")}`;
    };
    const clientCertificate = { commonName: "ann", organizations: ["a", "b"] };
    expect(who({ clientCertificate })).toBe("ann a,b,system:authenticated");
    expect(who({ headers: { authorization: "Bearer secret" } })).toBe("ann g,system:authenticated");
    expect(who({ headers: { authorization: "bearer secret" }, isInProcess: true })).toBe("ann g,system:authenticated");
    expect(who({ isInProcess: true })).toBe("admin system:masters,system:authenticated");
    expect(who({})).toBe("system:anonymous system:unauthenticated");
    expect(who({ headers: { authorization: "Basic abc" } })).toBe("system:anonymous system:unauthenticated");
    expect(message(() => who({ headers: { authorization: "Bearer wrong" } }))).toBe("Unauthorized");
  });
});
