import { formatTime } from "setpoint/kinds";
import { isArray, isObject, type Json, type JsonObject, withField, withoutField } from "../api/json.js";
import { StatusError } from "../api/status-error.js";
import type { Message } from "../facts/message.js";
import type { Schema } from "../facts/schema.js";
import { zeroStruct } from "../schema/go-struct.js";
import { ConflictsError } from "./conflict.js";
import { createdFields } from "./created-fields.js";
import { difference, equalSets, type FieldSet, isEmptySet, setOf, union } from "./field-set.js";
import { allowedByLastApplied, syncLastApplied } from "./last-applied.js";
import {
  compareTimes,
  decodeManagers,
  encodeManagers,
  isReset,
  isWrittenUnder,
  type ManagedFieldsEntry,
  type Manager,
  type Managers,
  managerId,
} from "./managed-fields.js";
import { type MergeType, mergeType } from "./merge-type.js";
import { OwnershipError } from "./ownership-error.js";
import { checkTyped, checkTypedUpdate } from "./typed-validation.js";
import { apply, update, type Versions } from "./updater.js";

/** The kind, endpoint and time of a write, to determine field ownership. */
export interface WriteContext {
  /** The version of the request, and of `live` and the written object. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for the main endpoint. */
  readonly subresource: string;
  /** The field manager in the request, or the first word of the user agent for updates. */
  readonly manager: string;
  readonly nowMs: number;
  /** The Go struct of a built-in kind, whose empty value has fields; undefined for a custom resource. */
  readonly message: Message | undefined;
  /** The schema of a served version; undefined if the version is not served, null if it has no schema. */
  schemaOf(apiVersion: string): Schema | null | undefined;
  /** Converts to another version. By default, only the apiVersion changes. */
  convert?(object: JsonObject, apiVersion: string): JsonObject;
  /** Fields that this endpoint resets at a version. Writes through it never own them. */
  resetFields?(apiVersion: string): FieldSet | undefined;
}

const BEFORE_FIRST_APPLY = "before-first-apply";
const ANCIENT_CHANGES = "ancient-changes";
const MAX_UPDATERS = 10;

/** Fields that nobody owns. */
const STRIPPED = setOf(
  ["f:apiVersion"],
  ["f:kind"],
  ["f:metadata"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((name) => ["f:metadata", `f:${name}`]),
);

/**
 * The object that a create, update or patch stores, with updated `metadata.managedFields`: the writer owns the fields
 * that it changed. `live` is undefined for a create. Never fails: if ownership cannot be determined, nobody owns the
 * fields.
 */
export function trackUpdate(context: WriteContext, live: JsonObject | undefined, object: JsonObject): JsonObject {
  const isPlainCreate =
    live === undefined && context.subresource === "" && metadataOf(object).managedFields === undefined;
  return isPlainCreate ? trackCreate(context, object) : trackChange(context, live, object);
}

/** A create without managedFields: the writer owns every field. Cached by object outline. */
function trackCreate(context: WriteContext, object: JsonObject): JsonObject {
  const type = typeAt(context, context.apiVersion);
  if (type === undefined) return trackChange(context, undefined, object);
  const { message } = context;
  const created = createdFields(type, message, context.resetFields?.(context.apiVersion));
  const outlined = created.outlineOf(type, message === undefined ? {} : zeroStruct(message), object);
  if (outlined === undefined) return trackChange(context, undefined, object);
  const { outline, owner } = outlined;
  const fields = outline.fieldsOf(owner);
  if (fields !== undefined) {
    if (!isOf(outline.latest, fields, context)) {
      const manager = { ...managerOf(context, context.manager, false), fields };
      outline.latest = encodeManagers(new Map([[managerId(manager), manager]]), () => type);
    }
    return setManagedFields(object, outline.latest as unknown as Json);
  }
  const tracked = trackChange(context, undefined, object);
  const entries = managedFieldsOf(tracked) as readonly ManagedFieldsEntry[] | undefined;
  if (entries?.length === 1) outline.keep(entries[0]!.fieldsV1, owner);
  return tracked;
}

/** Whether the entries are those of a create of these fields, by this writer, at this time. */
function isOf(entries: readonly ManagedFieldsEntry[] | undefined, fields: FieldSet, context: WriteContext): boolean {
  const [only] = entries ?? [];
  return (
    only !== undefined &&
    only.fieldsV1 === fields &&
    only.manager === managerName(context.manager) &&
    only.apiVersion === context.apiVersion &&
    only.time === formatTime(context.nowMs)
  );
}

function trackChange(context: WriteContext, live: JsonObject | undefined, object: JsonObject): JsonObject {
  const before = live ?? emptyObject(context);
  const after = setManagedFields(object, undefined);
  try {
    const managers = managersOfUpdate(context, before, object);
    if (managers.size === 0 && metadataOf(before).uid) return after;
    const result = updateManagers(context, setManagedFields(before, undefined), after, managers, context.manager);
    return setManagedFields(object, encoded(context, result));
  } catch (error) {
    if (error instanceof OwnershipError) return after;
    throw error;
  }
}

/**
 * The object that a server-side apply stores: `live` merged with the configuration, without the fields that this
 * manager applied before and no longer applies. `live` is undefined if the object does not exist. Throws
 * `StatusError`: 409 with the conflicting fields, 400 or 500 for a malformed configuration.
 */
export function applyServerSide(
  context: WriteContext,
  live: JsonObject | undefined,
  config: JsonObject,
  { force = false }: { readonly force?: boolean } = {},
): JsonObject {
  checkConfig(context, config);
  const before = live ?? emptyObject(context);
  const managers = orInternalError("failed to decode managed fields", () =>
    decodeManagers(managedFieldsOf(before) as readonly unknown[] | undefined),
  );
  const bare = setManagedFields(before, undefined);
  const run = (forced: boolean) => applyManagers(context, bare, config, managers, forced);
  let outcome: ReturnType<typeof run>;
  try {
    outcome = run(force);
  } catch (error) {
    if (!(error instanceof ConflictsError)) throw error;
    const conflicts =
      context.manager === "kubectl" ? allowedByLastApplied(context, bare, error.conflicts) : error.conflicts;
    if (conflicts.length > 0) throw new ConflictsError(conflicts).toStatus();
    outcome = run(true);
  }
  const object = context.manager === "kubectl" ? syncLastApplied(outcome.object, config) : outcome.object;
  return setManagedFields(object, encoded(context, outcome.managers));
}

function checkConfig(context: WriteContext, config: JsonObject): void {
  const { apiVersion, kind } = config;
  if (apiVersion !== context.apiVersion || kind !== context.kind) {
    throw new StatusError(400, "BadRequest", `invalid object type: ${groupVersionKind(config)}`);
  }
  if ((managedFieldsOf(config) ?? null) !== null) {
    throw new StatusError(400, "BadRequest", "metadata.managedFields must be nil");
  }
}

function applyManagers(
  context: WriteContext,
  live: JsonObject,
  config: JsonObject,
  managers: Managers,
  force: boolean,
): { readonly object: JsonObject; readonly managers: Managers } {
  const known =
    managers.size === 0 ? updateManagers(context, emptyObject(context), live, managers, BEFORE_FIRST_APPLY) : managers;
  const versions = versionsOf(context);
  const type = versions.typeOf(context.apiVersion)!;
  const named = `${objectName(config)}; ${groupVersionKind(config)}`;
  orInternalError(`failed to create typed patch object (${named})`, () => checkTyped(type, config));
  orInternalError(`failed to create typed live object (${named})`, () => checkLive(type, live, managers));
  const self = managerOf(context, context.manager, true);
  const id = managerId(self);
  const outcome = apply(versions, live, config, known, id, self, force);
  const result = strip(outcome.managers, id);
  const own = result.get(id);
  if (outcome.object !== undefined && own !== undefined) result.set(id, { ...own, time: self.time });
  return { object: outcome.object ?? live, managers: result };
}

/** The managers after an update. The writer keeps its earlier fields and gains the changed ones. */
function updateManagers(
  context: WriteContext,
  live: JsonObject,
  object: JsonObject,
  managers: Managers,
  name: string,
): Managers {
  const versions = versionsOf(context);
  const type = versions.typeOf(context.apiVersion)!;
  checkLive(type, live, managers);
  checkTypedUpdate(type, object, live);
  const self = managerOf(context, name, false);
  const id = managerId(self);
  const operation = "current-operation";
  const result = strip(update(versions, live, object, managers, operation, self), operation);
  const changed = result.get(operation);
  if (changed !== undefined) {
    result.delete(operation);
    const previous = result.get(id);
    const fields = previous === undefined ? changed.fields : union(previous.fields, changed.fields);
    // The writer mostly owned all of that before. A known set need not be checked and frozen again.
    const before = managers.get(id)?.fields;
    result.set(id, { ...changed, fields: before !== undefined && equalSets(before, fields) ? before : fields });
  }
  return cap(result);
}

/** Skips objects that this process wrote under the same type: they were checked then. */
function checkLive(type: MergeType, live: JsonObject, managers: Managers): void {
  for (const manager of managers.values()) if (isWrittenUnder(manager.fields, type)) return;
  checkTyped(type, live, { allowDuplicates: true });
}

function encoded(context: WriteContext, managers: Managers): Json | undefined {
  return encodeManagers(managers, (apiVersion) => typeAt(context, apiVersion)) as unknown as Json | undefined;
}

/** Merges the oldest updaters of each version until few enough remain. */
function cap(managers: Managers): Managers {
  const updaters = [...managers].filter(([, manager]) => !manager.isApplier);
  let count = updaters.length;
  if (count <= MAX_UPDATERS) return managers;
  updaters.sort(([idA, a], [idB, b]) => compareTimes(a, b) || (idA < idB ? -1 : 1));
  const result: Managers = new Map(managers);
  const firstAt = new Map<string, string>();
  for (const [id, manager] of updaters) {
    if (count <= MAX_UPDATERS) break;
    const first = firstAt.get(manager.apiVersion);
    if (first === undefined) {
      firstAt.set(manager.apiVersion, id);
      continue;
    }
    const bucket = { name: ANCIENT_CHANGES, isApplier: false, apiVersion: manager.apiVersion, subresource: "" };
    const bucketId = managerId(bucket);
    const merged = result.get(bucketId) ?? result.get(first)!;
    result.delete(result.has(bucketId) ? bucketId : first);
    result.delete(id);
    result.set(bucketId, { ...bucket, time: manager.time, fields: union(manager.fields, merged.fields) });
    count--;
  }
  return result;
}

/**
 * The managers before an update: those in the written object, or those of `live` if it has none or for a subresource.
 */
function managersOfUpdate(context: WriteContext, live: JsonObject, object: JsonObject): Managers {
  const ofLive = (): Managers =>
    readable(() => decodeManagers(managedFieldsOf(live) as readonly unknown[] | undefined)) ?? new Map();
  if (context.subresource !== "") return ofLive();
  const entries = managedFieldsOf(object) as readonly unknown[] | undefined;
  if (entries !== undefined && entries === (managedFieldsOf(live) as unknown)) return ofLive();
  if (isReset(entries)) return new Map();
  const known = ofLive();
  const managers = readable(() => decodeManagers(entries, known));
  return managers === undefined || managers.size === 0 ? known : managers;
}

/** The result of `read`; undefined for malformed ownership. Rethrows other errors. */
function readable<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof OwnershipError) return undefined;
    throw error;
  }
}

function versionsOf(context: WriteContext): Versions {
  return {
    typeOf: (apiVersion) => typeAt(context, apiVersion),
    convert(object, apiVersion) {
      if (object.apiVersion === apiVersion || object.apiVersion === undefined) return object;
      return context.convert?.(object, apiVersion) ?? withField(object, "apiVersion", apiVersion);
    },
    resetFields: (apiVersion) => context.resetFields?.(apiVersion),
  };
}

function typeAt(context: WriteContext, apiVersion: string): MergeType | undefined {
  const schema = context.schemaOf(apiVersion);
  return schema === undefined ? undefined : mergeType(schema ?? undefined);
}

function managerName(name: string): string {
  return name === "" ? "unknown" : name;
}

function managerOf(context: WriteContext, name: string, isApplier: boolean): Omit<Manager, "fields"> {
  return {
    name: managerName(name),
    isApplier,
    apiVersion: context.apiVersion,
    subresource: context.subresource,
    time: formatTime(context.nowMs),
  };
}

function strip(managers: Managers, id: string): Managers {
  const manager = managers.get(id);
  if (manager === undefined) return managers;
  const fields = difference(manager.fields, STRIPPED);
  if (isEmptySet(fields)) managers.delete(id);
  else managers.set(id, { ...manager, fields });
  return managers;
}

function emptyObject(context: WriteContext): JsonObject {
  const identity = { apiVersion: context.apiVersion, kind: context.kind };
  return context.message === undefined ? identity : { ...zeroStruct(context.message), ...identity };
}

function metadataOf(object: JsonObject): JsonObject {
  const { metadata } = object;
  return isObject(metadata) ? metadata : {};
}

function managedFieldsOf(object: JsonObject): Json | undefined {
  const { managedFields } = metadataOf(object);
  return managedFields === undefined || isArray(managedFields) ? managedFields : undefined;
}

function setManagedFields(object: JsonObject, entries: Json | undefined): JsonObject {
  const { metadata } = object;
  if (entries === undefined) {
    if (!isObject(metadata) || !Object.hasOwn(metadata, "managedFields")) return object;
    return withField(object, "metadata", withoutField(metadata, "managedFields"));
  }
  return withField(object, "metadata", withField(isObject(metadata) ? metadata : {}, "managedFields", entries));
}

function groupVersionKind(object: JsonObject): string {
  const apiVersion = typeof object.apiVersion === "string" ? object.apiVersion : "";
  return `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${object.kind ?? ""}`;
}

function objectName(object: JsonObject): string {
  const { namespace, name } = metadataOf(object);
  return `${namespace ?? ""}/${name ?? ""}`;
}

function orInternalError<Result>(doing: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof OwnershipError)) throw error;
    throw new StatusError(500, undefined, `${doing}: ${error.message}`);
  }
}
