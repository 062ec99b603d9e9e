import type { KubeObject, ObjectMeta } from "setpoint";
import type { OwnerReference } from "setpoint/kinds";
import { StatusError } from "../../api/status-error.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { StoredObject } from "../../storage/storage.js";
import { type Propagation, parseDeleteOptions } from "../query/delete-options.js";
import { remove } from "../write/delete.js";
import { tracked } from "../write/field-ownership.js";
import { update } from "../write/update.js";
import type { WriteEnvironment, WriteRequest } from "../write/write-request.js";

/** The request of a loop of the control plane. Loops write as a system user through the same path as every client. */
export function planeRequest(
  definition: ResourceDefinition,
  namespace: string,
  account: string,
  signal: AbortSignal,
): WriteRequest {
  return {
    definition,
    namespace,
    subresource: "",
    user: {
      name: `system:serviceaccount:kube-system:${account}`,
      groups: [
        "system:serviceaccounts",
        "system:serviceaccounts:kube-system",
        "system:authenticated",
        "system:masters",
      ],
    },
    fieldManager: "kube-controller-manager",
    isDryRun: false,
    options: {},
    authorizeCreate: () => {},
    warn: () => {},
    signal,
  };
}

/** Deletes one object by uid. Ignores objects that are already gone or were replaced. */
export async function removeStored(
  environment: WriteEnvironment,
  stored: StoredObject,
  account: string,
  propagation: Propagation,
  signal: AbortSignal,
): Promise<void> {
  const definition = environment.catalog.stored(stored.resource);
  if (definition === undefined) return;
  const { namespace = "", name, uid } = stored.object.metadata;
  const options = parseDeleteOptions({ propagationPolicy: propagation, preconditions: { uid } }, new URLSearchParams());
  const request = planeRequest(definition, definition.namespaced ? namespace : "", account, signal);
  await ignoringAbsence(() => remove(environment, request, { name, options }));
}

/** Changes one object through its main endpoint. A 404 or 409 means that another client was faster, and is ignored. */
export async function changeStored(
  environment: WriteEnvironment,
  stored: StoredObject,
  account: string,
  signal: AbortSignal,
  change: (object: KubeObject) => KubeObject,
): Promise<void> {
  await changeThrough(environment, stored, account, {}, signal, change);
}

/** Changes the status of one object, as `manager`. */
export async function changeStatus(
  environment: WriteEnvironment,
  stored: StoredObject,
  account: string,
  manager: string,
  signal: AbortSignal,
  change: (object: KubeObject) => KubeObject,
): Promise<void> {
  const endpoint = { subresource: "status", fieldManager: manager };
  await changeThrough(environment, stored, account, endpoint, signal, change);
}

async function changeThrough(
  environment: WriteEnvironment,
  { resource, object }: StoredObject,
  account: string,
  endpoint: Partial<Pick<WriteRequest, "subresource" | "fieldManager">>,
  signal: AbortSignal,
  change: (object: KubeObject) => KubeObject,
): Promise<void> {
  const definition = environment.catalog.stored(resource);
  if (definition === undefined) return;
  const { namespace = "", name, uid } = object.metadata;
  const request = {
    ...planeRequest(definition, definition.namespaced ? namespace : "", account, signal),
    ...endpoint,
  };
  await ignoringAbsence(() =>
    update(environment, request, {
      name,
      expectedUid: uid,
      transform: (old) => tracked(environment, request, old, change(old!)),
    }),
  );
}

export function withoutFinalizer(object: KubeObject, finalizer: string): KubeObject {
  return filtered(object, "finalizers", (each) => each !== finalizer);
}

export function withoutOwners(object: KubeObject, isDropped: (owner: OwnerReference) => boolean): KubeObject {
  return filtered(object, "ownerReferences", (owner) => !isDropped(owner));
}

/** Removes an empty list entirely, so that no manager owns it. */
function filtered<Field extends "finalizers" | "ownerReferences">(
  object: KubeObject,
  field: Field,
  isKept: (item: NonNullable<ObjectMeta[Field]>[number]) => boolean,
): KubeObject {
  const { [field]: list, ...metadata } = object.metadata;
  const kept = ((list ?? []) as readonly NonNullable<ObjectMeta[Field]>[number][]).filter(isKept);
  return { ...object, metadata: (kept.length === 0 ? metadata : { ...metadata, [field]: kept }) as ObjectMeta };
}

async function ignoringAbsence(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (error instanceof StatusError && (error.status.code === 404 || error.status.code === 409)) return;
    throw error;
  }
}
