import { isNotFound } from "../../client/api-error.js";
import { keyOf, parseKey } from "../../kinds/kind.js";
import type { KubeObject } from "../../kinds/object.js";
import type { Fence } from "../../loop/fence.js";
import type { KindSource } from "../causes/kind-source.js";
import { type AnnotatedOwner, annotatedOwner, isOfKind, OWNER_INDEX, ownerIndexValue } from "./ownership.js";

/**
 * Deletes children in other namespaces or clusters whose owner is gone, because Kubernetes only collects children with
 * an owner reference. An owner that is missing in the cache may just be out of its scope, so the server is asked before
 * a delete. Children of owners in a third cluster belong to the controller that runs there. Looks at the children of
 * all owners, or of one. Returns the owners whose children could not be deleted, with the errors, so that the caller
 * can retry.
 */
export async function collectOrphans(
  primary: KindSource,
  owned: Iterable<KindSource>,
  fence: Fence,
  signal: AbortSignal,
  ownerKey?: string,
): Promise<ReadonlyMap<string, unknown>> {
  const failed = new Map<string, unknown>();
  const ofOwner = ownerKey === undefined ? undefined : ownerIndexValue(primary.kind, ownerKey);
  for (const source of owned) {
    for (const informer of source.informers) {
      for (const child of [...(ofOwner ? informer.byIndex(OWNER_INDEX, ofOwner) : informer.list())]) {
        const owner = missingOwner(primary, child);
        if (!owner) continue;
        try {
          if (owner.cluster !== (await source.ownerCluster(signal))) continue;
          if (await isThere(primary, owner, signal)) continue;
          fence.check();
          await deleteChild(source, child, signal);
        } catch (error) {
          if (signal.aborted) throw error;
          failed.set(owner.key, error);
        }
      }
    }
  }
  return failed;
}

/** The owner of a child, if it is of this kind and missing in the cache. */
function missingOwner(primary: KindSource, child: KubeObject): AnnotatedOwner | undefined {
  const owner = annotatedOwner(child);
  if (!owner || child.metadata.deletionTimestamp || !isOfKind(owner, primary.kind)) return undefined;
  const informer = primary.peek(parseKey(owner.key).namespace);
  return informer?.get(owner.key)?.metadata.uid === owner.uid ? undefined : owner;
}

async function isThere(primary: KindSource, owner: AnnotatedOwner, signal: AbortSignal): Promise<boolean> {
  const { namespace, name } = parseKey(owner.key);
  const where = namespace ? { namespace, signal } : { signal };
  return (await primary.cluster.client.find(primary.kind, name, where))?.metadata.uid === owner.uid;
}

async function deleteChild(source: KindSource, child: KubeObject, signal: AbortSignal): Promise<void> {
  const { name, namespace, uid } = child.metadata;
  try {
    await source.cluster.client.delete(source.kind, name, {
      ...(namespace ? { namespace } : {}),
      preconditions: { uid },
      propagation: "Background",
      signal,
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  await source.observeDelete(keyOf(child), uid, signal);
}
