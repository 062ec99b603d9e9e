import type { KubeObject } from "setpoint";
import { systemClock } from "setpoint/clock";
import { describe, expect, it } from "vitest";
import { accessDenied, pathAccess, resourceAccess } from "../../api/access-request.js";
import type { StatusError } from "../../api/status-error.js";
import type { AccessAttributes, UserInfo } from "../../api/user.js";
import { loadFacts } from "../../facts/facts.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { AdmissionAttributes } from "../../registry/write/admission.js";
import { MemoryStorage } from "../../storage/memory-storage.js";
import { escalationCheck } from "./escalation.js";
import { RbacAuthorizer } from "./rbac-authorizer.js";
import { RoleIndex } from "./role-index.js";

const GROUP = "rbac.authorization.k8s.io";
const facts = await loadFacts();
const bob: UserInfo = {
  name: "system:serviceaccount:team:bob",
  groups: ["system:serviceaccounts", "system:serviceaccounts:team", "system:authenticated"],
};

const PLURALS: Record<string, string> = {
  Role: "roles",
  RoleBinding: "rolebindings",
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
};

async function write(storage: MemoryStorage, kind: string, object: { metadata: object }): Promise<void> {
  const metadata = object.metadata as { name: string; namespace?: string };
  const key = metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
  const resource = `${GROUP}/${PLURALS[kind]}`;
  const whole = { apiVersion: `${GROUP}/v1`, kind, ...object } as unknown as KubeObject;
  await storage.commit({ resource, key, expected: storage.head(resource, key), object: whole });
}

/** A storage with the bootstrap roles and bindings. */
async function bootstrapped() {
  const storage = new MemoryStorage({ clock: systemClock });
  const roles = new RoleIndex(storage);
  for (const object of facts.bootstrap) if (PLURALS[object.kind]) await write(storage, object.kind, object);
  return { storage, roles, rbac: new RbacAuthorizer(roles) };
}

const access = (user: UserInfo, verb: string, resource: string, namespace = "", name = ""): AccessAttributes => {
  const [plain = "", subresource = ""] = resource.split("/");
  return resourceAccess(user, verb, { group: "", version: "v1", resource: plain, subresource, namespace, name });
};

const refusal = (rbac: RbacAuthorizer, attributes: AccessAttributes): string =>
  accessDenied(attributes, rbac.authorize(attributes).reason).status.message;

describe("RbacAuthorizer", () => {
  it("names the binding that allows", async () => {
    const { storage, rbac } = await bootstrapped();
    const scheduler = { name: "system:kube-scheduler", groups: [] };
    expect(rbac.authorize(access(scheduler, "get", "pods"))).toEqual({
      allowed: true,
      reason:
        'RBAC: allowed by ClusterRoleBinding "system:kube-scheduler" of ClusterRole "system:kube-scheduler" to User "system:kube-scheduler"',
    });
    await write(storage, "RoleBinding", {
      metadata: { name: "b", namespace: "team" },
      roleRef: { kind: "ClusterRole", name: "system:kube-scheduler" },
      subjects: [{ kind: "ServiceAccount", name: "bob" }],
    } as { metadata: object });
    expect(rbac.authorize(access(bob, "get", "pods", "team")).reason).toBe(
      'RBAC: allowed by RoleBinding "b/team" of ClusterRole "system:kube-scheduler" to ServiceAccount "bob/team"',
    );
    expect(rbac.authorize(access(bob, "get", "pods", "other")).allowed).toBe(false);
  });

  it("lets system:masters do anything", async () => {
    const { rbac } = await bootstrapped();
    expect(rbac.authorize(access({ name: "x", groups: ["system:masters"] }, "y", "z")).allowed).toBe(true);
  });

  it("matches names, subresources of anything, groups and paths", async () => {
    const { storage, rbac } = await bootstrapped();
    await write(storage, "ClusterRole", {
      metadata: { name: "r" },
      rules: [
        { verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] },
        { verbs: ["update"], apiGroups: ["*"], resources: ["*/scale"] },
        { verbs: ["get"], nonResourceURLs: ["/logs/*"] },
      ],
    } as { metadata: object });
    await write(storage, "ClusterRoleBinding", {
      metadata: { name: "b" },
      roleRef: { kind: "ClusterRole", name: "r" },
      subjects: [{ kind: "User", name: "u" }],
    } as { metadata: object });
    const user = { name: "u", groups: [] };
    expect(rbac.authorize(access(user, "get", "pods", "n", "a")).allowed).toBe(true);
    expect(rbac.authorize(access(user, "get", "pods", "n", "b")).allowed).toBe(false);
    expect(rbac.authorize(access(user, "list", "pods", "n")).allowed).toBe(false);
    expect(rbac.authorize(access(user, "update", "things/scale", "n", "b")).allowed).toBe(true);
    expect(rbac.authorize(access(user, "update", "things", "n", "b")).allowed).toBe(false);
    expect(rbac.authorize(pathAccess(user, "GET", "/logs/a/b")).allowed).toBe(true);
    expect(rbac.authorize(pathAccess(user, "GET", "/logs")).allowed).toBe(false);
  });

  it("sees changed and deleted bindings at once", async () => {
    const { storage, rbac } = await bootstrapped();
    const binding = (subject: string) =>
      ({
        metadata: { name: "b" },
        roleRef: { kind: "ClusterRole", name: "cluster-admin" },
        subjects: [{ kind: "User", name: subject }],
      }) as { metadata: object };
    const allowed = (name: string): boolean => rbac.authorize(access({ name, groups: [] }, "get", "x")).allowed;
    await write(storage, "ClusterRoleBinding", binding("one"));
    expect([allowed("one"), allowed("two")]).toEqual([true, false]);
    await write(storage, "ClusterRoleBinding", binding("two"));
    expect([allowed("one"), allowed("two")]).toEqual([false, true]);
    const resource = `${GROUP}/clusterrolebindings`;
    await storage.commit({ resource, key: "b", expected: storage.head(resource, "b"), object: undefined });
    expect(allowed("two")).toBe(false);
  });

  it("refuses in the real server's words", async () => {
    const { storage, rbac } = await bootstrapped();
    expect(refusal(rbac, access(bob, "list", "nodes"))).toBe(
      'nodes is forbidden: User "system:serviceaccount:team:bob" cannot list resource "nodes" in API group "" at the cluster scope',
    );
    expect(refusal(rbac, pathAccess({ name: "<a&b>", groups: [] }, "POST", "/livez"))).toBe(
      'forbidden: User "&lt;a&amp;b&gt;" cannot post path "/livez"',
    );
    await write(storage, "RoleBinding", {
      metadata: { name: "b", namespace: "team" },
      roleRef: { kind: "ClusterRole", name: "nope" },
      subjects: [{ kind: "ServiceAccount", name: "bob", namespace: "team" }],
    } as { metadata: object });
    expect(refusal(rbac, access(bob, "create", "pods/eviction", "team", "b"))).toBe(
      'pods "b" is forbidden: User "system:serviceaccount:team:bob" cannot create resource "pods/eviction" in API group "" in the namespace "team": RBAC: clusterrole.rbac.authorization.k8s.io "nope" not found',
    );
    expect(refusal(rbac, access(bob, "get", "namespaces", "", "team"))).toContain('in the namespace "team"');
  });
});

describe("escalationCheck", () => {
  async function refusedFor(plural: string, namespace: string, object: object, extraRules: object[] = []) {
    const { storage, roles, rbac } = await bootstrapped();
    await write(storage, "ClusterRole", {
      metadata: { name: "view-pods" },
      rules: [{ verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] }, ...extraRules],
    } as { metadata: object });
    await write(storage, "ClusterRoleBinding", {
      metadata: { name: "b" },
      roleRef: { kind: "ClusterRole", name: "view-pods" },
      subjects: [{ kind: "User", name: bob.name }],
    } as { metadata: object });
    const attributes = {
      operation: "CREATE",
      definition: { group: GROUP, plural } as ResourceDefinition,
      subresource: "",
      namespace,
      name: "z",
      object: { metadata: { name: "z" }, ...object },
      user: bob,
    } as unknown as AdmissionAttributes;
    try {
      await escalationCheck(roles, rbac).mutate?.(attributes, () => {});
      return "allowed";
    } catch (error) {
      return (error as StatusError).status?.message ?? error;
    }
  }
  const who =
    'user "system:serviceaccount:team:bob" (groups=["system:serviceaccounts" "system:serviceaccounts:team" "system:authenticated"])';

  it("refuses rules that the writer does not hold, and names them", async () => {
    const rules = [
      { verbs: ["get", "delete", "create"], apiGroups: [""], resources: ["pods", "secrets"] },
      { verbs: ["x"], apiGroups: ["a", "b"], resources: ["q"], resourceNames: ["n1", "n2"] },
    ];
    expect(await refusedFor("roles", "team", { rules })).toBe(
      [
        `roles.rbac.authorization.k8s.io "z" is forbidden: ${who} is attempting to grant RBAC permissions not currently held:`,
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "create"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete" "create"]}',
        '{APIGroups:["a"], Resources:["q"], ResourceNames:["n1"], Verbs:["x"]}',
        '{APIGroups:["a"], Resources:["q"], ResourceNames:["n2"], Verbs:["x"]}',
        '{APIGroups:["b"], Resources:["q"], ResourceNames:["n1"], Verbs:["x"]}',
        '{APIGroups:["b"], Resources:["q"], ResourceNames:["n2"], Verbs:["x"]}',
      ].join("\n"),
    );
    expect(
      await refusedFor("clusterroles", "", { rules: [{ verbs: ["get"], nonResourceURLs: ["/zzz", "/version"] }] }),
    ).toBe(
      `clusterroles.rbac.authorization.k8s.io "z" is forbidden: ${who} is attempting to grant RBAC permissions not currently held:\n{NonResourceURLs:["/zzz"], Verbs:["get"]}`,
    );
  });

  it("allows rules that the writer holds, and any with the verb escalate", async () => {
    const held = [{ verbs: ["list"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] }];
    expect(await refusedFor("roles", "team", { rules: held })).toBe("allowed");
    const escalate = { verbs: ["escalate"], apiGroups: [GROUP], resources: ["roles"] };
    const more = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }];
    expect(await refusedFor("roles", "team", { rules: more }, [escalate])).toBe("allowed");
  });

  it("refuses an aggregation rule without full authority", async () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] };
    expect(await refusedFor("clusterroles", "", { rules: [], aggregationRule })).toBe(
      'clusterroles.rbac.authorization.k8s.io "z" is forbidden: must have cluster-admin privileges to use the aggregationRule',
    );
  });

  it("judges a binding by the rules of its role, and by the verb bind", async () => {
    const roleRef = (name: string, kind = "ClusterRole") => ({ roleRef: { apiGroup: GROUP, kind, name } });
    expect(await refusedFor("rolebindings", "team", roleRef("cluster-admin"))).toBe(
      `rolebindings.rbac.authorization.k8s.io "z" is forbidden: ${who} is attempting to grant RBAC permissions not currently held:\n{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}`,
    );
    expect(await refusedFor("rolebindings", "team", roleRef("view-pods"))).toBe("allowed");
    expect(await refusedFor("rolebindings", "team", roleRef("nono"))).toBe(
      'rolebindings.rbac.authorization.k8s.io "nono" not found',
    );
    expect(await refusedFor("rolebindings", "team", roleRef("nono", "Foo"))).toBe(
      'unsupported role reference kind: "Foo"',
    );
    const bind = { verbs: ["bind"], apiGroups: [GROUP], resources: ["clusterroles"], resourceNames: ["cluster-admin"] };
    expect(await refusedFor("clusterrolebindings", "", roleRef("cluster-admin"), [bind])).toBe("allowed");
  });
});
