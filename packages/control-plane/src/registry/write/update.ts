import type { KubeObject, ObjectMeta } from "setpoint";
import { isSameJson, type UntypedObject } from "setpoint/kinds";
import { invalidValue } from "../../api/field-error.js";
import { goQuote } from "../../api/go-format.js";
import { asJson, type Json } from "../../api/json.js";
import { validateObjectMetaUpdate } from "../../api/metadata/object-meta-validation.js";
import { withoutDuplicateOwners } from "../../api/metadata/owner-references.js";
import { badRequest, conflict, invalid, notFound, unexpected } from "../../api/status-error.js";
import { laidOut } from "../../apply/object-layout.js";
import { apiVersionOf } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { StoredObject } from "../../storage/storage.js";
import { StorageConflict } from "../../storage/storage-error.js";
import { isStorageVersion, type ServedObject } from "../read/served-form.js";
import { admit, validateAdmission } from "./admission-chain.js";
import { commit } from "./commit.js";
import { type Creation, create, encoded, metadataErrors, toStored, withSystemFields } from "./create.js";
import { defaulted } from "./decoded-object.js";
import { withEmptyParts } from "./empty-metadata.js";
import { limitedToEndpoint } from "./endpoint-part.js";
import { withoutIdleTimes } from "./field-ownership.js";
import { proposed, storageKey, type WriteEnvironment, type WriteRequest } from "./write-request.js";

export interface UpdateResult {
  readonly object: ServedObject;
  readonly isCreated: boolean;
}

export interface Update {
  readonly name: string;
  /**
   * Makes the new object, including field ownership, from the old one. Called again after a conflict. `old` is
   * undefined if the object is missing and the update may create it.
   */
  readonly transform: (old: KubeObject | undefined) => KubeObject;
  /**
   * Whether to create a missing object: always for an apply, never for other patches, for a PUT if its kind allows it.
   */
  readonly createsMissing?: boolean;
  /** The uid that the object must have. */
  readonly expectedUid?: string;
  /** Skips admission, for writes of the control plane itself. */
  readonly skipsAdmission?: boolean;
  /** Whether the object comes from an apply. It may hold nulls, which are stored but omitted on every read. */
  readonly isApplied?: boolean;
}

/** Replaces an object. Retries if another write came first. */
export async function update(
  environment: WriteEnvironment,
  request: WriteRequest,
  change: Update,
): Promise<UpdateResult> {
  const { storage } = environment;
  const { definition, namespace, signal } = request;
  const key = storageKey(namespace, change.name);
  for (;;) {
    signal.throwIfAborted();
    const head = storage.head(definition.storageId, key);
    try {
      if (head !== undefined) return await replace(environment, request, change, head);
      if (change.createsMissing ?? definition.strategy.allowsCreateOnUpdate) {
        const object = await create(environment, request, missing(environment, request, change));
        return { object, isCreated: true };
      }
    } catch (error) {
      if (error instanceof StorageConflict) continue;
      throw error;
    }
    throw notFound({ group: definition.group, resource: definition.plural }, change.name);
  }
}

/** How an update creates a missing object. */
function missing(environment: WriteEnvironment, request: WriteRequest, change: Update): Creation {
  const { name, transform, expectedUid, isApplied = false } = change;
  const of = { group: request.definition.group, resource: request.definition.plural };
  if (request.subresource !== "") throw notFound(of, name);
  return {
    decode: () => proposed(request.proposal, undefined, () => transform(undefined)),
    own(object) {
      // Permission to update does not imply permission to create.
      request.authorizeCreate();
      if (expectedUid) throw conflict(of, name, uidPrecondition(request, name, expectedUid, ""));
      const unversioned = { ...object, metadata: { ...object.metadata, resourceVersion: "" } };
      return withSystemFields(environment, request, unversioned);
    },
    isUpdate: true,
    isApplied,
  };
}

async function replace(
  environment: WriteEnvironment,
  request: WriteRequest,
  change: Update,
  head: StoredObject,
): Promise<UpdateResult> {
  const { definition, subresource, signal, proposal, pause } = request;
  const { name } = change;
  const current = await environment.forms.served(head, definition, signal);
  const old = current.object;
  checkUid(request, name, change.expectedUid, old);
  const made = proposed(proposal, old, () => change.transform(old));
  if (pause) await pause();
  const changed = withoutDuplicateOwners(made, request.warn);
  const admitted = change.skipsAdmission ? changed : (await admit(environment, request, "UPDATE", name, changed, old))!;
  if (pause) await pause();
  const versioned = withResourceVersion(definition, name, admitted, old);
  const validated = admitted === made ? proposal?.validated(made) : undefined;
  const prepared = preparedForUpdate(environment, request, versioned, old, validated);
  if (pause) await pause();
  const settled = withoutIdleTimes(prepared, old);
  if (!change.skipsAdmission) await validateAdmission(environment, request, "UPDATE", name, settled, old);
  const isGone = isReadyToGo(definition, settled, old);
  if (pause) await pause();
  if (request.isDryRun) return { object: await encoded(asRead(definition, change, settled), pause), isCreated: false };
  if (isGone && subresourceMayRemove(subresource)) {
    await environment.storage.commit({ resource: head.resource, key: head.key, expected: head, object: undefined });
    return { object: await encoded(settled, pause), isCreated: false };
  }
  const untidied = withEmptyParts(settled, asJson(admitted));
  const atStorageVersion = await toStored(definition, untidied, signal);
  const isNoOp = isSameJson(asJson(untidied), asJson(old)) && isSameJson(asJson(atStorageVersion), asJson(head.object));
  if (isNoOp) return { object: current, isCreated: false };
  const stored = await commit(environment, definition, {
    resource: head.resource,
    key: head.key,
    expected: head,
    object: atStorageVersion,
  });
  if (untidied === settled && !change.isApplied && isStorageVersion(definition))
    environment.forms.markCurrent(stored, definition);
  return { object: await environment.forms.served(stored, definition, signal), isCreated: false };
}

/** The object as a read after the write would return it. */
function asRead(definition: ResourceDefinition, { isApplied }: Update, object: KubeObject): KubeObject {
  return (isApplied ? definition.refresh?.(object) : undefined) ?? object;
}

/** An object that is being deleted is removed with its last finalizer. */
function isReadyToGo(definition: ResourceDefinition, object: KubeObject, old: KubeObject): boolean {
  const { metadata } = object;
  const isMarked = metadata.deletionTimestamp !== undefined && (metadata.deletionGracePeriodSeconds ?? 0) === 0;
  return isMarked && finalizersOf(definition, object) === 0 && finalizersOf(definition, old) > 0;
}

/** Namespaces also have finalizers in their spec. */
function finalizersOf({ storageId }: ResourceDefinition, object: KubeObject): number {
  const own = (object.metadata.finalizers ?? []).length;
  if (storageId !== "/namespaces") return own;
  const { spec } = object as KubeObject & { readonly spec?: { readonly finalizers?: readonly string[] } };
  return own + (spec?.finalizers ?? []).length;
}

function subresourceMayRemove(subresource: string): boolean {
  return subresource === "" || subresource === "finalize" || subresource === "status";
}

function checkUid(request: WriteRequest, name: string, expected: string | undefined, { metadata }: KubeObject): void {
  if (!expected || expected === metadata.uid) return;
  const { group, plural } = request.definition;
  throw conflict({ group, resource: plural }, name, uidPrecondition(request, name, expected, metadata.uid));
}

/** The real server exposes its storage key here, and clients know this message. */
function uidPrecondition(request: WriteRequest, name: string, expected: string, actual: string): string {
  const { definition, namespace, isDryRun } = request;
  const resource = definition.isBuiltIn ? definition.plural : `${definition.group}/${definition.plural}`;
  const key = `${isDryRun ? "" : "/registry"}/${resource}/${storageKey(namespace, name)}`;
  return `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${expected}, UID in object meta: ${actual}`;
}

function withResourceVersion(
  definition: ResourceDefinition,
  name: string,
  object: KubeObject,
  old: KubeObject,
): KubeObject {
  const { group, plural } = definition;
  const given: string | undefined = object.metadata.resourceVersion;
  if (given === old.metadata.resourceVersion) return object;
  if (given && !/^\d+$/.test(given)) {
    throw unexpected(`strconv.ParseUint: parsing ${goQuote(given)}: invalid syntax`);
  }
  if (!given || given === "0") {
    if (!definition.strategy.allowsUnconditionalUpdate) {
      const error = invalidValue("metadata.resourceVersion", 0, "must be specified for an update");
      throw invalid({ group, resource: plural }, name, [error]);
    }
    return { ...object, metadata: { ...object.metadata, resourceVersion: old.metadata.resourceVersion } };
  }
  throw conflict({ group, resource: plural }, name);
}

/**
 * Restores what clients cannot change, increments the generation and validates. `validated` holds the warnings if
 * validation was already done.
 */
function preparedForUpdate(
  environment: WriteEnvironment,
  request: WriteRequest,
  object: KubeObject,
  old: KubeObject,
  validated: readonly string[] | undefined,
): KubeObject {
  const { definition, namespace, subresource, user } = request;
  const { strategy, shape } = definition;
  const given: Partial<ObjectMeta> = object.metadata;
  if (definition.namespaced && given.namespace && given.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const was = old.metadata;
  const metadata = {
    ...given,
    namespace: definition.namespaced ? namespace : undefined,
    uid: given.uid || was.uid,
    generation: was.generation,
    creationTimestamp: was.creationTimestamp,
    deletionTimestamp: was.deletionTimestamp ?? given.deletionTimestamp,
    deletionGracePeriodSeconds: given.deletionGracePeriodSeconds ?? was.deletionGracePeriodSeconds,
  } as ObjectMeta;
  const complete = defaulted(definition, { ...object, metadata }, old);
  const limited = limitedToEndpoint(definition, subresource, complete, old);
  const context = { nowMs: environment.clock.now(), subresource, user };
  const chosen = strategy.prepareUpdate?.(limited, old, context) ?? limited;
  const counted = withGeneration(definition, subresource, chosen, old);
  const prepared = laidOut(counted, apiVersionOf(definition), definition.kind);
  if (validated !== undefined) {
    for (const warning of validated) request.warn(warning);
    return prepared;
  }
  const metadataUpdate = validateObjectMetaUpdate(prepared, old);
  const ofMetadata = metadataErrors(definition, prepared);
  const errors = [
    ...metadataUpdate,
    ...ofMetadata,
    ...(strategy.validatesMetadataTwice ? ofMetadata : []),
    ...metadataUpdate,
    ...shape.validate(prepared, old, subresource, request.warn),
    ...(strategy.validateUpdate?.(prepared, old, context) ?? []),
  ];
  if (errors.length > 0) throw invalid({ group: definition.group, resource: definition.kind }, was.name, errors);
  if (subresource === "" || subresource === "scale") {
    for (const warning of strategy.warnings?.(prepared, old) ?? []) request.warn(warning);
  }
  return prepared;
}

/** The endpoints that change the desired state. */
const COUNTED_ENDPOINTS = ["", "scale", "ephemeralcontainers", "resize"];

function withGeneration(
  { strategy }: ResourceDefinition,
  subresource: string,
  object: KubeObject,
  old: KubeObject,
): KubeObject {
  if (!strategy.hasGeneration || !COUNTED_ENDPOINTS.includes(subresource)) return object;
  const isChanged =
    !isSameJson(desiredPart(object, strategy.hasStatus), desiredPart(old, strategy.hasStatus)) ||
    (strategy.generationCountsAnnotations === true &&
      !isSameJson((object.metadata.annotations ?? {}) as Json, (old.metadata.annotations ?? {}) as Json));
  if (!isChanged) return object;
  return { ...object, metadata: { ...object.metadata, generation: (old.metadata.generation ?? 0) + 1 } };
}

/** Everything except metadata, and except the status if it has its own endpoint. */
function desiredPart(object: KubeObject, hasStatus: boolean): Json {
  const { metadata: _metadata, apiVersion: _apiVersion, kind: _kind, ...rest } = object as UntypedObject;
  if (!hasStatus) return rest as unknown as Json;
  const { status: _status, ...desired } = rest;
  return desired as unknown as Json;
}
