import { systemClock } from "setpoint/clock";
import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const as = (user: string, ...groups: string[]): { headers: Record<string, string | readonly string[]> } => ({
  headers: { "impersonate-user": user, ...(groups.length > 0 ? { "impersonate-group": groups } : {}) },
});
const configMaps = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;

async function grant(s: Session, user: string, rules: readonly object[]): Promise<void> {
  await s.post(`${rbac}/namespaces/${s.namespace}/roles`, { metadata: { name: `r-${user}` }, rules }, { silent: true });
  await s.post(
    `${rbac}/namespaces/${s.namespace}/rolebindings`,
    {
      metadata: { name: `b-${user}` },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: `r-${user}` },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }],
    },
    { silent: true },
  );
}

/** Polls until access is as wanted: the real server's authorizer learns of roles by a watch. */
async function until(s: Session, path: string, user: string, status: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if ((await s.get(path, { ...as(user), silent: true })).status === status) return;
    await systemClock.sleep(50);
  }
}

export const rbacCases = area("access", {
  "a user without rights": async (s) => {
    await s.get(configMaps(s), as("nobody"));
    await s.get(`${configMaps(s)}/a`, as("nobody"));
    await s.post(configMaps(s), { metadata: { name: "a" } }, as("nobody"));
    await s.get("/api/v1/nodes", as("nobody"));
    await s.get("/apis/apps/v1/deployments", as("nobody"));
    await s.delete(configMaps(s), undefined, as("nobody"));
    await s.get("/metrics", as("nobody"));
  },
  "a role gives just its verbs": async (s) => {
    await grant(s, "reader", [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] }]);
    await until(s, configMaps(s), "reader", 200);
    await s.get(`${configMaps(s)}/none`, as("reader"));
    await s.post(configMaps(s), { metadata: { name: "a" } }, as("reader"));
    await s.get(`/api/v1/namespaces/${s.namespace}/secrets`, as("reader"));
    await s.get("/api/v1/namespaces/default/configmaps", as("reader"));
  },
  "a role by resource name": async (s) => {
    await grant(s, "one", [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"], verbs: ["get"] }]);
    await until(s, `${configMaps(s)}/mine`, "one", 404);
    await s.get(`${configMaps(s)}/other`, as("one"));
    await s.get(configMaps(s), as("one"));
  },
  "a role for subresources": async (s) => {
    const deployments = `/apis/apps/v1/namespaces/${s.namespace}/deployments`;
    await grant(s, "scaler", [{ apiGroups: ["apps"], resources: ["deployments/scale"], verbs: ["get", "patch"] }]);
    await until(s, `${deployments}/none/scale`, "scaler", 404);
    await s.get(`${deployments}/none`, as("scaler"));
    await s.get(`${deployments}/none/status`, as("scaler"));
  },
  groups: async (s) => {
    await s.get("/api/v1/nodes?limit=1&fieldSelector=metadata.name%3Dnone", as("someone", "system:masters"));
    await s.get("/api/v1/nodes", as("someone", "devs", "system:authenticated"));
  },
  "everyone may discover": async (s) => {
    for (const path of ["/version", "/healthz"])
      s.note(path, (await s.get(path, { ...as("nobody", "system:authenticated"), silent: true })).status);
    s.note("/api", (await s.get("/api", { ...as("nobody", "system:authenticated"), silent: true })).status);
  },
  "roles cannot escalate": async (s) => {
    const rules = [
      {
        apiGroups: ["rbac.authorization.k8s.io"],
        resources: ["roles", "rolebindings"],
        verbs: ["create", "update", "get", "patch"],
      },
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
    ];
    await grant(s, "admin", rules);
    await until(s, `${rbac}/namespaces/${s.namespace}/roles/none`, "admin", 404);
    const role = (name: string, verbs: readonly string[]): object => ({
      metadata: { name },
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs }],
    });
    await s.post(`${rbac}/namespaces/${s.namespace}/roles`, role("ok", ["get"]), as("admin"));
    await s.post(`${rbac}/namespaces/${s.namespace}/roles`, role("too-much", ["get", "delete"]), as("admin"));
    const binding = (name: string, roleRef: object): object => ({
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", ...roleRef },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "x" }],
    });
    await s.post(
      `${rbac}/namespaces/${s.namespace}/rolebindings`,
      binding("b", { kind: "Role", name: "ok" }),
      as("admin"),
    );
    await s.post(
      `${rbac}/namespaces/${s.namespace}/rolebindings`,
      binding("c", { kind: "ClusterRole", name: "cluster-admin" }),
      as("admin"),
    );
  },
  "a role binding keeps its role": async (s) => {
    await grant(s, "u", []);
    await s.patch("merge", `${rbac}/namespaces/${s.namespace}/rolebindings/b-u`, {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "other" },
    });
  },
  "aggregated cluster roles": async (s) => {
    const name = `agg-${s.namespace}`;
    await s.post(
      `${rbac}/clusterroles`,
      { metadata: { name }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { into: name } }] }, rules: [] },
      { silent: true },
    );
    await s.post(
      `${rbac}/clusterroles`,
      {
        metadata: { name: `${name}-part`, labels: { into: name } },
        rules: [{ apiGroups: ["x.io"], resources: ["things"], verbs: ["get"] }],
      },
      { silent: true },
    );
    const reply = await s.eventually(`${rbac}/clusterroles/${name}`, (one) => one.body.rules?.length === 1);
    s.note("rules", reply.body.rules);
    await s.delete(`${rbac}/clusterroles/${name}`, undefined, { silent: true });
    await s.delete(`${rbac}/clusterroles/${name}-part`, undefined, { silent: true });
  },
  "a wrong token": async (s) => {
    await s.get("/api/v1/namespaces", { token: "wrong" });
    await s.get("/api/v1/namespaces", { token: null });
    await s.get("/version", { token: null, silent: true }).then((reply) => s.note("version", reply.status));
  },
  "impersonation needs the right": async (s) => {
    const { body } = await s.post(
      `/api/v1/namespaces/${s.namespace}/serviceaccounts`,
      { metadata: { name: "weak" } },
      { silent: true },
    );
    s.note("made", body.metadata.name);
    const token = await s.post(
      `/api/v1/namespaces/${s.namespace}/serviceaccounts/weak/token`,
      { spec: {} },
      { silent: true },
    );
    await s.get(configMaps(s), { token: token.body.status.token, ...as("admin") });
    await s.get(configMaps(s), { headers: { "impersonate-group": "system:masters" } });
  },
  "the bootstrap roles are there": async (s) => {
    for (const name of ["cluster-admin", "admin", "edit", "view", "system:discovery", "system:basic-user"]) {
      const { body, status } = await s.get(`${rbac}/clusterroles/${name}`, { silent: true });
      s.note(name, [status, body.rules, body.aggregationRule, body.metadata?.labels]);
    }
  },
});

const review = (group: string, kind: string, spec: object): object => ({ apiVersion: `${group}/v1`, kind, spec });
const authorization = "/apis/authorization.k8s.io/v1";
const authentication = "/apis/authentication.k8s.io/v1";

export const reviewCases = area("reviews", {
  "what may I do": async (s) => {
    await s.post(
      `${authorization}/selfsubjectaccessreviews`,
      review("authorization.k8s.io", "SelfSubjectAccessReview", {
        resourceAttributes: { verb: "get", resource: "pods", namespace: "default" },
      }),
    );
    await s.post(
      `${authorization}/selfsubjectaccessreviews`,
      review("authorization.k8s.io", "SelfSubjectAccessReview", {
        resourceAttributes: { verb: "get", resource: "pods" },
      }),
      as("nobody", "system:authenticated"),
    );
    await s.post(
      `${authorization}/selfsubjectaccessreviews`,
      review("authorization.k8s.io", "SelfSubjectAccessReview", {
        nonResourceAttributes: { verb: "get", path: "/metrics" },
      }),
      as("nobody", "system:authenticated"),
    );
  },
  "what may another do": async (s) => {
    await s.post(
      `${authorization}/subjectaccessreviews`,
      review("authorization.k8s.io", "SubjectAccessReview", {
        user: "nobody",
        resourceAttributes: { verb: "get", resource: "pods", namespace: "default" },
      }),
    );
    await s.post(
      `${authorization}/subjectaccessreviews`,
      review("authorization.k8s.io", "SubjectAccessReview", {
        user: "x",
        groups: ["system:masters"],
        resourceAttributes: { verb: "*", resource: "*" },
      }),
    );
  },
  "a review that is incomplete": async (s) => {
    await s.post(`${authorization}/subjectaccessreviews`, review("authorization.k8s.io", "SubjectAccessReview", {}));
    await s.post(
      `${authorization}/subjectaccessreviews`,
      review("authorization.k8s.io", "SubjectAccessReview", {
        user: "x",
        resourceAttributes: {},
        nonResourceAttributes: {},
      }),
    );
    await s.post(
      `${authorization}/selfsubjectaccessreviews`,
      review("authorization.k8s.io", "SelfSubjectAccessReview", {}),
    );
  },
  "a local review": async (s) => {
    const path = `${authorization}/namespaces/${s.namespace}/localsubjectaccessreviews`;
    await s.post(
      path,
      review("authorization.k8s.io", "LocalSubjectAccessReview", {
        user: "x",
        resourceAttributes: { namespace: s.namespace, verb: "get", resource: "pods" },
      }),
    );
    await s.post(
      path,
      review("authorization.k8s.io", "LocalSubjectAccessReview", {
        user: "x",
        resourceAttributes: { namespace: "other", verb: "get", resource: "pods" },
      }),
    );
  },
  "who am I": async (s) => {
    await s.post(
      `${authentication}/selfsubjectreviews`,
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      as("me", "devs", "system:authenticated"),
    );
  },
  "my rules": async (s) => {
    await grant(s, "reader", [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }]);
    await until(s, `${configMaps(s)}/none`, "reader", 404);
    const { body } = await s.post(
      `${authorization}/selfsubjectrulesreviews`,
      review("authorization.k8s.io", "SelfSubjectRulesReview", { namespace: s.namespace }),
      { ...as("reader"), silent: true },
    );
    const inOrder = (rules: readonly object[]): readonly string[] => rules.map((rule) => JSON.stringify(rule)).sort();
    s.note("rules", [
      inOrder(body.status.resourceRules),
      inOrder(body.status.nonResourceRules),
      body.status.incomplete,
    ]);
    await s.post(
      `${authorization}/selfsubjectrulesreviews`,
      review("authorization.k8s.io", "SelfSubjectRulesReview", {}),
      as("reader"),
    );
  },
  "a token of a service account": async (s) => {
    const accounts = `/api/v1/namespaces/${s.namespace}/serviceaccounts`;
    await s.post(accounts, { metadata: { name: "bot" } });
    const made = await s.post(
      `${accounts}/bot/token`,
      { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } },
      { silent: true },
    );
    s.note("token", [
      made.status,
      made.body.kind,
      made.body.spec.expirationSeconds,
      made.body.spec.audiences?.length,
      typeof made.body.status.token,
    ]);
    const token = made.body.status.token as string;
    const checked = await s.post(
      `${authentication}/tokenreviews`,
      { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } },
      { silent: true },
    );
    s.note("review", [
      checked.status,
      checked.body.status.authenticated,
      checked.body.status.user.username,
      checked.body.status.user.groups,
      Object.keys(checked.body.status.user.extra ?? {}).sort(),
    ]);
    const self = await s.post(
      `${authentication}/selfsubjectreviews`,
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      { token, silent: true },
    );
    s.note("self", [self.status, self.body.status?.userInfo.username, self.body.status?.userInfo.groups]);
    await s.get(configMaps(s), { token });
  },
  "a token that cannot be": async (s) => {
    const accounts = `/api/v1/namespaces/${s.namespace}/serviceaccounts`;
    await s.post(accounts, { metadata: { name: "bot" } }, { silent: true });
    await s.post(`${accounts}/none/token`, { spec: {} });
    await s.post(`${accounts}/bot/token`, { spec: { expirationSeconds: 5 } });
    await s.post(`${accounts}/bot/token`, {
      spec: { boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "none" } },
    });
  },
  "a token ends with its account": async (s) => {
    const accounts = `/api/v1/namespaces/${s.namespace}/serviceaccounts`;
    await s.post(accounts, { metadata: { name: "bot" } }, { silent: true });
    const made = await s.post(`${accounts}/bot/token`, { spec: {} }, { silent: true });
    await s.delete(`${accounts}/bot`, undefined, { silent: true });
    let reply = await s.get(configMaps(s), { token: made.body.status.token, silent: true });
    for (let tries = 0; tries < 300 && reply.status !== 401; tries++) {
      await systemClock.sleep(50);
      reply = await s.get(configMaps(s), { token: made.body.status.token, silent: true });
    }
    s.note("after", [reply.status, (reply.body as Body).message]);
  },
  "a token review of nonsense": async (s) => {
    await s.post(`${authentication}/tokenreviews`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: { token: "nonsense" },
    });
    await s.post(`${authentication}/tokenreviews`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: {},
    });
  },
  "reviews are not kept": async (s) => {
    await s.get(`${authorization}/subjectaccessreviews`);
    await s.get(`${authentication}/tokenreviews/x`);
  },
});
