import type { Json } from "../../api/json.js";
import { notFound } from "../../api/status-error.js";
import type { AdmissionAttributes } from "../../registry/write/admission.js";
import type { Storage } from "../../storage/storage.js";

/** The variable `namespaceObject` of a request. Null for cluster-scoped objects and for namespaces themselves. */
export function namespaceObject({ definition, namespace }: AdmissionAttributes, storage: Storage): Json {
  const isNamespace = definition.group === "" && definition.plural === "namespaces";
  if (namespace === "" || isNamespace) return null;
  const stored = storage.head("/namespaces", namespace)?.object;
  if (stored === undefined) throw notFound({ group: "", resource: "namespaces" }, namespace);
  const { managedFields: _managedFields, ownerReferences: _owners, ...metadata } = stored.metadata;
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = stored;
  return { ...rest, metadata } as unknown as Json;
}
