import { describe, expect, it } from "vitest";
import { z } from "zod";
import { validating } from "../app/admission.js";
import { app } from "../app/app.js";
import { kindRoute } from "../app/routes/route.js";
import { controller, mapped, scoped } from "../controller/controller.js";
import type { RbacRule } from "../controller/rbac-rule.js";
import { watcher } from "../controller/watcher.js";
import { Deployment } from "../kinds/builtin/apps/v1.js";
import { ConfigMap, Namespace, Secret } from "../kinds/builtin/v1.js";
import { resource } from "../kinds/resource.js";
import { rbacManifests, rbacRules } from "./rbac.js";

const Website = resource("web.example.com/v1/Website", { spec: z.object({}), status: z.object({ ready: z.int() }) });
const Plain = resource("web.example.com/v1/Plain", { spec: z.object({}) });

const short = (rules: readonly RbacRule[]): readonly string[] =>
  rules.map(({ cluster, namespace, resources, resourceNames, verbs }) => {
    const place = [cluster, namespace].filter((each) => each !== undefined).join(" ");
    return `${place ? `[${place}] ` : ""}${resources}${resourceNames ? `=${resourceNames}` : ""}: ${verbs.join(" ")}`;
  });
const reconcile = (): undefined => undefined;

describe("the rules of workloads", () => {
  it("allow reading, writing owned kinds, status and events", () => {
    const websites = controller(Website, { owns: [Deployment], uses: [ConfigMap], reconcile });
    expect(short(rbacRules([websites]))).toEqual([
      "websites: get list watch",
      "websites/status: patch",
      "websites/finalizers: update",
      "deployments: get list watch create patch delete",
      "configmaps: get list watch",
      "events: create patch",
    ]);
  });

  it("patch the object itself only for delete logic, and its status only if it has one", () => {
    const plain = controller(Plain, { reconcile, finalize: reconcile });
    expect(short(rbacRules([plain]))).toEqual(["plains: get list watch patch", "events: create patch"]);
    const namespaces = controller(Namespace, { reconcile });
    expect(short(rbacRules([namespaces]))).toEqual(["namespaces: get list watch", "[default] events: create patch"]);
  });

  it("include those that a workload or an app names", () => {
    const bind = { apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], resourceNames: ["edit"] };
    const plains = controller(Plain, { reconcile, permissions: [{ ...bind, verbs: ["bind"] }] });
    const evictions = { apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] };
    const web = app({ name: "web", kinds: [Plain], loops: [plains], permissions: [evictions] });
    expect(short(rbacRules([web], { installs: false }))).toEqual([
      ...["plains: get list watch", "events: create patch", "clusterroles=edit: bind", "pods/eviction: create"],
    ]);
    const tokens = { namespace: "a", apiGroups: [""], resources: ["serviceaccounts/token"], verbs: ["create"] };
    expect(short(rbacRules([watcher(Plain, { permissions: [tokens] })]))).toEqual([
      ...["plains: get list watch", "[a] serviceaccounts/token: create"],
    ]);
  });

  it("apply in the declared namespaces, unless a kind is cluster-scoped", () => {
    const limited = controller(Website, {
      namespaces: ["a", "b"],
      uses: [scoped(Secret, { namespaces: ["vault"] }), Namespace],
      watches: [mapped(ConfigMap, () => [], { namespaces: "all" })],
      reconcile,
    });
    expect(short(rbacRules([limited]))).toEqual([
      "[a] websites: get list watch",
      "[b] websites: get list watch",
      "[a] websites/status: patch",
      "[b] websites/status: patch",
      "[vault] secrets: get list watch",
      "namespaces: get list watch",
      "configmaps: get list watch",
      "[a] events: create patch",
      "[b] events: create patch",
    ]);
  });

  it("apply everywhere for a watcher of all namespaces, stated or not", () => {
    const rules = rbacRules([watcher(ConfigMap, { namespaces: "all" })]);
    expect(rules).toEqual(rbacRules([watcher(ConfigMap, {})]));
  });

  it("apply everywhere for namespaces that are selected by label, and let these be watched", () => {
    const rules = rbacRules([
      controller(Website, { namespaces: { labelSelector: "team=web" }, reconcile: () => undefined }),
    ]);
    expect(rules).toContainEqual({ apiGroups: [""], resources: ["namespaces"], verbs: ["get", "list", "watch"] });
    expect(rules.every(({ namespace }) => namespace === undefined)).toBe(true);
  });

  it("include declared writes of used kinds, and keep clusters apart", () => {
    const one = controller(Plain, {
      uses: [
        scoped(Namespace, { writes: ["patch", "status"] }),
        scoped(Secret, { namespaces: "all", cluster: "edge" }),
      ],
      reconcile,
    });
    expect(short(rbacRules([one]))).toEqual([
      "plains: get list watch",
      "namespaces: get list watch patch",
      "[edge] secrets: get list watch",
      "namespaces/status: patch",
      "events: create patch",
    ]);
  });

  it("allow a controller with children in other clusters to identify its own cluster by kube-system", () => {
    const elsewhere = controller(Plain, {
      owns: [scoped(Secret, { namespaces: "all", cluster: "edge" })],
      reconcile,
    });
    expect(short(rbacRules([elsewhere]))).toEqual([
      "plains: get list watch",
      "plains/finalizers: update",
      "[edge] secrets: get list watch create patch delete",
      "events: create patch",
      "namespaces=kube-system: get",
    ]);
  });

  it("include declared writes of its own kind", () => {
    const own = controller(Plain, { writes: ["patch", "delete"], reconcile });
    expect(short(rbacRules([own]))).toEqual(["plains: get list watch patch delete", "events: create patch"]);
  });

  it("merge several workloads, and leave out in a namespace what applies everywhere", () => {
    const rules = rbacRules([
      watcher(ConfigMap, { namespaces: ["a"], finalizer: "example.com/hold" }),
      watcher(ConfigMap, { name: "all" }),
      watcher(ConfigMap, { name: "b", namespaces: ["b"] }),
    ]);
    expect(short(rules)).toEqual(["[a] configmaps: get list watch patch", "configmaps: get list watch"]);
  });

  it("include the Lease by its name, and reviews if the manager needs them", () => {
    const options = { leaderElection: { name: "op", namespace: "ops" }, reviewsAccess: true };
    expect(short(rbacRules([], options))).toEqual([
      "[ops] leases: create",
      "[ops] leases=op: get update",
      "tokenreviews: create",
      "subjectaccessreviews: create",
    ]);
  });
});

describe("the rules of apps", () => {
  const shops = app({
    name: "shops",
    kinds: [Plain],
    validate: [validating(Plain, { create: () => {} })],
    routes: [kindRoute(Plain, { path: "total", handle: () => undefined })],
    givenUp: [{ kind: Website, finalizer: "example.com/old" }],
  });

  it("include their loops, and what they install, serve and give up", () => {
    expect(short(rbacRules([shops], { service: { namespace: "ops", name: "hooks" } }))).toEqual([
      "websites: list patch",
      "customresourcedefinitions: create",
      "customresourcedefinitions=plains.web.example.com: get list watch update",
      "validatingwebhookconfigurations: create",
      "validatingwebhookconfigurations=shops: get list watch patch delete",
      "mutatingwebhookconfigurations=shops: get delete",
      "[ops] secrets: create",
      "[ops] secrets=hooks-webhook-certificate: get update",
      "tokenreviews: create",
      "subjectaccessreviews: create",
    ]);
  });

  it("need nothing for what somebody else installs", () => {
    const rules = short(rbacRules([shops], { installs: false }));
    expect(rules.filter((rule) => rule.startsWith("custom") || rule.startsWith("valid"))).toEqual([]);
  });
});

it("creates a ServiceAccount, and a role with its binding for each place", () => {
  const rules = rbacRules([
    controller(Namespace, { uses: [scoped(Secret, { namespaces: ["a"], cluster: "edge" })], reconcile }),
  ]);
  const manifests = rbacManifests(rules, { name: "op", namespace: "ops" });
  expect(manifests.map(({ kind, metadata }) => [kind, metadata])).toEqual([
    ["ServiceAccount", { name: "op", namespace: "ops" }],
    ["ClusterRole", { name: "op" }],
    ["ClusterRoleBinding", { name: "op" }],
    ["Role", { name: "op", namespace: "default" }],
    ["RoleBinding", { name: "op", namespace: "default" }],
  ]);
  expect(manifests[1]).toMatchObject({
    rules: [{ apiGroups: [""], resources: ["namespaces"], verbs: ["get", "list", "watch"] }],
  });
  expect(manifests[2]).toMatchObject({
    roleRef: { kind: "ClusterRole", name: "op" },
    subjects: [{ kind: "ServiceAccount", name: "op", namespace: "ops" }],
  });
  const elsewhere = rbacManifests(rules, { name: "op", namespace: "ops", cluster: "edge" });
  expect(elsewhere[1]).toMatchObject({ kind: "Role", metadata: { namespace: "a" } });
});
