import type { KubeObject, ObjectMeta } from "setpoint";
import type { Clock, Random } from "setpoint/clock";
import { formatTime, keyOf, type UntypedObject } from "setpoint/kinds";
import type { Facts } from "./facts/facts.js";
import type { ResourceCatalog } from "./kinds/catalog.js";
import { newUid } from "./registry/write/identity.js";
import type { Storage } from "./storage/storage.js";

export interface BootstrapEnvironment {
  readonly storage: Storage;
  readonly catalog: ResourceCatalog;
  readonly facts: Facts;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Creates the objects that every server has from its first start: namespaces, roles, priority classes. Recreates
 * deleted ones at the next start, as kube-apiserver does, and keeps changed ones.
 */
export async function bootstrap({ storage, catalog, facts, clock, random }: BootstrapEnvironment): Promise<void> {
  const nowMs = clock.now();
  const writes = facts.bootstrap.flatMap((object) => {
    const definition = catalog.findKind(object.apiVersion, object.kind);
    if (!definition) return [];
    const write = { resource: definition.storageId, key: keyOf(object), expected: undefined };
    if (storage.head(write.resource, write.key)) return [];
    const { group, version, plural } = definition;
    const hasGeneration = facts.strategy(group, version, plural)?.hasGeneration ?? false;
    return [storage.commit({ ...write, object: newObject(object, hasGeneration, newUid(random), nowMs) })];
  });
  await Promise.all(writes);
}

function newObject(object: UntypedObject, hasGeneration: boolean, uid: string, nowMs: number): KubeObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  const now = formatTime(nowMs);
  const { name, namespace, labels, annotations, managedFields } = metadata;
  return {
    kind,
    apiVersion,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      uid,
      resourceVersion: "",
      ...(hasGeneration && { generation: 1 }),
      creationTimestamp: now,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(managedFields && { managedFields: managedFields.map((entry) => owned(entry, now)) }),
    },
    ...rest,
    ...(hasConditions(rest) && { status: { ...rest.status, conditions: timed(rest.status.conditions, now) } }),
  };
}

/** Facts have no times, so ownership starts now. */
function owned(entry: ManagedFieldsEntry, time: string): ManagedFieldsEntry {
  const { manager, operation, apiVersion, ...fields } = entry;
  return { manager, operation, apiVersion, time, ...fields };
}

type ManagedFieldsEntry = NonNullable<ObjectMeta["managedFields"]>[number];
type Condition = Readonly<Record<string, unknown>>;

function hasConditions(object: object): object is { status: { conditions: readonly Condition[] } } {
  return Array.isArray((object as { status?: { conditions?: unknown } }).status?.conditions);
}

/** Facts have no times, so conditions start now. */
function timed(conditions: readonly Condition[], lastTransitionTime: string): readonly Condition[] {
  return conditions.map(({ type, status, ...why }) => ({ type, status, lastTransitionTime, ...why }));
}
