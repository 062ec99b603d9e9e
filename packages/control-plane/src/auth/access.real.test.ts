import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { apiOf } from "../../../../tools/harvest/api.mjs";
import { startKubernetes } from "../../../../tools/kubernetes/start.mjs";
import { controlPlane } from "../control-plane.js";

type Case = readonly [method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>];

const N = "case";
const A = "/apis/authorization.k8s.io/v1";
const AU = "/apis/authentication.k8s.io/v1";
const RB = "/apis/rbac.authorization.k8s.io/v1";
const AR = "/apis/admissionregistration.k8s.io/v1";
const CS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const sa = `/api/v1/namespaces/${N}/serviceaccounts`;
const imp = (user: string, more: object = {}): Record<string, string> => ({ "impersonate-user": user, ...more });

/** Sent to both servers in this order. */
const CASES: readonly Case[] = [
  ["POST", sa, { metadata: { name: "bob" } }],
  ["POST", `${sa}/bob/token`, {}],
  ["POST", `${sa}/bob/token`, { spec: { audiences: ["a", "b"], expirationSeconds: 601 } }],
  ["POST", `${sa}/bob/token`, { spec: { audiences: "x" } }],
  ["POST", `${sa}/bob/token`, { kind: "Pod", apiVersion: "v1" }],
  ["POST", `${sa}/bob/token`, { spec: { expirationSeconds: -1 } }],
  ["POST", `${sa}/bob/token?fieldValidation=Strict`, { spec: { zzz: 1 } }],
  ["POST", `${sa}/bob/token`, { spec: { zzz: 1 } }],
  ["GET", `${sa}/bob/token`],
  ["PUT", `${sa}/bob/token`, {}],
  ["POST", `${sa}/bob/token`, { metadata: { uid: "x" } }],
  ["POST", `${sa}/bob/token`, ""],
  ["POST", `${sa}/bob/token`, { spec: { boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "s" } } }],
  ["POST", `${sa}/bob/token`, { spec: { boundObjectRef: { kind: "Deployment", apiVersion: "apps/v1", name: "s" } } }],
  ["POST", `/api/v1/namespaces/nope/serviceaccounts/bob/token`, {}],
  [
    "POST",
    `${A}/selfsubjectaccessreviews`,
    {
      spec: {
        resourceAttributes: {
          verb: "get",
          resource: "pods",
          labelSelector: { requirements: [{ key: "a", operator: "In", values: ["b"] }] },
        },
      },
    },
  ],
  [
    "POST",
    `${A}/selfsubjectaccessreviews`,
    { spec: { zzz: 1, resourceAttributes: { verb: "get", resource: "pods" } } },
  ],
  ["GET", `${A}/selfsubjectaccessreviews`],
  [
    "POST",
    `${A}/selfsubjectaccessreviews?dryRun=All`,
    { spec: { resourceAttributes: { verb: "get", resource: "pods" } } },
  ],
  [
    "POST",
    `${A}/selfsubjectaccessreviews?dryRun=x`,
    { spec: { resourceAttributes: { verb: "get", resource: "pods" } } },
  ],
  [
    "POST",
    `${A}/subjectaccessreviews`,
    { spec: { user: "u", groups: ["system:masters"], nonResourceAttributes: { path: "/x", verb: "get" } } },
  ],
  [
    "POST",
    `${A}/subjectaccessreviews`,
    { spec: { groups: ["g"], extra: { a: ["b"] }, uid: "5", resourceAttributes: {} } },
  ],
  ["POST", `${A}/selfsubjectrulesreviews`, { spec: { namespace: N } }, imp("nobody")],
  ["POST", `${AU}/tokenreviews`, { spec: { token: "zzz", audiences: ["a"] } }],
  ["POST", `${AU}/tokenreviews`, {}],
  ["POST", `${AU}/selfsubjectreviews`, {}],
  ["POST", `${AU}/selfsubjectreviews`, {}, imp("ann", { "impersonate-group": "g", "impersonate-extra-a.b%2Fc": "1" })],
  ["GET", "/api/v1/pods", undefined, imp("ann")],
  ["GET", "/api/v1/nodes/n", undefined, imp("system:node:n")],
  ["GET", "/nope", undefined, imp("ann")],
  ["GET", `/api/v1/namespaces/${N}`, undefined, imp("ann")],
  ["DELETE", `/api/v1/namespaces/${N}/pods`, undefined, imp("ann")],
  [
    "PATCH",
    `/apis/apps/v1/namespaces/${N}/deployments/x/scale`,
    {},
    imp("ann", { "content-type": "application/merge-patch+json" }),
  ],
  ["GET", "/api/v1/pods", undefined, { "impersonate-extra-x": "y" }],
  ["GET", "/api/v1/watch/pods", undefined, imp("ann")],
  ["HEAD", "/api/v1/pods", undefined, imp("ann")],
  ["OPTIONS", "/api/v1/pods", undefined, imp("ann")],
  ["GET", "/api/v1/namespaces/x/pods/p/log", undefined, imp("ann")],
  ["GET", "/apis/x.y/v1/foos", undefined, imp("ann")],
  ["POST", "/api/v1/namespaces/x/pods/p/exec", undefined, imp("ann")],
  ["GET", "/healthz/x", undefined, imp("ann")],
  [
    "POST",
    `${RB}/namespaces/${N}/roles`,
    { metadata: { name: "r1" }, rules: [{ verbs: [], apiGroups: [""], resources: ["x"] }] },
  ],
  [
    "POST",
    `${RB}/namespaces/${N}/roles`,
    { metadata: { name: "r1" }, rules: [{ verbs: ["get"], nonResourceURLs: ["/x"], apiGroups: [""] }] },
  ],
  ["POST", `${RB}/namespaces/${N}/roles`, { metadata: { name: "r1" }, rules: [{ verbs: ["get"] }] }],
  ["POST", `${RB}/namespaces/${N}/roles`, { metadata: { name: "a/b" }, rules: [] }],
  ["POST", `${RB}/namespaces/${N}/roles`, { metadata: { name: "r:1" } }],
  ["POST", `${RB}/clusterroles?dryRun=All`, { metadata: { name: "q1" }, aggregationRule: {} }],
  [
    "POST",
    `${RB}/clusterroles?dryRun=All`,
    { metadata: { name: "q1" }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } },
  ],
  ["POST", `${RB}/namespaces/${N}/rolebindings`, { metadata: { name: "b1" } }],
  [
    "POST",
    `${RB}/namespaces/${N}/rolebindings`,
    {
      metadata: { name: "b1" },
      roleRef: { kind: "Role", name: "x" },
      subjects: [
        { kind: "User" },
        { kind: "ServiceAccount", name: "A_", apiGroup: "z" },
        { kind: "Foo", name: "x" },
        { kind: "Group", name: "g", apiGroup: "z" },
      ],
    },
  ],
  [
    "POST",
    `${RB}/namespaces/${N}/rolebindings`,
    {
      metadata: { name: "b1" },
      roleRef: { kind: "Role", name: "x", apiGroup: "rbac.authorization.k8s.io" },
      subjects: [
        { kind: "User", name: "u" },
        { kind: "ServiceAccount", name: "s" },
      ],
    },
  ],
  [
    "PUT",
    `${RB}/namespaces/${N}/rolebindings/b1`,
    { metadata: { name: "b1" }, roleRef: { kind: "Role", name: "y" }, subjects: [] },
  ],
  [
    "POST",
    `${RB}/clusterrolebindings?dryRun=All`,
    {
      metadata: { name: "q1" },
      roleRef: { kind: "Role", name: "x" },
      subjects: [{ kind: "ServiceAccount", name: "s" }],
    },
  ],
  [
    "POST",
    `${AR}/mutatingwebhookconfigurations?dryRun=All`,
    {
      metadata: { name: "q1" },
      webhooks: [
        {
          name: "a.b.c",
          admissionReviewVersions: ["v1", "v1", "V2"],
          sideEffects: "None",
          reinvocationPolicy: "X",
          matchPolicy: "Y",
          failurePolicy: "Z",
          clientConfig: { url: "https://u:p@h/x?y=1#f", service: null },
          rules: [
            {
              apiGroups: ["*", "a"],
              apiVersions: [],
              resources: ["*", "pods", "pods/*", "pods/x", "*/*"],
              operations: ["*", "FOO"],
              scope: "Bar",
            },
          ],
        },
      ],
    },
  ],
  [
    "POST",
    `${AR}/mutatingwebhookconfigurations?dryRun=All`,
    {
      metadata: { name: "q1" },
      webhooks: [{ name: "", clientConfig: { service: { name: "n", namespace: "", path: "x//Y", port: 0 } } }],
    },
  ],
  [
    "POST",
    `${AR}/mutatingwebhookconfigurations?dryRun=All`,
    {
      metadata: { name: "q1" },
      webhooks: [
        {
          name: "a.b.c",
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          clientConfig: { service: { name: "n", namespace: "x", path: "/a/b" } },
          rules: [{ apiGroups: ["*"], apiVersions: ["v1"], resources: ["*"], operations: ["*"] }],
        },
      ],
    },
  ],
  ["POST", `${AR}/validatingwebhookconfigurations?dryRun=All`, { metadata: { name: "q1" } }],
  ["POST", `${CS}?dryRun=All`, { metadata: { name: "q" }, spec: {} }],
  [
    "POST",
    `${CS}?dryRun=All`,
    {
      metadata: { name: "q" },
      spec: { request: "eA==", signerName: "kubernetes.io/kube-apiserver-client", usages: ["client auth"] },
    },
  ],
  ["DELETE", "/api/v1/namespaces/kube-system"],
  ["POST", "/api/v1/namespaces/nope/configmaps", { metadata: { name: "x" } }],
  ["PUT", "/api/v1/namespaces/nope/configmaps/x", { metadata: { name: "x" } }],
  [
    "PATCH",
    "/api/v1/namespaces/nope/configmaps/x?fieldManager=m",
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } },
    { "content-type": "application/apply-patch+yaml" },
  ],
  ["POST", "/openid/v1/jwks", {}],
  ["GET", "/openid/v1/jwks/x"],
  ["GET", "/api/v1/pods", undefined, { authorization: "Bearer x.y.z" }],
  ["GET", "/api/v1/pods", undefined, { authorization: "Bearer" }],
  ["GET", "/api/v1/pods", undefined, { authorization: "Bearer " }],
  ["GET", "/version", undefined, { authorization: "Bearer zz" }],
];

/** Values that each server assigns, or that depend on its keys. */
const ASSIGNED = new Set(["uid", "resourceVersion", "creationTimestamp", "time", "token", "expirationTimestamp"]);
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

function normalised(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalised);
  if (typeof value === "string") return value.replace(UUID, "<uuid>").replace(/"time":"[^"]*"/g, "");
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !ASSIGNED.has(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, key.endsWith("Rules") ? sorted(item) : normalised(item)]));
}

/** A review lists rules in no particular order. */
function sorted(rules: unknown): unknown {
  return Array.isArray(rules) ? rules.map((rule) => JSON.stringify(rule)).sort() : rules;
}

it("answers access reviews like a real server", { timeout: 1_800_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-access-"));
  const admin = { name: "admin", uid: "admin", groups: ["system:masters"] };
  const plane = await controlPlane({ listen: {}, tokens: new Map([["secret", admin]]) });
  const authority = /certificate-authority-data: (\S+)/.exec(plane.kubeconfig!)![1];
  const cluster = { server: plane.url, "certificate-authority-data": authority };
  const config = { clusters: [{ cluster }], users: [{ user: { token: "secret" } }] };
  writeFileSync(join(folder, "kubeconfig"), JSON.stringify(config), { mode: 0o600 });
  const real = await startKubernetes({ controllerManager: true });
  const apis = [apiOf(join(folder, "kubeconfig")), apiOf(real.kubeconfig)] as const;
  try {
    const ask = async (api: (typeof apis)[number], [method, path, body, headers = {}]: Case): Promise<unknown> => {
      const answer = await api.call(method, path, { body, headers: { "user-agent": "harvest", ...headers } });
      return normalised({ status: answer.status, warning: answer.headers.warning, body: answer.body });
    };
    for (const each of [["POST", "/api/v1/namespaces", { metadata: { name: N } }] as Case, ...CASES]) {
      const [ours, theirs] = [await ask(apis[0], each), await ask(apis[1], each)];
      expect(ours, JSON.stringify(each)).toEqual(theirs);
    }
  } finally {
    for (const api of apis) api.close();
    await real.stop();
    await plane.stop();
    rmSync(folder, { recursive: true });
  }
});
