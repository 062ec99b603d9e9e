import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";

const NAMESPACES = "/api/v1/namespaces";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const HOLD = ["example.com/hold"];
const core = (s: Session, path: string): string => `${NAMESPACES}/${s.namespace}/${path}`;
const own = (s: Session): string => `${NAMESPACES}/${s.namespace}`;

/** The namespace controller is slow while other cases leave their namespaces behind. */
const early = (run: (s: Session) => Promise<void>) => ({ run, early: true });

const pod = (s: Session, name: string, finalizers: readonly string[] = [], spec: object = {}) =>
  s.post(
    core(s, "pods"),
    { metadata: { name, finalizers }, spec: { containers: [{ name: "main", image: "one" }], ...spec } },
    { silent: true },
  );
const map = (s: Session, name: string, finalizers: readonly string[] = []) =>
  s.post(core(s, "configmaps"), { metadata: { name, finalizers } }, { silent: true });
const release = (s: Session, path: string) =>
  s.patch("merge", core(s, path), { metadata: { finalizers: null } }, { silent: true });
const remove = (s: Session) => s.delete(own(s), undefined, { silent: true });
const gone = async (s: Session): Promise<void> =>
  s.note("namespace", (await s.until(own(s), ({ status }) => status === 404)).status);
const isThere = async (s: Session, path: string): Promise<void> =>
  s.note(path, (await s.get(core(s, path), { silent: true })).status);

type Test = (condition: Body) => boolean;
const is =
  (type: string, status: string): Test =>
  (condition) =>
    condition.type === type && condition.status === status;
const processed: Test = ({ type }) => type === "NamespaceDeletionContentFailure";

/** The conditions, once the awaited one exists. */
const conditions = async (s: Session, what: string, isDone: Test = processed): Promise<void> => {
  const { body } = await s.until(own(s), (reply) => (reply.body.status?.conditions ?? []).some(isDone));
  const all = [...(body.status?.conditions ?? [])].sort((a: Body, b: Body) => (a.type < b.type ? -1 : 1));
  s.note(what, { phase: body.status?.phase, conditions: all });
};

export const orderedNamespaceCases = area("ordered namespaces", {
  "pods go before everything else": early(async (s) => {
    await map(s, "kept");
    await pod(s, "held", HOLD);
    await remove(s);
    await conditions(s, "while the pod is there");
    await isThere(s, "configmaps/kept");
    await isThere(s, "serviceaccounts/default");
    const { body } = await s.get(core(s, "pods/held"), { silent: true });
    s.note("pod", [body.metadata.deletionTimestamp !== undefined, body.metadata.finalizers]);
    await release(s, "pods/held");
    await gone(s);
  }),
  "two pods are waited for": early(async (s) => {
    await map(s, "kept");
    await pod(s, "first", HOLD);
    await pod(s, "second", [...HOLD, "example.com/other"]);
    await remove(s);
    await conditions(s, "both");
    await release(s, "pods/first");
    await s.until(core(s, "pods/first"), ({ status }) => status === 404);
    await isThere(s, "configmaps/kept");
    await release(s, "pods/second");
    await gone(s);
  }),
  "then what else is held": early(async (s) => {
    await map(s, "held", HOLD);
    await pod(s, "held", HOLD);
    await remove(s);
    await conditions(s, "the pod");
    await release(s, "pods/held");
    await conditions(s, "the config map", is("NamespaceContentRemaining", "True"));
    await release(s, "configmaps/held");
    await gone(s);
  }),
  "pods without a hold are no matter": early(async (s) => {
    await pod(s, "free");
    await map(s, "held", HOLD);
    await remove(s);
    await conditions(s, "the config map", is("NamespaceContentRemaining", "True"));
    await isThere(s, "pods/free");
    await release(s, "configmaps/held");
    await gone(s);
  }),
  "a pod on a node has its grace": early(async (s) => {
    await pod(s, "bound", [], { nodeName: "nowhere", terminationGracePeriodSeconds: 600 });
    await map(s, "kept");
    await remove(s);
    await conditions(s, "in its grace");
    await isThere(s, "configmaps/kept");
    await s.delete(core(s, "pods/bound"), { gracePeriodSeconds: 0 }, { silent: true });
    await gone(s);
  }),
  "a pod that outstays its grace": early(async (s) => {
    await pod(s, "bound", [], { nodeName: "nowhere", terminationGracePeriodSeconds: 2 });
    await remove(s);
    await conditions(s, "after its grace", is("NamespaceDeletionContentFailure", "True"));
    await s.delete(core(s, "pods/bound"), { gracePeriodSeconds: 0 }, { silent: true });
    await gone(s);
  }),
  "several kinds with several holds": early(async (s) => {
    await map(s, "one", HOLD);
    await map(s, "two", [...HOLD, "example.com/other"]);
    await s.post(core(s, "secrets"), { metadata: { name: "three", finalizers: HOLD } }, { silent: true });
    await remove(s);
    await conditions(s, "all three", ({ message }) => /secrets/.test(message) && /has 2/.test(message));
    for (const path of ["configmaps/one", "configmaps/two", "secrets/three"]) await release(s, path);
    await gone(s);
  }),
  "a custom resource that is held": early(async (s) => {
    const names = { plural: "foos", kind: "Foo" };
    const schema = { openAPIV3Schema: { type: "object" } };
    const versions = [
      { name: "v1", served: true, storage: true, schema },
      { name: "v1beta1", served: true, storage: false, schema },
    ];
    await s.crd({
      metadata: { name: `foos.${s.group}` },
      spec: { group: s.group, scope: "Namespaced", names, versions },
    });
    const path = `/apis/${s.group}/v1/namespaces/${s.namespace}/foos`;
    const foo = { apiVersion: `${s.group}/v1`, kind: "Foo", metadata: { name: "a", finalizers: HOLD } };
    await s.post(path, foo, { silent: true });
    await remove(s);
    await conditions(s, "conditions", ({ message }) => /foos/.test(message));
    await s.patch("merge", `${path}/a`, { metadata: { finalizers: null } }, { silent: true });
    await gone(s);
    await s.delete(`${CRDS}/foos.${s.group}`, undefined, { silent: true });
  }),
  "an empty namespace that is held itself": early(async (s) => {
    await s.patch("merge", own(s), { metadata: { finalizers: HOLD } }, { silent: true });
    await remove(s);
    await conditions(s, "conditions");
    const { body } = await s.until(own(s), (reply) => reply.body.spec?.finalizers === undefined);
    s.note("finalizers", [body.spec, body.metadata.finalizers]);
    await s.patch("merge", own(s), { metadata: { finalizers: null } }, { silent: true });
    await gone(s);
  }),
  "a namespace with a finalizer of its spec": early(async (s) => {
    const { body } = await s.get(own(s), { silent: true });
    const finalizers = [...body.spec.finalizers, "example.com/own"];
    await s.put(`${own(s)}/finalize`, { ...body, spec: { finalizers } }, { silent: true });
    await remove(s);
    const { body: left } = await s.until(own(s), (reply) => reply.body.spec?.finalizers?.length === 1);
    s.note("spec", left.spec);
    await s.put(`${own(s)}/finalize`, { ...left, spec: {} }, { silent: true });
    await gone(s);
  }),
  "conditions that somebody has changed": early(async (s) => {
    await map(s, "held", HOLD);
    await remove(s);
    await conditions(s, "before", is("NamespaceContentRemaining", "True"));
    const { body } = await s.get(own(s), { silent: true });
    const wrong = body.status.conditions.map((each: Body) => ({ ...each, message: "wrong", reason: "Wrong" }));
    const other = { type: "example.com/Other", status: "True", reason: "Mine", message: "mine" };
    await s.patch("merge", `${own(s)}/status`, { status: { conditions: [...wrong, other] } }, { silent: true });
    await conditions(s, "after", ({ reason }) => reason === "SomeResourcesRemain");
    await release(s, "configmaps/held");
    await gone(s);
  }),
  "a delete that a policy refuses": early(async (s) => {
    const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    const bindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
    const name = `${s.namespace}-kept`;
    const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["DELETE"] };
    const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": s.namespace } };
    const matchConstraints = { resourceRules: [rule], namespaceSelector };
    const validations = [{ expression: "oldObject.metadata.name != 'guarded'", message: "it is guarded" }];
    await s.post(policies, { metadata: { name }, spec: { matchConstraints, validations } }, { silent: true });
    await s.post(
      bindings,
      { metadata: { name }, spec: { policyName: name, validationActions: ["Deny"] } },
      { silent: true },
    );
    await map(s, "guarded");
    const path = core(s, "configmaps/guarded?dryRun=All");
    for (let tries = 0; tries < 100; tries++) {
      if ((await s.delete(path, undefined, { silent: true })).status === 422) break;
      await s.get(own(s), { silent: true });
    }
    await remove(s);
    const { body } = await s.until(own(s), (reply) =>
      (reply.body.status?.conditions ?? []).some(is("NamespaceDeletionContentFailure", "True")),
    );
    const failure = body.status.conditions.find(processed);
    // The real server deletes the collection, whose refusals do not name objects.
    s.note("refused", { ...failure, message: failure.message.replace('"Unknown"', '"guarded"') });
    await s.delete(`${bindings}/${name}`, undefined, { silent: true });
    await s.delete(`${policies}/${name}`, undefined, { silent: true });
    await gone(s);
  }),
});
