import type { KubeObject, ObjectMeta } from "setpoint";
import type { OwnerReference } from "setpoint/kinds";
import { labelName, labelValue, type NameRule, qualifiedName } from "setpoint/kinds";
import { fieldErrors, isFull } from "../error-budget.js";
import { forbiddenField, invalidValue, Printed, required, tooLong } from "../field-error.js";
import type { FieldError } from "../status-error.js";

const ANNOTATIONS_LIMIT_BYTES = 256 * 1024;
const FIELD_MANAGER_LIMIT = 128;
const IMMUTABLE = "field is immutable";

/** Validates the metadata of a new object, after its name is generated. */
export function validateObjectMeta(
  object: Pick<KubeObject, "metadata">,
  namespaced: boolean,
  nameRule: NameRule,
): FieldError[] {
  const meta: Partial<ObjectMeta> = object.metadata;
  const errors: FieldError[] = fieldErrors();
  const { generateName, name } = meta;
  if (generateName) {
    for (const complaint of nameRule(generateName, true)) {
      errors.push(invalidValue("metadata.generateName", generateName, complaint));
    }
  }
  if (!name) errors.push(required("metadata.name", "name or generateName is required"));
  else for (const complaint of nameRule(name, false)) errors.push(invalidValue("metadata.name", name, complaint));
  errors.push(...validateNamespace(meta.namespace, namespaced));
  if ((meta.generation ?? 0) < 0) {
    errors.push(invalidValue("metadata.generation", meta.generation, "must be greater than or equal to 0"));
  }
  errors.push(...validateLabels(meta.labels, "metadata.labels"));
  errors.push(...validateAnnotations(meta.annotations));
  errors.push(...validateOwnerReferences(meta.ownerReferences));
  errors.push(...validateFinalizers(meta.finalizers));
  errors.push(...validateManagedFields(meta.managedFields));
  return errors;
}

const STANDARD_FINALIZERS: readonly string[] = ["kubernetes", "orphan", "foregroundDeletion"];

/** Built-in kinds accept only standard and fully qualified finalizers. */
export function validateKubernetesFinalizers({ metadata }: Pick<KubeObject, "metadata">): FieldError[] {
  const detail = "name is neither a standard finalizer name nor is it fully qualified";
  const errors = fieldErrors();
  for (const [index, finalizer] of (metadata.finalizers ?? []).entries()) {
    if (isFull(errors)) break;
    if (finalizer.includes("/") || STANDARD_FINALIZERS.includes(finalizer)) continue;
    errors.push(invalidValue(`metadata.finalizers[${index}]`, finalizer, detail));
  }
  return errors;
}

/** Validates the metadata of an object that replaces `old`. */
export function validateObjectMetaUpdate(
  object: Pick<KubeObject, "metadata">,
  old: Pick<KubeObject, "metadata">,
): FieldError[] {
  const meta: Partial<ObjectMeta> = object.metadata;
  const was: Partial<ObjectMeta> = old.metadata;
  const errors: FieldError[] = fieldErrors();
  if (was.deletionTimestamp !== undefined) errors.push(...validateNoNewFinalizers(meta.finalizers, was.finalizers));
  if (!meta.resourceVersion) {
    errors.push(invalidValue("metadata.resourceVersion", "", "must be specified for an update"));
  }
  if ((meta.generation ?? 0) < (was.generation ?? 0)) {
    errors.push(invalidValue("metadata.generation", meta.generation ?? 0, "must not be decremented"));
  }
  for (const field of IMMUTABLE_FIELDS) {
    if (meta[field] !== was[field])
      errors.push(invalidValue(`metadata.${field}`, meta[field] ?? emptyOf(field), IMMUTABLE));
  }
  errors.push(...validateLabels(meta.labels, "metadata.labels"));
  errors.push(...validateAnnotations(meta.annotations));
  errors.push(...validateOwnerReferences(meta.ownerReferences));
  errors.push(...validateManagedFields(meta.managedFields));
  return errors;
}

const IMMUTABLE_FIELDS = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

/** How an absent value prints: strings are empty, times and pointers are null. */
function emptyOf(field: (typeof IMMUTABLE_FIELDS)[number]): unknown {
  return field === "name" || field === "namespace" || field === "uid" ? "" : null;
}

function validateNamespace(namespace: string | undefined, namespaced: boolean): FieldError[] {
  if (!namespaced) {
    return namespace ? [forbiddenField("metadata.namespace", "not allowed on this type")] : [];
  }
  if (!namespace) return [required("metadata.namespace")];
  return labelName(namespace, false).map((complaint) => invalidValue("metadata.namespace", namespace, complaint));
}

function validateLabels(labels: Readonly<Record<string, string>> | undefined, field: string): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  for (const [key, value] of Object.entries(labels ?? {})) {
    if (isFull(errors)) break;
    for (const complaint of qualifiedName(key)) errors.push(invalidValue(field, key, complaint));
    for (const complaint of labelValue(value)) errors.push(invalidValue(field, value, complaint));
  }
  return errors;
}

function validateAnnotations(annotations: Readonly<Record<string, string>> | undefined): FieldError[] {
  if (annotations === undefined) return [];
  const errors: FieldError[] = fieldErrors();
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    if (isFull(errors)) break;
    for (const complaint of qualifiedName(key.toLowerCase())) {
      errors.push(invalidValue("metadata.annotations", key, complaint));
    }
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > ANNOTATIONS_LIMIT_BYTES) errors.push(tooLong("metadata.annotations", ANNOTATIONS_LIMIT_BYTES));
  return errors;
}

function validateOwnerReferences(references: readonly OwnerReference[] | undefined): FieldError[] {
  const field = "metadata.ownerReferences";
  const errors: FieldError[] = fieldErrors();
  let controller = "";
  for (const reference of references ?? []) {
    if (isFull(errors)) break;
    if (!reference.apiVersion) errors.push(invalidValue(`${field}.apiVersion`, "", "version must not be empty"));
    for (const key of ["kind", "name", "uid"] as const) {
      if (!reference[key]) errors.push(invalidValue(`${field}.${key}`, "", "must not be empty"));
    }
    if (reference.apiVersion === "v1" && reference.kind === "Event") {
      errors.push(invalidStruct(field, reference, "/v1, Kind=Event is disallowed from being an owner"));
    }
    if (reference.controller !== true) continue;
    const current = `${reference.kind}/${reference.name}`;
    if (controller === "") controller = current;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`;
      errors.push(invalidStruct(field, references, detail));
    }
  }
  return errors;
}

/** A Go struct prints its fields in their own order, not by name. */
function invalidStruct(field: string, value: unknown, detail: string): FieldError {
  return invalidValue(field, new Printed(() => JSON.stringify(value)), detail);
}

function validateFinalizers(finalizers: readonly string[] | undefined): FieldError[] {
  const field = "metadata.finalizers";
  const errors = fieldErrors();
  for (const finalizer of finalizers ?? []) {
    if (isFull(errors)) break;
    for (const complaint of qualifiedName(finalizer)) errors.push(invalidValue(field, finalizer, complaint));
  }
  if (finalizers?.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    errors.push(invalidValue(field, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
  }
  return errors;
}

function validateNoNewFinalizers(
  finalizers: readonly string[] = [],
  old: readonly string[] = [],
): readonly FieldError[] {
  const before = new Set(old);
  const added = [...new Set(finalizers)].filter((finalizer) => !before.has(finalizer)).sort();
  if (added.length === 0) return [];
  const list = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(", ")}}`;
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
  return [forbiddenField("metadata.finalizers", detail)];
}

function validateManagedFields(entries: ObjectMeta["managedFields"]): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  for (const [index, entry] of (entries ?? []).entries()) {
    if (isFull(errors)) break;
    const field = `metadata.managedFields[${index}]`;
    if (entry.operation !== "Apply" && entry.operation !== "Update") {
      errors.push(invalidValue(`${field}.operation`, entry.operation ?? "", "must be `Apply` or `Update`"));
    }
    if (entry.fieldsType && entry.fieldsType !== "FieldsV1") {
      errors.push(invalidValue(`${field}.fieldsType`, entry.fieldsType, "must be `FieldsV1`"));
    }
    errors.push(...validateFieldManager(entry.manager ?? "", `${field}.manager`));
    if (entry.subresource && entry.subresource.length > 256) errors.push(tooLong(`${field}.subresource`, 256));
  }
  return errors;
}

/** Validates a field manager of a query or of managedFields. It must be short and printable. */
export function validateFieldManager(manager: string, field: string): FieldError[] {
  if (/^[ -~]{0,128}$/.test(manager)) return [];
  const errors: FieldError[] = fieldErrors();
  if (Buffer.byteLength(manager) > FIELD_MANAGER_LIMIT) errors.push(tooLong(field, FIELD_MANAGER_LIMIT));
  let position = 0;
  for (const character of manager) {
    if (isFull(errors)) break;
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)) {
      const code = `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
      errors.push(invalidValue(field, manager, `invalid character ${code} (at position ${position})`));
    }
    position += Buffer.byteLength(character);
  }
  return errors;
}
