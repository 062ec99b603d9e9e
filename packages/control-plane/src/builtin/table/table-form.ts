import type { ResourceDefinition } from "../../kinds/resource-definition.js";

/** Subresources without a Table in kube-apiserver, as `group/plural/name`. */
const WITHOUT_TABLE: ReadonlySet<string> = new Set([
  "/pods/binding",
  "/pods/ephemeralcontainers",
  "/pods/eviction",
  "/pods/log",
  "/pods/resize",
  "/namespaces/finalize",
  "/serviceaccounts/token",
  "apiextensions.k8s.io/customresourcedefinitions/status",
  "apiregistration.k8s.io/apiservices/status",
  "certificates.k8s.io/certificatesigningrequests/approval",
  "resource.k8s.io/resourceclaims/status",
]);

/**
 * Whether an endpoint can respond with a Table. kube-apiserver responds 406 for resources that can only be created,
 * such as reviews and bindings.
 */
export function hasTable({ group, plural, verbs }: ResourceDefinition, subresource: string): boolean {
  if (subresource !== "") return !WITHOUT_TABLE.has(`${group}/${plural}/${subresource}`);
  return verbs.some((verb) => verb !== "create");
}
