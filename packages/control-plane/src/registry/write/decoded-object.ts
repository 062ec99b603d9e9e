import type { KubeObject } from "setpoint";
import { isObject, type JsonObject } from "../../schema/json.js";
import { readObject } from "../body/request-document.js";
import { apiVersionOf } from "../catalog.js";
import type { ResourceCall } from "../endpoint.js";
import { invalidValue } from "../field-error.js";
import type { FieldValidation } from "../query/write-options.js";
import type { ResourceDefinition } from "../resource-definition.js";
import { badRequest, invalid } from "../status-error.js";

/** What a client sent as an object of this kind: checked, pruned, with its defaults. */
export function decodedObject(call: ResourceCall, fieldValidation: FieldValidation): KubeObject {
  const { definition, request, environment } = call;
  const expected = { apiVersion: apiVersionOf(definition), kind: definition.kind, isBuiltIn: definition.isBuiltIn };
  const { object, duplicates } = readObject(request, environment.facts, expected);
  checkKind(call, object);
  return completed(call, object, fieldValidation, duplicates);
}

/** Prunes and defaults an object, and says what was wrong with it as loudly as the client wants. */
export function completed(
  call: Pick<ResourceCall, "definition" | "warn">,
  object: JsonObject,
  fieldValidation: FieldValidation,
  duplicates: readonly string[],
): KubeObject {
  const { definition } = call;
  const typed = { ...object, kind: definition.kind, apiVersion: apiVersionOf(definition) } as unknown as KubeObject;
  const { object: pruned, unknownFields } = definition.shape.prune(typed);
  reportFields(call, fieldValidation, duplicates, unknownFields);
  return defaulted(definition, pruned);
}

export function defaulted({ shape, strategy }: ResourceDefinition, object: KubeObject): KubeObject {
  const filled = shape.applyDefaults(object);
  return strategy.applyDefaults?.(filled) ?? filled;
}

function reportFields(
  { definition, warn }: Pick<ResourceCall, "definition" | "warn">,
  fieldValidation: FieldValidation,
  duplicates: readonly string[],
  unknownFields: readonly string[],
): void {
  if (fieldValidation === "Ignore") return;
  const findings = [
    ...duplicates.map((field) => `duplicate field "${field}"`),
    ...unknownFields.map((field) => `unknown field "${field}"`),
  ];
  if (findings.length === 0) return;
  if (fieldValidation === "Warn") {
    for (const finding of findings) warn(finding);
    return;
  }
  const strict = `strict decoding error: ${findings.join(", ")}`;
  const { kind, version } = definition;
  throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${strict}`);
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
  const goName = (of: ResourceDefinition, group: string): string => `${group}.${of.kind}`;
  throw badRequest(
    `${refusal}converting (${goName(other, other.version)}) to (${goName(definition, definition.group.split(".")[0] || "core")}): unknown conversion`,
  );
}

function wrongVersion(said: string, expected: string): Error {
  return badRequest(`the API version in the data (${said}) does not match the expected API version (${expected})`);
}
