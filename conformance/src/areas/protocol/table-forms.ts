import { area } from "../../case.js";
import type { Session } from "../../session.js";

const core = (s: Session, path: string): string => `/api/v1/namespaces/${s.namespace}/${path}`;
const as = (kind: string) => ({ headers: { accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` } });
const EITHER = { headers: { accept: `${as("Table").headers.accept},application/json` } };

const AUTHORIZATION = "/apis/authorization.k8s.io/v1";
const attributes = { resourceAttributes: { verb: "get", resource: "pods" } };

const review = (path: string, spec: object) => async (s: Session) => {
  await s.post(path, { spec }, as("Table"));
  const { status } = await s.post(path, { spec }, { silent: true, ...EITHER });
  s.note("or as it is", status);
  const { body } = await s.post(path, { spec }, { silent: true, ...as("PartialObjectMetadata") });
  s.note("metadata", body.kind);
};

const pod = async (s: Session): Promise<string> => {
  const spec = { containers: [{ name: "main", image: "one" }] };
  await s.post(core(s, "pods"), { metadata: { name: "a" }, spec }, { silent: true });
  return core(s, "pods/a");
};

/** Kinds without a table, and beside them kinds with one. */
export const tableFormCases = area("table forms", {
  SelfSubjectAccessReview: review(`${AUTHORIZATION}/selfsubjectaccessreviews`, attributes),
  SubjectAccessReview: review(`${AUTHORIZATION}/subjectaccessreviews`, { user: "ann", ...attributes }),
  SelfSubjectRulesReview: review(`${AUTHORIZATION}/selfsubjectrulesreviews`, { namespace: "default" }),
  TokenReview: review("/apis/authentication.k8s.io/v1/tokenreviews", { token: "none" }),
  SelfSubjectReview: review("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}),
  LocalSubjectAccessReview: async (s) => {
    const spec = { user: "ann", resourceAttributes: { ...attributes.resourceAttributes, namespace: s.namespace } };
    const path = `${AUTHORIZATION}/namespaces/${s.namespace}/localsubjectaccessreviews`;
    await s.post(path, { metadata: { namespace: s.namespace }, spec }, as("Table"));
  },
  "the token of a service account": async (s) => {
    await s.post(core(s, "serviceaccounts/default/token"), { spec: {} }, as("Table"));
  },
  "an eviction": async (s) => {
    const path = await pod(s);
    await s.post(`${path}/eviction`, { metadata: { name: "a", namespace: s.namespace } }, as("Table"));
  },
  "a binding": async (s) => {
    const path = await pod(s);
    await s.post(`${path}/binding`, { metadata: { name: "a" }, target: { kind: "Node", name: "n" } }, as("Table"));
    await s.post(core(s, "bindings"), { metadata: { name: "a" }, target: { kind: "Node", name: "n" } }, as("Table"));
  },
  "ephemeral containers and sizes": async (s) => {
    const path = await pod(s);
    await s.get(`${path}/ephemeralcontainers`, as("Table"));
    await s.get(`${path}/resize`, as("Table"));
  },
  "the end of a namespace": async (s) => {
    const { body } = await s.get(`/api/v1/namespaces/${s.namespace}`, { silent: true });
    await s.put(`/api/v1/namespaces/${s.namespace}/finalize`, body, as("Table"));
  },
  "the status of a CRD": async (s) => {
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const schema = { openAPIV3Schema: { type: "object" } };
    const names = { plural: "foos", kind: "Foo" };
    const versions = [{ name: "v1", served: true, storage: true, schema }];
    await s.crd({ metadata: { name: `foos.${s.group}` }, spec: { group: s.group, scope: "Cluster", names, versions } });
    await s.get(`${crds}/foos.${s.group}/status`, as("Table"));
    await s.delete(`${crds}/foos.${s.group}`, undefined, { silent: true });
  },
  "the status of an APIService": async (s) => {
    await s.get("/apis/apiregistration.k8s.io/v1/apiservices/v1.apps/status", as("Table"));
  },
  "a status that has one": async (s) => {
    const path = await pod(s);
    const { status, body } = await s.get(`${path}/status`, { silent: true, ...as("Table") });
    s.note("table", [status, body.kind, body.rows?.length]);
  },
});
