import { describe, expect, it } from "vitest";
import { resourceAccess } from "../api/access-request.js";
import { parseTarget } from "../api/request-target.js";
import type { StatusError } from "../api/status-error.js";
import type { AccessAttributes, Authorizer, UserInfo } from "../api/user.js";
import { requestUser } from "../authentication.js";
import type { RequestAuthenticator } from "./authenticator.js";
import { impersonate, impersonatedUser } from "./impersonation.js";

const carl: UserInfo = { name: "carl", groups: ["system:authenticated"] };
const listPods = resourceAccess(carl, "list", {
  group: "",
  version: "v1",
  resource: "pods",
  subresource: "",
  namespace: "",
  name: "",
});

/** Allows only what is listed: `verb group/resource/subresource namespace/name`. */
function allowing(...allowed: string[]): Authorizer & { readonly asked: string[] } {
  const asked: string[] = [];
  const authorize = (attributes: AccessAttributes) => {
    if (attributes.type !== "resource") return { allowed: false, reason: "" };
    const { verb, group, resource, subresource, namespace, name } = attributes;
    const question = `${verb} ${group}/${resource}${subresource && `/${subresource}`} ${namespace}/${name}`;
    asked.push(question);
    return { allowed: allowed.includes("*") || allowed.includes(question), reason: "" };
  };
  return { authorize, asked };
}

function message(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return (error as StatusError).status.message;
  }
  return "allowed";
}

describe("impersonatedUser", () => {
  it("reads user, uid, groups and escaped extra keys", () => {
    expect(impersonatedUser({ "content-type": "x" })).toBeUndefined();
    expect(
      impersonatedUser({
        "impersonate-user": "bob",
        "impersonate-uid": "5",
        "impersonate-group": ["g", "h"],
        "impersonate-extra-scopes.a%2fb": ["x", "y"],
      }),
    ).toEqual({ name: "bob", uid: "5", groups: ["g", "h"], extra: { "scopes.a/b": ["x", "y"] } });
  });

  it("refuses headers without a user, in the real server's words", () => {
    expect(message(() => impersonatedUser({ "impersonate-group": "g" }))).toBe(
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g"}, Extra:map[string][]string(nil)} without impersonating a user name',
    );
    expect(message(() => impersonatedUser({ "impersonate-uid": "g" }))).toBe(
      'requested &user.DefaultInfo{Name:"", UID:"g", Groups:[]string(nil), Extra:map[string][]string(nil)} without impersonating a user name',
    );
  });
});

describe("impersonate", () => {
  it("completes the groups of the user", () => {
    const as = (name: string, groups: string[] = []) => impersonate(allowing("*"), { name, groups }, listPods).groups;
    expect(as("system:serviceaccount:n:bob")).toEqual([
      "system:serviceaccounts",
      "system:serviceaccounts:n",
      "system:authenticated",
    ]);
    expect(as("system:node:a")).toEqual(["system:nodes", "system:authenticated"]);
    expect(as("bob", ["g"])).toEqual(["g", "system:authenticated"]);
    expect(as("system:anonymous")).toEqual(["system:unauthenticated"]);
    expect(as("bob", ["system:unauthenticated"])).toEqual(["system:unauthenticated"]);
  });

  it("accepts the plain verb on each part of the user", () => {
    const wanted = { name: "bob", uid: "5", groups: ["g"], extra: { scopes: ["x"] } };
    const parts = [
      "impersonate /users /bob",
      "impersonate authentication.k8s.io/uids /5",
      "impersonate /groups /g",
      "impersonate authentication.k8s.io/userextras/scopes /x",
    ];
    expect(impersonate(allowing(...parts), wanted, listPods).name).toBe("bob");
    for (const left of parts) {
      const others = parts.filter((part) => part !== left);
      expect(message(() => impersonate(allowing(...others), wanted, listPods))).toContain("is forbidden");
    }
  });

  it("accepts the constrained verbs for one action only", () => {
    const authorizer = allowing(
      "impersonate-on:serviceaccount:list /pods /",
      "impersonate:serviceaccount authentication.k8s.io/serviceaccounts n/bob",
    );
    const bob = { name: "system:serviceaccount:n:bob", groups: [] };
    expect(impersonate(authorizer, bob, listPods).name).toBe(bob.name);
    expect(message(() => impersonate(authorizer, bob, { ...listPods, verb: "delete" }))).toBe(
      'pods is forbidden: User "carl" cannot impersonate-on:serviceaccount:delete resource "pods" in API group "" at the cluster scope',
    );
  });

  it("names the narrowest permission when it refuses", () => {
    expect(message(() => impersonate(allowing(), { name: "bob", groups: [] }, listPods))).toBe(
      'pods is forbidden: User "carl" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope',
    );
  });

  it("allows system:masters only with the plain verb", () => {
    const constrained = allowing(
      "impersonate-on:user-info:list /pods /",
      "impersonate:user-info authentication.k8s.io/users /bob",
      "impersonate:user-info authentication.k8s.io/groups /system:masters",
    );
    const wanted = { name: "bob", groups: ["system:masters"] };
    expect(message(() => impersonate(constrained, wanted, listPods))).toContain("system:masters group is not allowed");
  });
});

describe("the verb of an impersonated request", () => {
  it("is watch on the legacy paths, too [R13]", () => {
    const authorizer = allowing();
    const authenticator = { authenticate: () => carl } as unknown as RequestAuthenticator;
    const request = {
      ...parseTarget("GET", "/api/v1/watch/pods"),
      headers: { "impersonate-user": "bob" },
      isInProcess: false,
      signal: new AbortController().signal,
    };
    expect(() => requestUser(authenticator, authorizer)(request)).toThrow();
    expect(authorizer.asked).toContain("impersonate-on:user-info:watch /pods /");
    expect(authorizer.asked.join()).not.toContain(":list");
  });
});
