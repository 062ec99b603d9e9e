import type { Client } from "../../client/client.js";
import type { KubeObject } from "../../kinds/object.js";
import type { Fence } from "../../loop/fence.js";
import { isEqual } from "../apply/field-paths.js";
import type { WatchContext, Watcher, WatchStep } from "../watcher.js";
import { editFinalizers, type FinalizerEdit, hasFinalizer } from "./finalizer.js";

export interface OpinionatedParts {
  readonly client: Client;
  readonly fence: Fence;
  /** Called with each edited object, so that later steps see it. */
  readonly observe: (object: KubeObject) => void;
  /** The cached object; undefined if it is gone because it has no finalizer. */
  readonly latest: (object: KubeObject) => KubeObject | undefined;
  /** Steps whose first attempt found the finalizer in place: their retries need not add it. */
  readonly begunHeld: WeakSet<WatchStep>;
}

/**
 * Passes a step to a watcher with a finalizer. `add` runs under an in-progress finalizer, which the final one replaces
 * on success: no delete is missed, and a restart can tell finished from unfinished. Checks deletion first. Each step
 * calls at most one function, with the object of the step, or the current object for a retry. Whether the finalizer is
 * set depends on the current object, because steps wait for earlier ones.
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
  // A later step has already done the work of this retry.
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

/** A step keeps the object as it was seen; a retry must know whether the object still has the finalizer, or exists at all. */
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

/**
 * Servers count changes of the spec in the generation. For kinds without a generation, compare everything but metadata
 * and status.
 */
function isSameSpec(old: KubeObject, object: KubeObject): boolean {
  const { generation } = object.metadata;
  if (generation !== undefined) return old.metadata.generation === generation;
  const bare = { metadata: undefined, status: undefined };
  return isEqual({ ...old, ...bare }, { ...object, ...bare });
}
