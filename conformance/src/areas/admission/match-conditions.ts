import { systemClock } from "setpoint/clock";
import { area, type Case } from "../../case.js";
import type { Body, Reply, Session } from "../../session.js";

const registration = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const configMaps = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;
const PROBE = "probe";

function verdict(s: Session, what: string, { status, body }: Reply): void {
  const { message, reason, details } = (body ?? {}) as Body;
  s.note(what, { status, ...(status >= 400 ? { message, reason, details } : {}) });
}

const configuration = (s: Session, conditions: readonly object[], extra: object): Body => ({
  metadata: { name: s.namespace },
  webhooks: [
    {
      name: "hook.example.com",
      clientConfig: {
        caBundle: s.hooks.caBundle,
        url: s.hooks.serve(`/${s.namespace}/conditions`, (request) => ({
          body: {
            apiVersion: "admission.k8s.io/v1",
            kind: "AdmissionReview",
            response: { uid: request.request.uid, allowed: false, status: { message: "called" } },
          },
        })),
      },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": s.namespace } },
      matchConditions: conditions,
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      timeoutSeconds: 5,
      ...extra,
    },
  ],
});

/** A webhook that denies every request that matches these conditions. The probe always matches. */
const withConditions =
  (expressions: readonly string[], tries: (s: Session) => Promise<void>, extra: object = {}): Case["run"] =>
  async (s) => {
    const conditions = expressions.map((expression, index) => ({
      name: `c${index}`,
      expression: `(object.metadata.name == '${PROBE}') || (${expression})`,
    }));
    await s.post(registration, configuration(s, conditions, extra), { silent: true });
    try {
      for (let calm = 0, asked = 0; calm < 3 && asked < 200; asked++) {
        const { status } = await s.post(`${configMaps(s)}?dryRun=All`, { metadata: { name: PROBE } }, { silent: true });
        calm = status !== 201 ? calm + 1 : 0;
        await systemClock.sleep(25);
      }
      await tries(s);
    } finally {
      await s.delete(`${registration}/${s.namespace}`, undefined, { silent: true });
    }
  };

const create = async (s: Session, name: string, extra: object = {}): Promise<void> =>
  verdict(s, `create ${name}`, await s.post(configMaps(s), { metadata: { name, ...extra } }, { silent: true }));
const refused =
  (conditions: readonly object[]): Case["run"] =>
  async (s) =>
    verdict(
      s,
      "create",
      await s.post(`${registration}?dryRun=All`, configuration(s, conditions, {}), { silent: true }),
    );

export const matchConditionCases = area("match conditions", {
  "a condition that holds": withConditions(["true"], (s) => create(s, "a")),
  "a condition that does not": withConditions(["false"], (s) => create(s, "a")),
  "by labels of the object": withConditions(
    ["has(object.metadata.labels) && object.metadata.labels.call == 'yes'"],
    async (s) => {
      await create(s, "a");
      await create(s, "b", { labels: { call: "yes" } });
    },
  ),
  "by the user": withConditions(["!('system:masters' in request.userInfo.groups)"], (s) => create(s, "a")),
  "by the operation and the resource": withConditions(
    ["request.operation == 'CREATE' && request.resource.resource == 'configmaps' && request.subResource == ''"],
    (s) => create(s, "a"),
  ),
  "by what the user may": withConditions(
    ["authorizer.group('').resource('secrets').namespace('default').check('get').allowed()"],
    (s) => create(s, "a"),
  ),
  "by what the request is about": withConditions(["authorizer.requestResource.check('delete').allowed()"], (s) =>
    create(s, "a"),
  ),
  "one that fails refuses": withConditions(["object.nothing == 1"], (s) => create(s, "a")),
  "one that fails is ignored where the webhook may fail": withConditions(
    ["object.nothing == 1"],
    (s) => create(s, "a"),
    {
      failurePolicy: "Ignore",
    },
  ),
  "one that does not hold is enough": withConditions(["object.nothing == 1", "false"], (s) => create(s, "a")),
  "two that fail": withConditions(["object.nothing == 1", "object.never == 2"], (s) => create(s, "a")),
  "conditions that do not compile": refused([
    { name: "a", expression: "object." },
    { name: "b", expression: "1" },
    { name: "c", expression: "params == null" },
  ]),
  "names of conditions": refused([
    { name: "a", expression: "true" },
    { name: "a", expression: "true" },
    { name: "", expression: "" },
    { name: "no name!", expression: "true" },
  ]),
});
