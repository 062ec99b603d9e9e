import type { ResourceDefinition } from "../../kinds/resource-definition.js";

/** Subresources whose endpoint has no table on the real server, as `group/plural/name`. */
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
 * Whether an endpoint can answer with a Table. What is only ever created, as reviews and bindings are, is never printed as
 * rows: the real server answers 406 for it.
 */
export function hasTable({ group, plural, verbs }: ResourceDefinition, subresource: string): boolean {
  if (subresource !== "") return !WITHOUT_TABLE.has(`${group}/${plural}/${subresource}`);
  return verbs.some((verb) => verb !== "create");
}
