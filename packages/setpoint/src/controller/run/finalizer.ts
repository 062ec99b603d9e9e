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
      'after a domain: "example.com/cleanup"',
  );
}

export function hasFinalizer(object: Pick<KubeObject, "metadata">, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/** Whether the server removes an object in this state: no finalizer holds it, and no grace period is left. */
export function isLeaving({ metadata }: Pick<KubeObject, "metadata">): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata;
  return deletionTimestamp !== undefined && !deletionGracePeriodSeconds && !finalizers?.length;
}

/** A change of an object's finalizers: at most one of each is enough for all that controllers do. */
export interface FinalizerEdit {
  readonly add?: string;
  readonly remove?: string;
}

/**
 * The patch that makes the edit on exactly this state, or undefined where nothing is to be done. Every operation tests
 * what it relies on, so that it fails rather than undo what somebody else has done meanwhile, or add a finalizer a
 * second time. Servers keep one that is there twice: all of them are taken off.
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
    // From behind, so that those which are still to go stand where they were.
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
  // An empty list cannot be tested for: it may be absent. So nothing at all may have changed.
  return [
    { op: "test", path: "/metadata/resourceVersion", value: resourceVersion },
    { op: "add", path: "/metadata/finalizers", value: [edit.add] },
  ];
}

export interface FinalizerEditOptions {
  readonly signal?: AbortSignal;
  /** Asked right before each request. Open where left out. */
  readonly fence?: Fence;
}

/**
 * Makes the edit on the server, on fresh metadata where the object has changed. Gives the object as it then is, the
 * object given where nothing was to be done, and undefined where it is gone, another one has its name, or a finalizer
 * cannot be added any more because it is being deleted: then nothing is edited.
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
      // A failed test is answered with 422, a lost race inside the server with 409.
      if ((!isConflict(error) && !isInvalid(error)) || attempt === MAX_TRIES) throw error;
    }
    const fresh = await client.find(kind, name, { namespace, signal });
    if (fresh?.metadata.uid !== uid) return undefined;
    current = fresh;
  }
}

/**
 * Takes a finalizer off every object of a kind, so that they can go when nobody holds them any more: for an app that
 * gives up a kind. Gives the keys of the objects that had it.
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
