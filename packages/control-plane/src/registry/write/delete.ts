import type { KubeObject, ObjectMeta } from "setpoint";
import { formatTime, isSameJson } from "setpoint/kinds";
import { asJson } from "../../api/json.js";
import { conflict, notFound } from "../../api/status-error.js";
import { laidOut } from "../../apply/object-layout.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { StoredObject } from "../../storage/storage.js";
import { StorageConflict } from "../../storage/storage-error.js";
import type { DeleteOptions } from "../query/delete-options.js";
import type { ServedObject } from "../read/served-form.js";
import { admit, validateAdmission } from "./admission-chain.js";
import { storageKey, type WriteEnvironment, type WriteRequest } from "./write-request.js";

export interface DeleteResult {
  readonly object: ServedObject;
  /** False while finalizers or the grace period keep the object. */
  readonly isGone: boolean;
}

export interface Deletion {
  readonly name: string;
  readonly options: DeleteOptions;
  /** Skips admission, for deletes of the control plane itself. */
  readonly skipsAdmission?: boolean;
}

/** Deletes an object or marks it for deletion. Retries if another write came first. */
export async function remove(
  environment: WriteEnvironment,
  request: WriteRequest,
  deletion: Deletion,
): Promise<DeleteResult> {
  const { definition, namespace, signal } = request;
  const key = storageKey(namespace, deletion.name);
  for (;;) {
    signal.throwIfAborted();
    const head = environment.storage.head(definition.storageId, key);
    if (head === undefined) throw notFound({ group: definition.group, resource: definition.plural }, deletion.name);
    try {
      return await attempt(environment, request, deletion, head);
    } catch (error) {
      if (!(error instanceof StorageConflict)) throw error;
    }
  }
}

async function attempt(
  environment: WriteEnvironment,
  request: WriteRequest,
  deletion: Deletion,
  head: StoredObject,
): Promise<DeleteResult> {
  const { storage, clock } = environment;
  const { definition, signal } = request;
  const { name, options } = deletion;
  checkPreconditions(definition, head.object, options);
  const current = await environment.forms.served(head, definition, signal);
  if (!deletion.skipsAdmission) {
    await admit(environment, request, "DELETE", name, undefined, current.object);
    await validateAdmission(environment, request, "DELETE", name, undefined, current.object);
  }
  const marked = markedForDeletion(definition, head.object, options, clock.now());
  if (marked === "pending") return { object: current, isGone: false };
  let last = head;
  if (marked !== "remove") {
    const object = laidOut(marked, head.object.apiVersion, head.object.kind);
    if (request.isDryRun) return { object: await encoded(object), isGone: false };
    if (!isSameJson(asJson(object), asJson(head.object))) {
      last = await storage.commit({ resource: head.resource, key: head.key, expected: head, object });
      environment.forms.markCurrent(last, definition);
    }
    const { finalizers = [], deletionGracePeriodSeconds = 0 } = marked.metadata;
    if (finalizers.length > 0 || deletionGracePeriodSeconds > 0 || staysForNamespace(definition, marked)) {
      return { object: await environment.forms.served(last, definition, signal), isGone: false };
    }
  }
  const object = await environment.forms.served(last, definition, signal);
  if (!request.isDryRun) {
    const deleted = await storage.commit({ resource: last.resource, key: last.key, expected: last, object: undefined });
    return { object: await environment.forms.served(deleted, definition, signal), isGone: true };
  }
  return { object, isGone: true };
}

function encoded(object: KubeObject): ServedObject {
  return { object, json: Buffer.from(JSON.stringify(object)) };
}

/** A namespace is removed only when its content is gone and `spec.finalizers` is empty. */
function staysForNamespace({ storageId }: ResourceDefinition, object: KubeObject): boolean {
  if (storageId !== "/namespaces") return false;
  const { spec } = object as KubeObject & { readonly spec?: { readonly finalizers?: readonly string[] } };
  return (spec?.finalizers ?? []).length > 0;
}

function checkPreconditions(
  { group, kind }: ResourceDefinition,
  { metadata }: KubeObject,
  options: DeleteOptions,
): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const of = { group, resource: kind };
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict(of, metadata.name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw conflict(of, metadata.name, why);
  }
}

/** The effect of a delete: remove the object now, leave a running deletion as it is, or mark the object. */
function markedForDeletion(
  definition: ResourceDefinition,
  original: KubeObject,
  options: DeleteOptions,
  nowMs: number,
): KubeObject | "remove" | "pending" {
  const { strategy, storageId } = definition;
  const object =
    original.metadata.deletionTimestamp === undefined
      ? (strategy.prepareDelete?.(original, nowMs) ?? original)
      : original;
  const { metadata } = object;
  const finalizers = finalizersFor(definition, metadata, options);
  const isFinalized = (finalizers ?? metadata.finalizers ?? []).length > 0 || storageId === "/namespaces";
  const graceSeconds = strategy.gracePeriodSeconds?.(object, options.gracePeriodSeconds);
  if (graceSeconds !== undefined) {
    const graceful = graceMetadata(metadata, graceSeconds, options.gracePeriodSeconds, nowMs);
    if (graceful === "pending") return "pending";
    if (graceful !== undefined) return withMetadata(object, { ...graceful, ...(finalizers && { finalizers }) });
  }
  if (!isFinalized) return "remove";
  const isFirst = metadata.deletionTimestamp === undefined;
  const generation = isFirst && metadata.generation ? { generation: metadata.generation + 1 } : {};
  const deletionTimestamp = metadata.deletionTimestamp ?? formatTime(nowMs);
  // The real server marks namespaces and CRDs on separate paths, which do not set these fields.
  const isPlain = storageId !== "/namespaces" && strategy.prepareDelete === undefined;
  const marks = {
    deletionTimestamp,
    ...(isPlain && { deletionGracePeriodSeconds: 0, ...generation }),
    ...(finalizers && { finalizers }),
  };
  const marked = withMetadata(object, marks);
  return storageId === "/namespaces" ? terminating(marked) : marked;
}

function withMetadata(object: KubeObject, changes: Partial<ObjectMeta>): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...changes } };
}

function terminating(namespace: KubeObject): KubeObject {
  const { status } = namespace as KubeObject & { readonly status?: object };
  return { ...namespace, status: { ...status, phase: "Terminating" } } as KubeObject;
}

/** The marks of a graceful delete. A running grace period can only be shortened. Undefined if it is over. */
function graceMetadata(
  metadata: ObjectMeta,
  graceSeconds: number,
  requested: number | undefined,
  nowMs: number,
): Partial<ObjectMeta> | "pending" | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds: running } = metadata;
  if (deletionTimestamp === undefined) {
    return {
      deletionTimestamp: formatTime(nowMs + graceSeconds * 1000),
      deletionGracePeriodSeconds: graceSeconds,
      ...(metadata.generation ? { generation: metadata.generation + 1 } : {}),
    };
  }
  if (!running) return undefined;
  if (requested === undefined || requested >= running) return "pending";
  const shortenedMs = Date.parse(deletionTimestamp) - running * 1000 + requested * 1000;
  const isPast = shortenedMs < nowMs;
  return {
    deletionTimestamp: formatTime(isPast ? nowMs : shortenedMs),
    deletionGracePeriodSeconds: isPast && requested !== 0 ? 1 : requested,
  };
}

const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";

/** The finalizers for the propagation policy; undefined if they need no change. */
function finalizersFor(
  { strategy }: ResourceDefinition,
  { finalizers = [] }: ObjectMeta,
  options: DeleteOptions,
): readonly string[] | undefined {
  const policy = propagationOf(strategy.defaultPropagation, finalizers, options);
  const wanted = finalizers.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (policy === "Orphan") wanted.push(ORPHAN);
  if (policy === "Foreground") wanted.push(FOREGROUND);
  const isSame = wanted.length === finalizers.length && wanted.every((finalizer) => finalizers.includes(finalizer));
  return isSame ? undefined : wanted;
}

function propagationOf(
  fallback: "Background" | "Foreground" | "Orphan" | undefined,
  finalizers: readonly string[],
  { propagationPolicy, orphanDependents }: DeleteOptions,
): "Background" | "Foreground" | "Orphan" {
  if (orphanDependents !== undefined) return orphanDependents ? "Orphan" : "Background";
  if (propagationPolicy !== undefined) return propagationPolicy;
  if (finalizers.includes(ORPHAN)) return "Orphan";
  if (finalizers.includes(FOREGROUND)) return "Foreground";
  return fallback ?? "Background";
}
