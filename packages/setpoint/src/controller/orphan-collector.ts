import { isNotFound } from "../client/api-error.js";
import { keyOf, kindId, parseKey } from "../kinds/kind.js";
import type { KubeObject } from "../kinds/object.js";
import type { Fence } from "./fence.js";
import type { KindSource } from "./kind-source.js";
import { annotatedOwner } from "./ownership.js";

/**
 * Deletes children in other namespaces or clusters whose owner is gone: Kubernetes collects only what an owner reference
 * can name. Gives the number of children deleted. Only caches are read: an owner counts as gone when the synced store
 * of its kind has no object of its uid.
 */
export async function collectOrphans(
  primary: KindSource,
  owned: Iterable<KindSource>,
  fence: Fence,
  signal: AbortSignal,
  ownerKey?: string,
): Promise<number> {
  let collected = 0;
  for (const source of owned) {
    for (const informer of source.informers) {
      for (const child of [...informer.list()]) {
        if (!isOrphan(primary, child, ownerKey)) continue;
        fence.check();
        await deleteChild(source, child, signal);
        collected++;
      }
    }
  }
  return collected;
}

function isOrphan(primary: KindSource, child: KubeObject, ownerKey: string | undefined): boolean {
  const owner = annotatedOwner(child);
  if (!owner || child.metadata.deletionTimestamp || owner.kind !== kindId(primary.kind)) return false;
  if (ownerKey !== undefined && owner.key !== ownerKey) return false;
  const informer = primary.peek(parseKey(owner.key).namespace);
  return informer?.status().synced === true && informer.get(owner.key)?.metadata.uid !== owner.uid;
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
  await source.peek(namespace ?? "")?.observeDelete(keyOf(child), uid, signal);
}
