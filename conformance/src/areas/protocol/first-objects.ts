import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";

/** The objects of these names with their managers: those that a server creates at its first start. */
const compared = (collection: string, ...names: readonly string[]) => {
  return async (s: Session): Promise<void> => {
    for (const name of names) {
      const { status, body } = await s.get(`${collection}/${name}`, { silent: true });
      // Their order of creation is random.
      const { resourceVersion: _revision, ...metadata } = body.metadata;
      s.note(name, { status, ...body, metadata });
    }
  };
};

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1";

/** Address and port differ between servers. */
const withoutAddress = (value: Body): Body =>
  JSON.parse(JSON.stringify(value, (key, item) => (["ip", "addresses", "targetPort"].includes(key) ? "<own>" : item)));

export const firstObjectCases = area("first objects", {
  namespaces: compared("/api/v1/namespaces", "default", "kube-system", "kube-public", "kube-node-lease"),
  "cluster roles": compared(
    `${RBAC}/clusterroles`,
    "cluster-admin",
    "system:basic-user",
    "system:discovery",
    "system:node",
    "system:kube-scheduler",
  ),
  "cluster role bindings": compared(`${RBAC}/clusterrolebindings`, "cluster-admin", "system:basic-user"),
  roles: compared(`${RBAC}/namespaces/kube-system/roles`, "extension-apiserver-authentication-reader"),
  "role bindings": compared(`${RBAC}/namespaces/kube-system/rolebindings`, "system::leader-locking-kube-scheduler"),
  "priority classes": compared(
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    "system-cluster-critical",
    "system-node-critical",
  ),
  "flow schemas": compared(`${FLOWS}/flowschemas`, "catch-all", "exempt", "probes", "system-nodes"),
  "priority levels": compared(`${FLOWS}/prioritylevelconfigurations`, "catch-all", "exempt", "leader-election"),
  "API services": compared("/apis/apiregistration.k8s.io/v1/apiservices", "v1.", "v1.apps", "v2.autoscaling"),
  "the service kubernetes and its endpoints": async (s) => {
    for (const path of [
      "/api/v1/namespaces/default/services/kubernetes",
      "/api/v1/namespaces/default/endpoints/kubernetes",
      "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes",
    ]) {
      const { status, body } = await s.get(path, { silent: true });
      const { ports, subsets, ...rest } = withoutAddress(body);
      const { port: _slicePort, ...slice } = ports?.[0] ?? {};
      const { port: _port, ...subset } = subsets?.[0]?.ports[0] ?? {};
      s.note(path, { status, ...rest, slice, subset, addresses: subsets?.[0]?.addresses });
    }
  },
});
