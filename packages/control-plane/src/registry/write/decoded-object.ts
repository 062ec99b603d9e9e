import type { KubeObject } from "setpoint";
import { invalidValue } from "../../api/field-error.js";
import { isArray, isObject, type JsonObject } from "../../api/json.js";
import { badRequest, invalid } from "../../api/status-error.js";
import { apiVersionOf } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import { DecodingError } from "../../schema/go-decoding.js";
import { type FieldFinding, inDocumentOrder, unknownField, warningsOf } from "../body/field-findings.js";
import { contentTypeOf, readObject } from "../body/request-document.js";
import type { ResourceCall } from "../endpoint.js";
import type { FieldValidation } from "../query/write-options.js";
import { isStorageVersion } from "../read/served-form.js";

/** Decodes the object of a body: checked, pruned and defaulted. Throws a 400 for any other value. */
export function decodedObject(call: ResourceCall, fieldValidation: FieldValidation): KubeObject {
  const { definition, request, environment } = call;
  const { kind, version } = definition;
  const expected = { apiVersion: apiVersionOf(definition), kind, isBuiltIn: definition.isBuiltIn };
  const { object, duplicates } = readObject(request, environment.facts, expected);
  checkKind(call, object);
  try {
    const isSorted = contentTypeOf(request) === "application/yaml";
    return completed(call, object, fieldValidation, { duplicates, isSorted });
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`);
  }
}

/** How an object was decoded: which fields were duplicates, and whether the others came sorted by name. */
export interface Reading {
  readonly duplicates: readonly FieldFinding[];
  readonly isSorted: boolean;
}

/**
 * Prunes and defaults an object, and reports unknown and duplicate fields as `fieldValidation` demands. Throws
 * `DecodingError` if the object cannot be decoded as this kind, or not strictly. `known` is the complete object that
 * this one was made from.
 */
export function completed(
  { definition, warn }: Pick<ResourceCall, "definition" | "warn">,
  object: JsonObject,
  fieldValidation: FieldValidation,
  { duplicates, isSorted }: Reading,
  known?: KubeObject,
): KubeObject {
  const apiVersion = apiVersionOf(definition);
  const isTyped = object.kind === definition.kind && object.apiVersion === apiVersion;
  const typed = isTyped ? object : { ...object, kind: definition.kind, apiVersion };
  const { object: pruned, unknownFields } = definition.shape.prune(typed as unknown as KubeObject, known);
  if (fieldValidation !== "Ignore" && duplicates.length + unknownFields.length > 0) {
    // Custom resources are pruned after decoding, in the order of names.
    const findings = definition.isBuiltIn
      ? inDocumentOrder(object, duplicates, unknownFields.map(unknownField), isSorted)
      : [...duplicates, ...[...unknownFields].sort().map(unknownField)].map(({ text }) => text);
    if (fieldValidation === "Strict" && findings.length > 0) {
      throw new DecodingError(`strict decoding error: ${findings.join(", ")}`);
    }
    for (const warning of findings.flatMap(warningsOf)) warn(warning);
  }
  return defaulted(definition, withManagedFieldsReset(pruned, object), known);
}

/** An explicitly empty managedFields list is a request to reset it. */
function withManagedFieldsReset(pruned: KubeObject, { metadata }: JsonObject): KubeObject {
  const given = isObject(metadata) ? metadata.managedFields : undefined;
  if (!isArray(given) || given.length > 0) return pruned;
  return { ...pruned, metadata: { ...pruned.metadata, managedFields: [] } };
}

/** Applies defaults. `known` is a defaulted object that may share parts with this one. */
export function defaulted(definition: ResourceDefinition, object: KubeObject, known?: KubeObject): KubeObject {
  const { shape, strategy } = definition;
  // Use `known` only at the storage version: other versions may have other defaults.
  const filled = shape.applyDefaults(object, isStorageVersion(definition) ? known : undefined);
  return strategy.applyDefaults?.(filled) ?? filled;
}

function checkKind({ definition, environment }: ResourceCall, object: JsonObject): void {
  const expectedVersion = apiVersionOf(definition);
  const apiVersion = object.apiVersion ?? "";
  const kind = object.kind ?? "";
  const saidVersion = apiVersion === "" ? expectedVersion : String(apiVersion);
  const saidKind = kind === "" ? definition.kind : String(kind);
  if (saidVersion === expectedVersion && saidKind === definition.kind) return;
  const version = saidVersion.slice(saidVersion.lastIndexOf("/") + 1);
  const refusal = `${saidKind} in version "${version}" cannot be handled as a ${definition.kind}: `;
  if (!definition.isBuiltIn) {
    if (saidKind === definition.kind) throw wrongVersion(saidVersion, expectedVersion);
    const { group } = definition;
    const metadata = isObject(object.metadata) ? object.metadata : {};
    const error = invalidValue("kind", saidKind, `must be ${definition.kind}`);
    throw invalid({ group, resource: saidKind }, String(metadata.name ?? ""), [error]);
  }
  const other = environment.catalog.findKind(saidVersion, saidKind);
  if (other === undefined || !other.isBuiltIn) {
    const scheme = 'in scheme "pkg/runtime/scheme.go:111"';
    throw badRequest(`${refusal}no kind "${saidKind}" is registered for version "${saidVersion}" ${scheme}`);
  }
  if (other.kind === definition.kind && other.storageId === definition.storageId) {
    throw wrongVersion(saidVersion, expectedVersion);
  }
  throw badRequest(`${refusal}${unknownConversion(other, definition)}`);
}

/** Go's error for an object of another kind than expected. */
export function unknownConversion(from: ResourceDefinition, to: ResourceDefinition): string {
  const group = to.group.split(".")[0] || "core";
  return `converting (${from.version}.${from.kind}) to (${group}.${to.kind}): unknown conversion`;
}

function wrongVersion(said: string, expected: string): Error {
  return badRequest(`the API version in the data (${said}) does not match the expected API version (${expected})`);
}
