import type { KubeObject, ObjectMeta } from "setpoint";
import { formatTime, subdomainName } from "setpoint/kinds";
import { asJson, type JsonObject } from "../../api/json.js";
import { validateKubernetesFinalizers, validateObjectMeta } from "../../api/metadata/object-meta-validation.js";
import { withoutDuplicateOwners } from "../../api/metadata/owner-references.js";
import {
  alreadyExists,
  badRequest,
  type FieldError,
  generateNameConflict,
  invalid,
  unexpected,
} from "../../api/status-error.js";
import { laidOut, laidOutMetadata } from "../../apply/object-layout.js";
import { apiVersionOf } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import { zeroStruct } from "../../schema/go-struct.js";
import { StorageConflict } from "../../storage/storage-error.js";
import { writeInSteps } from "../body/sliced-json.js";
import { isStorageVersion, type ServedObject } from "../read/served-form.js";
import { admit, validateAdmission } from "./admission-chain.js";
import { commit } from "./commit.js";
import { defaulted } from "./decoded-object.js";
import { withEmptyParts } from "./empty-metadata.js";
import { tracked } from "./field-ownership.js";
import { generatedName, newUid } from "./identity.js";
import { storageKey, type WriteEnvironment, type WriteRequest } from "./write-request.js";

const NAME_ATTEMPTS = 8;

/**
 * Creates the object that a client or the server itself posts. `decode` returns it pruned and defaulted. A rehearsal
 * makes that call unnecessary.
 */
export async function createPosted(
  environment: WriteEnvironment,
  request: WriteRequest,
  decode: () => KubeObject,
): Promise<ServedObject> {
  const { definition, proposal } = request;
  const ready = proposal?.take(undefined);
  const object = ready ?? decode();
  let name = "";
  const own = (decoded: KubeObject): KubeObject => {
    const owned = ready ?? ownedBy(environment, request, decoded);
    if (ready === undefined) proposal?.keep(undefined, owned);
    name = owned.metadata.name;
    return owned;
  };
  const attempts = object.metadata.generateName && !object.metadata.name ? NAME_ATTEMPTS : 1;
  for (let attempt = 1; ; attempt++) {
    try {
      return await create(environment, request, { decode: () => object, own });
    } catch (error) {
      if (!(error instanceof StorageConflict)) throw error;
    }
    const of = { group: definition.group, resource: definition.plural };
    if (attempts === 1) throw alreadyExists(of, name);
    if (attempt === attempts) throw generateNameConflict(of, name);
  }
}

/** Adds everything that the server sets, including field ownership. */
function ownedBy(environment: WriteEnvironment, request: WriteRequest, object: KubeObject): KubeObject {
  const named = withSystemFields(environment, request, withoutDuplicateOwners(object, request.warn));
  return tracked(environment, request, undefined, named);
}

/** The steps in which a POST, a PUT and an apply create an object differently. */
export interface Creation {
  /** Returns the object as sent, pruned. */
  readonly decode: () => KubeObject;
  /** Sets name, field ownership and system fields. */
  readonly own: (decoded: KubeObject) => KubeObject;
  /** Whether the request was an update. If so, empty metadata maps and lists in the request are stored. */
  readonly isUpdate?: boolean;
  /** Whether the object comes from an apply. It may hold nulls, which are stored but omitted on every read. */
  readonly isApplied?: boolean;
}

/** Creates an object: decode, own, admit, prepare, commit. Throws `StorageConflict` if the name is taken. */
export async function create(
  environment: WriteEnvironment,
  request: WriteRequest,
  { decode, own, isUpdate = false, isApplied = false }: Creation,
): Promise<ServedObject> {
  const { definition, signal } = request;
  const decoded = decode();
  if (request.pause) await request.pause();
  const owned = own(decoded);
  const admitted = await admit(environment, request, "CREATE", owned.metadata.name, owned, undefined);
  // A posted object is already defaulted, except for what admission added.
  const known = isUpdate ? undefined : decoded;
  const validated = admitted === owned ? request.proposal?.validated(decoded) : undefined;
  const prepared = await preparedForCreate(environment, request, admitted!, known, validated);
  if (request.pause) await request.pause();
  const key = storageKey(request.namespace, prepared.metadata.name);
  const taken = environment.storage.head(definition.storageId, key);
  if (taken !== undefined) throw new StorageConflict(definition.storageId, key, taken);
  if (request.isDryRun) {
    return encoded((isApplied ? definition.refresh?.(prepared) : undefined) ?? prepared, request.pause);
  }
  const untidied = isUpdate ? withEmptyParts(prepared, asJson(decoded)) : prepared;
  const stored = await commit(environment, definition, {
    resource: definition.storageId,
    key,
    expected: undefined,
    object: await toStored(definition, untidied, signal),
  });
  if (untidied === prepared && !isApplied && isStorageVersion(definition))
    environment.forms.markCurrent(stored, definition);
  return environment.forms.served(stored, definition, signal);
}

/** Encodes an object that is not stored. With `pause`, other requests run in between. */
export async function encoded(object: KubeObject, pause?: () => Promise<void>): Promise<ServedObject> {
  const json = pause === undefined ? JSON.stringify(object) : await writeInSteps(asJson(object) as JsonObject, pause);
  return { object, json: Buffer.from(json) };
}

/** Sets name, namespace, uid and creation time, and clears what a client may not set. */
export function withSystemFields(
  { clock, random }: WriteEnvironment,
  request: WriteRequest,
  object: KubeObject,
): KubeObject {
  const { definition, namespace } = request;
  const given: Partial<ObjectMeta> = object.metadata ?? {};
  if (definition.namespaced && given.namespace && given.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (given.resourceVersion && !request.isDryRun) {
    throw unexpected("resourceVersion should not be set on objects to be created");
  }
  const metadata = laidOutMetadata(given, {
    name: given.name || (given.generateName ? generatedName(given.generateName, random) : ""),
    namespace: definition.namespaced ? namespace : undefined,
    uid: newUid(random),
    creationTimestamp: formatTime(clock.now()),
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
  });
  return laidOut(object, apiVersionOf(definition), definition.kind, metadata);
}

/**
 * Runs the strategy's preparation, then validation, then the validating plugins. `known` is the defaulted object before
 * admission. `validated` holds the warnings if validation was already done.
 */
async function preparedForCreate(
  environment: WriteEnvironment,
  request: WriteRequest,
  object: KubeObject,
  known: KubeObject | undefined,
  validated: readonly string[] | undefined,
): Promise<KubeObject> {
  const { definition } = request;
  const { strategy, shape } = definition;
  const context = { nowMs: environment.clock.now(), subresource: "", user: request.user };
  if (request.pause) await request.pause();
  const complete = defaulted(definition, object, known);
  const isReset = strategy.hasStatus && strategy.keepsStatusOfNew !== true;
  const withoutStatus = isReset ? withStatusReset(definition, complete) : complete;
  const counted = strategy.hasGeneration
    ? { ...withoutStatus, metadata: { ...withoutStatus.metadata, generation: 1 } }
    : withoutStatus;
  const chosen = strategy.prepareCreate?.(counted, context) ?? counted;
  const prepared = laidOut(chosen, apiVersionOf(definition), definition.kind);
  if (request.pause) await request.pause();
  const { name } = prepared.metadata;
  if (validated === undefined) {
    const errors = [
      ...metadataErrors(definition, prepared),
      ...shape.validate(prepared, undefined, "", request.warn),
      ...(strategy.validate?.(prepared, context) ?? []),
    ];
    if (errors.length > 0) throw invalid({ group: definition.group, resource: definition.kind }, name ?? "", errors);
  }
  for (const warning of validated ?? strategy.warnings?.(prepared, undefined) ?? []) request.warn(warning);
  await validateAdmission(environment, request, "CREATE", name, prepared, undefined);
  return prepared;
}

/** A new object has no status. For a kind with a Go struct the status is present and empty. */
function withStatusReset({ message }: ResourceDefinition, object: KubeObject): KubeObject {
  const { status: _status, ...rest } = object as KubeObject & { status?: unknown };
  const empty = message === undefined ? undefined : zeroStruct(message).status;
  return empty === undefined ? rest : ({ ...rest, status: empty } as KubeObject);
}

/** Validates the metadata of a new or changed object. */
export function metadataErrors(definition: ResourceDefinition, object: KubeObject): readonly FieldError[] {
  const { strategy, namespaced, isBuiltIn, group } = definition;
  const errors = validateObjectMeta(object, namespaced, strategy.nameRule ?? subdomainName);
  const isKubernetes = isBuiltIn && group !== "coordination.k8s.io" && group !== "apiextensions.k8s.io";
  return isKubernetes ? [...errors, ...validateKubernetesFinalizers(object)] : errors;
}

/** Converts the object to the storage version. */
export async function toStored(
  definition: ResourceDefinition,
  object: KubeObject,
  signal: AbortSignal,
): Promise<KubeObject> {
  if (isStorageVersion(definition)) return object;
  if (definition.convert !== undefined) {
    const [converted] = await definition.convert.toStored([object], signal);
    return converted!;
  }
  const group = definition.storageId.slice(0, definition.storageId.indexOf("/"));
  return { ...object, apiVersion: apiVersionOf({ group, version: definition.storageVersion }) };
}
