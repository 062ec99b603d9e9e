import { isConflict, isInvalid, isNotFound } from "../../client/api-error.js";
import type { Client, JsonPatchOperation } from "../../client/client.js";
import { SetpointError } from "../../errors/error.js";
import { type Kind, keyOf } from "../../kinds/kind.js";
import { qualifiedName } from "../../kinds/label-rules.js";
import type { KubeObject } from "../../kinds/object.js";
import { type Fence, openFence } from "../../loop/fence.js";

/** How often an edit is tried anew on fresh metadata. */
const MAX_TRIES = 4;

/** Throws `FINALIZER_INVALID` for a name that an API server would refuse. */
export function checkFinalizerName(finalizer: string, controller: string): void {
  if (qualifiedName(finalizer).length === 0) return;
  throw new SetpointError(
    "FINALIZER_INVALID",
    `controller ${controller}: "${finalizer}" is no finalizer; it needs a name of 1 to 63 characters, best ` +
      'with a domain: "example.com/cleanup"',
  );
}

export function hasFinalizer(object: Pick<KubeObject, "metadata">, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/** Whether the server removes an object in this state: it has no finalizer, and no grace period is left. */
export function isLeaving({ metadata }: Pick<KubeObject, "metadata">): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata;
  return deletionTimestamp !== undefined && !deletionGracePeriodSeconds && !finalizers?.length;
}

/** A change of an object's finalizers: at most one added and one removed. */
export interface FinalizerEdit {
  readonly add?: string;
  readonly remove?: string;
}

/**
 * The patch for an edit of exactly this state; undefined if there is nothing to do. Every operation tests what it
 * relies on, so that the patch fails instead of undoing another change or adding a finalizer twice. Servers allow
 * duplicates: the patch removes all of them.
 */
export function finalizerPatch(
  object: Pick<KubeObject, "metadata">,
  edit: FinalizerEdit,
): readonly JsonPatchOperation[] | undefined {
  const { uid, resourceVersion, finalizers = [] } = object.metadata;
  const isAdding = edit.add !== undefined && !finalizers.includes(edit.add);
  const removed = finalizers.flatMap((finalizer, at) => (finalizer === edit.remove ? [at] : []));
  if (removed.length === 0 && !isAdding) return undefined;
  const sameObject: JsonPatchOperation = { op: "test", path: "/metadata/uid", value: uid };
  if (removed.length > 0) {
    // From the end, so that earlier positions stay valid.
    const operations = removed.toReversed().flatMap((position): JsonPatchOperation[] => {
      const path = `/metadata/finalizers/${position}`;
      const isReplaced = isAdding && position === removed[0];
      return [
        { op: "test", path, value: edit.remove },
        isReplaced ? { op: "replace", path, value: edit.add } : { op: "remove", path },
      ];
    });
    return [sameObject, ...operations];
  }
  if (finalizers.length > 0) {
    const sameList: JsonPatchOperation = { op: "test", path: "/metadata/finalizers", value: finalizers };
    return [sameObject, sameList, { op: "add", path: "/metadata/finalizers/-", value: edit.add }];
  }
  // A patch cannot test for an empty list, which may be absent. So it tests that nothing has changed at all.
  return [
    { op: "test", path: "/metadata/resourceVersion", value: resourceVersion },
    { op: "add", path: "/metadata/finalizers", value: [edit.add] },
  ];
}

export interface FinalizerEditOptions {
  readonly signal?: AbortSignal;
  /** Checked right before each request. Defaults to open. */
  readonly fence?: Fence;
}

/**
 * Makes the edit on the server, on fresh metadata if the object has changed. Returns the resulting object, or the given
 * object if there was nothing to do. Returns undefined without an edit if the object is gone, another object has its
 * name, or a finalizer can no longer be added because the object is being deleted.
 */
export async function editFinalizers<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  object: T,
  edit: FinalizerEdit,
  { signal, fence = openFence }: FinalizerEditOptions = {},
): Promise<T | undefined> {
  const { name, namespace, uid } = object.metadata;
  let current = object;
  for (let attempt = 1; ; attempt++) {
    const operations = finalizerPatch(current, edit);
    if (!operations) return current;
    if (current.metadata.deletionTimestamp && edit.add !== undefined && !hasFinalizer(current, edit.add))
      return undefined;
    fence.check();
    try {
      return await client.patch(kind, name, { type: "json", operations }, { namespace, signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      // The server answers a failed test with 422, and a lost race of its own with 409.
      if ((!isConflict(error) && !isInvalid(error)) || attempt === MAX_TRIES) throw error;
    }
    const fresh = await client.find(kind, name, { namespace, signal });
    if (fresh?.metadata.uid !== uid) return undefined;
    current = fresh;
  }
}

/**
 * Removes a finalizer from every object of a kind, for an app that no longer handles the kind. Returns the keys of the
 * objects that had it.
 */
export async function sweepFinalizers<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  finalizer: string,
  options: FinalizerEditOptions & { readonly namespace?: string } = {},
): Promise<readonly string[]> {
  const swept: string[] = [];
  for await (const page of client.pages(kind, options)) {
    for (const object of page.items) {
      if (!hasFinalizer(object, finalizer)) continue;
      await editFinalizers(client, kind, object, { remove: finalizer }, options);
      swept.push(keyOf(object));
    }
  }
  return swept;
}
