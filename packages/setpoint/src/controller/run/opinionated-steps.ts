import type { Client } from "../../client/client.js";
import type { KubeObject } from "../../kinds/object.js";
import type { Fence } from "../../loop/fence.js";
import { isEqual } from "../apply/field-paths.js";
import type { WatchContext, Watcher, WatchStep } from "../watcher.js";
import { editFinalizers, type FinalizerEdit, hasFinalizer } from "./finalizer.js";

export interface OpinionatedParts {
  readonly client: Client;
  readonly fence: Fence;
  /** Told of each object that was edited, so that later steps know. */
  readonly observe: (object: KubeObject) => void;
  /** The object as the cache has it; undefined if it is gone because no finalizer holds it. */
  readonly latest: (object: KubeObject) => KubeObject | undefined;
  /** Steps whose first try found the object held: their retries have nothing to add. */
  readonly begunHeld: WeakSet<WatchStep>;
}

/**
 * Hands a step to a watcher that holds a finalizer. `add` runs under an in-progress finalizer, which the final one
 * replaces when it succeeds: so a delete is never missed, and a restart tells finished from unfinished. Deletion is
 * looked at first. Each step calls one function at most, with the object as the step shows it, or as it is for a retry;
 * whether it is held is told by what is known of it now, since steps wait while the one before is handled.
 */
export async function handleOpinionated(
  watcher: Watcher,
  step: WatchStep,
  ctx: WatchContext,
  { client, fence, observe, latest, begunHeld }: OpinionatedParts,
): Promise<void> {
  const { kind, options, finalizer = "", inProgressFinalizer: inProgress } = watcher;
  const edit = async (object: KubeObject, change: FinalizerEdit): Promise<KubeObject | undefined> => {
    const edited = await editFinalizers(client, kind, object, change, { signal: ctx.signal, fence });
    if (edited && edited !== object) observe(edited);
    return edited;
  };
  if (step.type === "delete") return;
  const isRetry = ctx.attempt > 0;
  const known = isRetry ? await refreshed(watcher, client, step.object, ctx.signal) : latest(step.object);
  if (!known) return;
  const object = isRetry ? known : step.object;
  const isHeld = hasFinalizer(known, finalizer);
  if (isHeld && !isRetry) begunHeld.add(step);

  if (object.metadata.deletionTimestamp) {
    if (!isHeld && !hasFinalizer(known, inProgress)) return;
    await options.delete?.(object, ctx);
    const released = await edit(object, { remove: finalizer });
    if (released) await edit(released, { remove: inProgress });
    return;
  }
  // A later step has done what this one is a retry of.
  if (isHeld && isRetry && !begunHeld.has(step) && !hasFinalizer(step.object, finalizer)) return;
  if (step.type === "update" && isSameSpec(step.old, step.object)) return;
  if (!isHeld) {
    const marked = await edit(object, { add: inProgress });
    if (!marked) return;
    await options.add?.(marked, ctx);
    await edit(marked, { remove: inProgress, add: finalizer });
    return;
  }
  if (step.type === "update") {
    await options.update?.(object, step.old, ctx);
    return;
  }
  if (options.sync) await options.sync(object, ctx);
  else if (step.type === "sync") await options.update?.(object, object, ctx);
  else await options.add?.(object, ctx);
  await edit(object, { remove: inProgress });
}

/** Steps are kept as they were seen; what is tried again must know whether the object is still held, or there at all. */
async function refreshed(
  watcher: Watcher,
  client: Client,
  object: KubeObject,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const { name, namespace, uid } = object.metadata;
  const fresh = await client.find(watcher.kind, name, { ...(namespace ? { namespace } : {}), signal });
  return fresh?.metadata.uid === uid ? fresh : undefined;
}

/** Servers count the changes of a spec, but for kinds that have none: of these, all but metadata and status is it. */
function isSameSpec(old: KubeObject, object: KubeObject): boolean {
  const { generation } = object.metadata;
  if (generation !== undefined) return old.metadata.generation === generation;
  const bare = { metadata: undefined, status: undefined };
  return isEqual({ ...old, ...bare }, { ...object, ...bare });
}
