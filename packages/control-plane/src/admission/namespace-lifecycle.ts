import type { KubeObject } from "setpoint";
import { forbidden, notFound } from "../api/status-error.js";
import type { AdmissionPlugin } from "../registry/write/admission.js";
import type { Storage } from "../storage/storage.js";

/** These namespaces cannot be deleted, because the cluster depends on them. */
const IMMORTAL: ReadonlySet<string> = new Set(["default", "kube-public", "kube-system"]);

interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: string };
}

/**
 * The plugin NamespaceLifecycle: rejects writes to a missing namespace, creates in a terminating namespace, and deletes
 * of a system namespace.
 */
export function namespaceLifecycle(storage: Storage): AdmissionPlugin {
  return {
    name: "NamespaceLifecycle",
    async mutate(attributes) {
      const { operation, definition, namespace, name, object } = attributes;
      const { group, plural } = definition;
      if (group === "" && plural === "namespaces") {
        if (operation === "DELETE" && IMMORTAL.has(name)) {
          throw forbidden({ group, resource: plural }, name, "this namespace may not be deleted");
        }
        return object;
      }
      const isLookedAt = operation === "CREATE" || operation === "UPDATE";
      // An access review must not reveal whether a namespace exists.
      const isAccessReview = group === "authorization.k8s.io" && plural === "localsubjectaccessreviews";
      if (namespace === "" || !isLookedAt || isAccessReview) return object;
      const home = storage.head("/namespaces", namespace)?.object as Namespace | undefined;
      if (!home) throw notFound({ group: "", resource: "namespaces" }, namespace);
      if (operation === "CREATE" && home.status?.phase === "Terminating") {
        const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
        throw forbidden({ group, resource: plural }, name || object?.metadata.name || "", why, [
          {
            reason: "NamespaceTerminating",
            message: `namespace ${namespace} is being terminated`,
            field: "metadata.namespace",
          },
        ]);
      }
      return object;
    },
  };
}
