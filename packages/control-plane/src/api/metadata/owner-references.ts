import type { KubeObject } from "setpoint";
import type { OwnerReference } from "setpoint/kinds";

/** Drops duplicate owner references with a warning. */
export function withoutDuplicateOwners(object: KubeObject, warn: (text: string) => void): KubeObject {
  const references = object.metadata?.ownerReferences;
  if (references === undefined || references.length < 2) return object;
  const seen = new Set<string>();
  const unique: OwnerReference[] = [];
  const duplicates: string[] = [];
  for (const reference of references) {
    const { apiVersion, kind, name, uid, controller = null, blockOwnerDeletion = null } = reference;
    const identity = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
    if (seen.has(identity)) duplicates.push(uid);
    else unique.push(reference);
    seen.add(identity);
  }
  if (duplicates.length === 0) return object;
  warn(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(", ")}`,
  );
  return { ...object, metadata: { ...object.metadata, ownerReferences: unique } };
}
