import type { KubeObject } from "setpoint";
import { systemClock } from "setpoint/clock";
import { describe, expect, it } from "vitest";
import type { StatusError } from "../api/status-error.js";
import type { AccessAttributes } from "../api/user.js";
import type { RbacAuthorizer } from "./rbac/rbac-authorizer.js";
import { answerReview, isReview } from "./review.js";

const asked: AccessAttributes[] = [];
const rbac = {
  authorize(attributes: AccessAttributes) {
    asked.push(attributes);
    return { allowed: attributes.user.name === "ann", reason: attributes.user.name === "ann" ? "RBAC: allowed" : "" };
  },
  rulesFor: () => ({
    rules: [
      { verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] },
      { verbs: ["get"], nonResourceURLs: ["/healthz"] },
    ],
    error: 'clusterrole.rbac.authorization.k8s.io "nope" not found',
  }),
} as unknown as RbacAuthorizer;

function review(kind: string, spec: object, namespace = "", metadata: object = {}) {
  const group = kind === "SelfSubjectReview" ? "authentication.k8s.io" : "authorization.k8s.io";
  const object = { apiVersion: `${group}/v1`, kind, metadata, spec } as unknown as KubeObject;
  const tokens = { authenticate: () => ({ type: "unknown" }) as const };
  const environment = { authorizer: rbac, rbac, tokens, audiences: [], clock: systemClock };
  const user = { name: "ann", groups: ["g"] };
  try {
    return answerReview(environment, object, { user, namespace });
  } catch (error) {
    return (error as StatusError).status.message;
  }
}

const getPods = { resourceAttributes: { verb: "get", resource: "pods" } };

describe("access reviews", () => {
  it("reviews the named subject, or the caller", () => {
    expect(review("SubjectAccessReview", { user: "bob", groups: ["h"], ...getPods })).toMatchObject({
      spec: { user: "bob" },
      status: { allowed: false },
    });
    expect(asked.at(-1)).toMatchObject({ user: { name: "bob", groups: ["h"] }, verb: "get", resource: "pods" });
    expect(review("SelfSubjectAccessReview", getPods)).toMatchObject({
      status: { allowed: true, reason: "RBAC: allowed" },
    });
    expect(review("SelfSubjectAccessReview", { nonResourceAttributes: { path: "/x", verb: "get" } })).toMatchObject({
      status: { allowed: true },
    });
    expect(asked.at(-1)).toMatchObject({ type: "path", path: "/x" });
  });

  it("refuses what the real server refuses, in its words", () => {
    expect(review("SubjectAccessReview", {})).toBe(
      '.authorization.k8s.io "" is invalid: [spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]',
    );
    const both = { user: "bob", ...getPods, nonResourceAttributes: { path: "/", verb: "get" } };
    expect(review("SubjectAccessReview", both)).toBe(
      '.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: cannot be specified in combination with resourceAttributes',
    );
    const elsewhere = { user: "bob", resourceAttributes: { verb: "get", resource: "pods", namespace: "other" } };
    expect(review("LocalSubjectAccessReview", elsewhere, "here", { namespace: "here" })).toBe(
      '.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
    );
    const path = { user: "bob", nonResourceAttributes: { path: "/", verb: "get" } };
    expect(review("LocalSubjectAccessReview", path, "here", { namespace: "here" })).toBe(
      '.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: disallowed on this kind of request',
    );
    expect(review("SubjectAccessReview", { user: "bob", ...getPods }, "", { name: "x" })).toBe(
      '.authorization.k8s.io "" is invalid: metadata: Invalid value: {"name":"x"}: must be empty',
    );
    expect(review("SelfSubjectRulesReview", {})).toBe("no namespace on request");
  });

  it("lists the caller's rules and what prevented finding more", () => {
    expect(review("SelfSubjectRulesReview", { namespace: "n" })).toEqual({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectRulesReview",
      metadata: {},
      spec: {},
      status: {
        resourceRules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] }],
        nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz"] }],
        incomplete: false,
        evaluationError: 'clusterrole.rbac.authorization.k8s.io "nope" not found',
      },
    });
  });

  it("tells callers who they are", () => {
    expect(review("SelfSubjectReview", {})).toMatchObject({ status: { userInfo: { username: "ann", groups: ["g"] } } });
    expect(isReview("authentication.k8s.io", "SelfSubjectReview")).toBe(true);
    expect(isReview("", "Pod")).toBe(false);
  });
});
