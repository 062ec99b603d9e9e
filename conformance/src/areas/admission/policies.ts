import { systemClock } from "setpoint/clock";
import { area, type Case } from "../../case.js";
import type { Body, Reply, Session } from "../../session.js";

const registration = "/apis/admissionregistration.k8s.io/v1";
const configMaps = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;
const PROBE = "probe";

function verdict(s: Session, what: string, { status, body, headers }: Reply): void {
  const { message, reason, details } = (body ?? {}) as Body;
  const refusal = status >= 400 ? { message, reason, details } : {};
  s.note(what, { status, warning: headers.warning ?? null, ...refusal });
}

const policy = (s: Session, spec: object): Body => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicy",
  metadata: { name: s.namespace },
  spec: {
    matchConstraints: {
      resourceRules: [
        { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] },
      ],
    },
    ...spec,
  },
});

const binding = (s: Session, spec: object = {}): Body => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicyBinding",
  metadata: { name: s.namespace },
  spec: {
    policyName: s.namespace,
    validationActions: ["Deny"],
    matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": s.namespace } } },
    ...spec,
  },
});

/** A validation that refuses only the probe, which shows that the policy is in force. */
const PROBED = { expression: `object == null || object.metadata.name != '${PROBE}'`, message: "probed" };

/** Installs a policy with its binding, waits until it is in force, tries writes, and removes it. */
const withPolicy =
  (spec: Body, tries: (s: Session) => Promise<void>, bound: object = {}): Case["run"] =>
  async (s) => {
    const validations = [PROBED, ...(spec.validations ?? [])];
    await s.post(`${registration}/validatingadmissionpolicies`, policy(s, { ...spec, validations }), { silent: true });
    await s.post(`${registration}/validatingadmissionpolicybindings`, binding(s, bound), { silent: true });
    try {
      for (let calm = 0, asked = 0; calm < 3 && asked < 200; asked++) {
        const body = { metadata: { name: PROBE } };
        const { status, headers } = await s.post(`${configMaps(s)}?dryRun=All`, body, { silent: true });
        calm = status !== 201 || headers.warning !== undefined ? calm + 1 : 0;
        await systemClock.sleep(50);
      }
      await tries(s);
    } finally {
      await s.delete(`${registration}/validatingadmissionpolicybindings/${s.namespace}`, undefined, { silent: true });
      await s.delete(`${registration}/validatingadmissionpolicies/${s.namespace}`, undefined, { silent: true });
    }
  };

const create = async (s: Session, name: string, data: object = {}, extra: object = {}): Promise<void> =>
  verdict(s, `create ${name}`, await s.post(configMaps(s), { metadata: { name, ...extra }, data }, { silent: true }));
const merge = async (s: Session, name: string, patch: object): Promise<void> =>
  verdict(s, `patch ${name}`, await s.patch("merge", `${configMaps(s)}/${name}`, patch, { silent: true }));
const refusedPolicy =
  (spec: object): Case["run"] =>
  async (s) =>
    verdict(
      s,
      "policy",
      await s.post(`${registration}/validatingadmissionpolicies?dryRun=All`, policy(s, spec), { silent: true }),
    );
const refusedBinding =
  (spec: object): Case["run"] =>
  async (s) =>
    verdict(
      s,
      "binding",
      await s.post(`${registration}/validatingadmissionpolicybindings?dryRun=All`, binding(s, spec), { silent: true }),
    );

export const policyCases = area("admission policies", {
  "a validation refuses": withPolicy(
    { validations: [{ expression: "has(object.data) && object.data.a == 'x'" }] },
    async (s) => {
      await create(s, "a", { a: "x" });
      await create(s, "b", { a: "y" });
      await merge(s, "a", { data: { a: "z" } });
    },
  ),
  "messages and reasons": withPolicy(
    {
      validations: [
        { expression: "object.data.a != '1'", message: "not one" },
        { expression: "object.data.a != '2'", messageExpression: "'not ' + object.data.a", reason: "Forbidden" },
        { expression: "object.data.a != '3'", reason: "RequestEntityTooLarge" },
      ],
    },
    async (s) => {
      for (const a of ["1", "2", "3", "4", "5"]) await create(s, `a${a}`, { a });
    },
  ),
  "a warning instead of a refusal": withPolicy(
    { validations: [{ expression: "object.data.a == 'x'", message: "should be x" }] },
    async (s) => {
      await create(s, "a", { a: "y" });
    },
    { validationActions: ["Warn"] },
  ),
  variables: withPolicy(
    {
      variables: [
        { name: "names", expression: "object.data.map(k, k)" },
        { name: "many", expression: "variables.names.size() > 1" },
      ],
      validations: [{ expression: "!variables.many", messageExpression: "'keys: ' + string(variables.names.size())" }],
    },
    async (s) => {
      await create(s, "a", { a: "1" });
      await create(s, "b", { a: "1", b: "2" });
      await create(s, "c");
    },
  ),
  "an expression that cannot be evaluated": withPolicy(
    { validations: [{ expression: "object.nothing.here == 1" }] },
    async (s) => {
      await create(s, "a");
    },
  ),
  "the same where failing is allowed": withPolicy(
    { failurePolicy: "Ignore", validations: [{ expression: "object.nothing.here == 1" }] },
    async (s) => {
      await create(s, "a");
    },
  ),
  "match conditions": withPolicy(
    {
      matchConditions: [
        { name: "skipped", expression: "!has(object.metadata.labels) || !('skip' in object.metadata.labels)" },
      ],
      validations: [{ expression: "object.data.a == 'x'" }],
    },
    async (s) => {
      await create(s, "a", { a: "y" });
      await create(s, "b", { a: "y" }, { labels: { skip: "1" } });
    },
  ),
  "the request, its user and its namespace": withPolicy(
    {
      validations: [
        { expression: "request.operation == 'CREATE' && request.resource.resource == 'configmaps'" },
        { expression: "request.name == object.metadata.name && request.namespace == object.metadata.namespace" },
        { expression: "request.kind.kind == 'ConfigMap' && request.userInfo.groups.size() > 0 && !request.dryRun" },
        {
          expression: "namespaceObject.metadata.name == request.namespace && namespaceObject.status.phase == 'Active'",
        },
        { expression: "oldObject == null" },
        { expression: "object.data.a == 'x'" },
      ],
    },
    async (s) => {
      await create(s, "a", { a: "x" });
      await create(s, "b", { a: "y" });
    },
  ),
  "the authorizer": withPolicy(
    {
      validations: [
        { expression: "authorizer.group('').resource('pods').namespace('default').check('create').allowed()" },
        {
          expression:
            "authorizer.serviceAccount('default', 'nobody').group('').resource('secrets').check('list').allowed()",
          message: "nobody may not list secrets",
        },
      ],
    },
    async (s) => {
      await create(s, "a");
    },
  ),
  "params by name": async (s) => {
    await s.post(configMaps(s), { metadata: { name: "limits" }, data: { max: "2" } }, { silent: true });
    await withPolicy(
      {
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        validations: [{ expression: "object.metadata.name == 'limits' || object.data.size() <= int(params.data.max)" }],
      },
      async (inner) => {
        await create(inner, "a", { a: "1", b: "2" });
        await create(inner, "b", { a: "1", b: "2", c: "3" });
      },
      { paramRef: { name: "limits", parameterNotFoundAction: "Deny" } },
    )(s);
  },
  "params that are not there": withPolicy(
    {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      validations: [{ expression: "params != null" }],
    },
    async (s) => {
      await create(s, "a");
    },
    { paramRef: { name: "nowhere", parameterNotFoundAction: "Deny" } },
  ),
  "params by selector": async (s) => {
    for (const max of ["1", "3"])
      await s.post(
        configMaps(s),
        { metadata: { name: `max${max}`, labels: { role: "limits" } }, data: { max } },
        { silent: true },
      );
    await withPolicy(
      {
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        validations: [
          {
            expression: "object.data.size() <= int(params.data.max)",
            messageExpression: "'at most ' + params.data.max",
          },
        ],
      },
      async (inner) => {
        await create(inner, "a", { a: "1" });
        await create(inner, "b", { a: "1", b: "2" });
      },
      { paramRef: { selector: { matchLabels: { role: "limits" } }, parameterNotFoundAction: "Deny" } },
    )(s);
  },
  "resources that are excluded": withPolicy(
    {
      validations: [{ expression: "false", message: "never" }],
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["*"], operations: ["*"], resources: ["configmaps"] }],
        excludeResourceRules: [
          {
            apiGroups: [""],
            apiVersions: ["*"],
            operations: ["*"],
            resources: ["configmaps"],
            resourceNames: ["free"],
          },
        ],
      },
    },
    async (s) => {
      await create(s, "free");
      await create(s, "bound");
    },
  ),
  "a policy that does not compile": refusedPolicy({
    validations: [
      { expression: "object.a +" },
      { expression: "1" },
      { expression: "nothing == 1", messageExpression: "1" },
    ],
  }),
  "a policy without rules or validations": refusedPolicy({ matchConstraints: {}, validations: [] }),
  "variables that do not compile": refusedPolicy({
    variables: [
      { name: "a-b", expression: "1" },
      { name: "c", expression: "variables.d" },
      { name: "", expression: "" },
    ],
    validations: [{ expression: "variables.c == 1", reason: "Nonsense" }],
  }),
  "conditions that do not compile": refusedPolicy({
    matchConditions: [
      { name: "a", expression: "1" },
      { name: "a", expression: "true" },
      { name: "", expression: "" },
    ],
    validations: [{ expression: "true" }],
  }),
  "annotations that do not compile": refusedPolicy({
    auditAnnotations: [
      { key: "a", valueExpression: "1" },
      { key: "a", valueExpression: "'x'" },
    ],
  }),
  "a binding that both denies and warns": refusedBinding({ validationActions: ["Deny", "Warn"] }),
  "a binding of nothing": refusedBinding({ policyName: "", validationActions: [], paramRef: {} }),
});

const mutatingPolicy = (s: Session, spec: object): Body => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingAdmissionPolicy",
  metadata: { name: s.namespace },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": s.namespace } },
    },
    failurePolicy: "Fail",
    reinvocationPolicy: "Never",
    ...spec,
  },
});

/** Installs a mutating policy, waits until it marks a probe, tries writes, and removes it. */
const withMutations =
  (spec: Body, tries: (s: Session) => Promise<void>): Case["run"] =>
  async (s) => {
    const mark = {
      patchType: "JSONPatch",
      jsonPatch: {
        expression: `object.metadata.name == '${PROBE}' ? [JSONPatch{op: 'add', path: '/data', value: {'seen': 'yes'}}] : []`,
      },
    };
    const mutations = [...(spec.mutations ?? []), mark];
    await s.post(`${registration}/mutatingadmissionpolicies`, mutatingPolicy(s, { ...spec, mutations }), {
      silent: true,
    });
    await s.post(
      `${registration}/mutatingadmissionpolicybindings`,
      { metadata: { name: s.namespace }, spec: { policyName: s.namespace } },
      { silent: true },
    );
    try {
      for (let calm = 0, asked = 0; calm < 3 && asked < 200; asked++) {
        const body = { metadata: { name: PROBE } };
        const reply = await s.post(`${configMaps(s)}?dryRun=All`, body, { silent: true });
        calm = reply.status !== 201 || reply.body.data?.seen === "yes" ? calm + 1 : 0;
        await systemClock.sleep(50);
      }
      await tries(s);
    } finally {
      await s.delete(`${registration}/mutatingadmissionpolicybindings/${s.namespace}`, undefined, { silent: true });
      await s.delete(`${registration}/mutatingadmissionpolicies/${s.namespace}`, undefined, { silent: true });
    }
  };

const made = async (s: Session, name: string, data: object = {}, labels?: object): Promise<void> => {
  const body = { metadata: { name, ...(labels && { labels }) }, data };
  const reply = await s.post(configMaps(s), body, { silent: true });
  verdict(s, `create ${name}`, reply);
  s.note(`made ${name}`, { data: reply.body.data ?? null, labels: reply.body.metadata?.labels ?? null });
};
const applying = (expression: string): object => ({
  patchType: "ApplyConfiguration",
  applyConfiguration: { expression },
});
const patching = (expression: string): object => ({ patchType: "JSONPatch", jsonPatch: { expression } });

const refusedMutations =
  (spec: object): Case["run"] =>
  async (s) =>
    verdict(
      s,
      "policy",
      await s.post(`${registration}/mutatingadmissionpolicies?dryRun=All`, mutatingPolicy(s, spec), { silent: true }),
    );

export const mutatingPolicyCases = area("mutating policies", {
  "fields are applied": withMutations(
    {
      mutations: [
        applying("Object{metadata: Object.metadata{labels: {'by': 'policy'}}, data: {'added': object.metadata.name}}"),
      ],
    },
    async (s) => {
      await made(s, "a", { own: "1" });
      await made(s, "b", { added: "mine" }, { other: "x" });
    },
  ),
  "a patch is applied": withMutations(
    {
      mutations: [
        patching("[JSONPatch{op: 'add', path: '/data/x', value: 'y'}, JSONPatch{op: 'remove', path: '/data/gone'}]"),
      ],
    },
    async (s) => {
      await made(s, "a", { gone: "1" });
      await made(s, "b", {});
    },
  ),
  "a key with a slash": withMutations(
    {
      mutations: [
        patching(
          "has(object.metadata.labels) ? [JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('example.com/x'), value: '1'}] : []",
        ),
      ],
    },
    async (s) => {
      await made(s, "a", {}, { l: "1" });
      await made(s, "b", {});
    },
  ),
  "a test that fails changes nothing": withMutations(
    {
      mutations: [
        patching(
          "[JSONPatch{op: 'test', path: '/data/a', value: 'x'}, JSONPatch{op: 'add', path: '/data/b', value: 'y'}]",
        ),
      ],
    },
    async (s) => {
      await made(s, "a", { a: "x" });
      await made(s, "b", { a: "z" });
    },
  ),
  "one after the other, with variables": withMutations(
    {
      variables: [{ name: "n", expression: "string(object.data.size())" }],
      mutations: [
        applying("Object{data: {'first': variables.n}}"),
        applying("Object{data: {'second': object.data.first}}"),
      ],
    },
    async (s) => {
      await made(s, "a", { own: "1" });
    },
  ),
  "only where conditions hold": withMutations(
    {
      matchConditions: [{ name: "c", expression: `object.metadata.name != 'skipped'` }],
      mutations: [applying("Object{data: {'by': 'policy'}}")],
    },
    async (s) => {
      await made(s, "skipped", {});
      await made(s, "taken", {});
    },
  ),
  "an expression that fails refuses": withMutations(
    { mutations: [applying(`object.metadata.name == '${PROBE}' ? Object{} : Object{data: {'a': object.nothing}}`)] },
    async (s) => {
      await made(s, "a", {});
    },
  ),
  "mutations that do not compile": refusedMutations({
    mutations: [
      applying("1"),
      patching("[JSONPatch{op: 1, path: '/x'}]"),
      patching("[JSONPatch{nothing: 'x'}]"),
      applying("Nothing{}"),
    ],
  }),
  "mutations of other types": refusedMutations({
    mutations: [
      { patchType: "Nonsense" },
      { patchType: "JSONPatch", applyConfiguration: { expression: "Object{}" } },
      { patchType: "ApplyConfiguration" },
    ],
  }),
  "a policy is asked again where a later one changed something": async (s) => {
    const patched = (expression: string): object => ({ patchType: "JSONPatch", jsonPatch: { expression } });
    const steps = {
      a: patched("'b' in object.data ? [JSONPatch{op: 'add', path: '/data/a', value: 'after b'}] : []"),
      b: patched("[JSONPatch{op: 'add', path: '/data/b', value: '1'}]"),
    };
    const named = Object.entries(steps).map(([step, mutation]) => [`${s.namespace}-${step}`, mutation] as const);
    for (const [name, mutation] of named) {
      const policy = mutatingPolicy(s, { mutations: [mutation], reinvocationPolicy: "IfNeeded" });
      const bound = { metadata: { name }, spec: { policyName: name } };
      await s.post(`${registration}/mutatingadmissionpolicies`, { ...policy, metadata: { name } }, { silent: true });
      await s.post(`${registration}/mutatingadmissionpolicybindings`, bound, { silent: true });
    }
    const probe = { metadata: { name: PROBE }, data: { b: "0" } };
    await s.seen(`${configMaps(s)}?dryRun=All`, probe, ({ body }) => body.data?.a !== undefined && body.data.b === "1");
    await made(s, "x", { x: "1" });
    for (const [name] of named) {
      await s.delete(`${registration}/mutatingadmissionpolicybindings/${name}`, undefined, { silent: true });
      await s.delete(`${registration}/mutatingadmissionpolicies/${name}`, undefined, { silent: true });
    }
  },
  "a policy without mutations": refusedMutations({ mutations: [], reinvocationPolicy: "Sometimes" }),
});
