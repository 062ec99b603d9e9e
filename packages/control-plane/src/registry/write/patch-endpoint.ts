import type { KubeObject } from "setpoint";
import type { ApiResponse } from "../../api/api-request.js";
import { invalidValue } from "../../api/field-error.js";
import { asJson, isObject, type Json, type JsonObject } from "../../api/json.js";
import { badRequest, invalid, StatusError, unsupportedMediaType } from "../../api/status-error.js";
import { applyServerSide } from "../../apply/field-manager.js";
import { jsonPatch, jsonPatchStrictErrors } from "../../apply/json-patch.js";
import { mergePatch } from "../../apply/merge-patch.js";
import { laidOut } from "../../apply/object-layout.js";
import { strategicPatch } from "../../apply/strategic-patch.js";
import { apiVersionOf } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import { DecodingError } from "../../schema/go-decoding.js";
import type { FieldFinding } from "../body/field-findings.js";
import { contentTypeOf, jsonTypeOf, readDocument } from "../body/request-document.js";
import type { ResourceCall } from "../endpoint.js";
import { parseWriteOptions, type WriteOptions } from "../query/write-options.js";
import { presentObject } from "../read/read-endpoints.js";
import { completed, defaulted, type Reading, unknownConversion } from "./decoded-object.js";
import { withEmptyParts } from "./empty-metadata.js";
import { ownershipContext, tracked } from "./field-ownership.js";
import { invalidPatch, invalidStrategicPatch } from "./patch-error.js";
import { update } from "./update.js";
import { writeRequestOf } from "./write-endpoints.js";
import type { WriteRequest } from "./write-request.js";

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
const APPLY_PATCH = "application/apply-patch+yaml";

/** Custom resources do not support strategic merge patches. */
function patchTypesOf(isBuiltIn: boolean): readonly string[] {
  return isBuiltIn ? [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH] : [JSON_PATCH, MERGE_PATCH, APPLY_PATCH];
}

export async function patchObject(call: ResourceCall): Promise<ApiResponse> {
  const { definition, environment, request, name } = call;
  const type = contentTypeOf(request);
  checkPatchType(type, definition.isBuiltIn);
  const isApply = type === APPLY_PATCH;
  const options = parseWriteOptions(request.query, "PatchOptions", isApply);
  const write = writeRequestOf(call, "PatchOptions", options, isApply);
  const read = () => (isApply ? applying(call, write, options) : patching(call, write, options, type));
  // If a rehearsal made the object, the patch may not need parsing.
  let transform = request.proposal?.hasMade ? undefined : read();
  const change = (old: KubeObject | undefined): KubeObject => (transform ??= read())(old);
  const result = await update(environment, write, {
    name,
    transform: change,
    createsMissing: isApply,
    isApplied: isApply,
  });
  return presentObject(call, result.isCreated ? 201 : 200, result.object);
}

/** Rejects a content type that is not a patch. A patch type that the resource does not support gets another message. */
export function checkPatchType(type: string, isBuiltIn: boolean): void {
  if (!patchTypesOf(true).includes(type)) {
    throw new StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
  }
  const types = patchTypesOf(isBuiltIn);
  if (!types.includes(type)) throw unsupportedMediaType(types);
}

type Transform = (old: KubeObject | undefined) => KubeObject;

/** Patches are parsed without detecting a kind, so this part of the error is removed. */
const withoutContext = (why: string): string => why.replace("couldn't get version/kind; json parse error: ", "");

/** JSON, merge and strategic merge patches change the existing object. */
function patching(call: ResourceCall, write: WriteRequest, options: WriteOptions, type: string): Transform {
  const { environment, request, definition } = call;
  const isStrategic = type === STRATEGIC_PATCH;
  const { value: patch, duplicates } = readDocument(request, false, (why) =>
    badRequest(`${isStrategic ? "" : "error decoding patch: "}${withoutContext(why)}`),
  );
  // Errors of the patch itself come before errors of the patched object.
  const findings = [...duplicates.map(({ text }) => text), ...jsonPatchFindings(type, patch)];
  const reading = { duplicates: findings.map((text) => ({ path: "", text })), isSorted: true };
  return (old) => {
    const original = asJson(laidOut(old!, apiVersionOf(definition), definition.kind));
    const patched = applyPatch(call, type, original, patch);
    const refuse = (why: string): StatusError =>
      isStrategic ? invalidStrategicPatch(patch, why) : invalidPatch(patched, why, original);
    checkPatchedKind(call, patched, refuse);
    try {
      const object = completed(call, patched, options.fieldValidation, reading, old);
      checkIdentity(call, object);
      return tracked(environment, write, old, object);
    } catch (error) {
      if (!(error instanceof DecodingError)) throw error;
      throw refuse(error.message);
    }
  };
}

function jsonPatchFindings(type: string, patch: Json): readonly string[] {
  return type === JSON_PATCH ? jsonPatchStrictErrors(patch) : [];
}

function applyPatch({ definition }: ResourceCall, type: string, object: JsonObject, patch: Json): JsonObject {
  switch (type) {
    case JSON_PATCH: {
      const patched = jsonPatch(object, patch);
      if (!isObject(patched)) throw badRequest("the patched object is no object");
      return patched;
    }
    case MERGE_PATCH:
      return mergePatch(object, patch);
    default:
      return strategicPatch(definition.schema!, object, patch);
  }
}

/** A patch cannot change the kind of an object. */
function checkPatchedKind(
  { definition, environment }: ResourceCall,
  patched: JsonObject,
  refuse: (why: string) => StatusError,
): void {
  const apiVersion = apiVersionOf(definition);
  // A built-in object takes a missing kind and apiVersion from the path.
  const implied = definition.isBuiltIn ? { kind: definition.kind, apiVersion } : { kind: "", apiVersion: "" };
  const kind = String(patched.kind ?? implied.kind);
  const version = String(patched.apiVersion ?? implied.apiVersion);
  if (kind === definition.kind && version === apiVersion) return;
  if (definition.isBuiltIn) {
    const other = environment.catalog.findKind(version, kind);
    throw refuse(
      other?.isBuiltIn && other.kind !== definition.kind
        ? otherKind(other, definition, patched)
        : `no kind "${kind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  const metadata = isObject(patched.metadata) ? patched.metadata : {};
  const error =
    kind === definition.kind
      ? invalidValue("apiVersion", version, `must be ${apiVersion}`)
      : invalidValue("kind", kind, `must be ${definition.kind}`);
  const group = version.includes("/") ? version.slice(0, version.indexOf("/")) : "";
  throw invalid({ group, resource: kind }, String(metadata.name ?? ""), [error]);
}

/** The real server decodes the object as the kind that it claims, before it rejects that kind. */
function otherKind(other: ResourceDefinition, definition: ResourceDefinition, patched: JsonObject): string {
  try {
    other.shape.prune(patched as unknown as KubeObject);
    return unknownConversion(other, definition);
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    return error.message;
  }
}

/** The patched object must keep the name and namespace of the path. */
function checkIdentity({ name, namespace, definition }: ResourceCall, { metadata }: KubeObject): void {
  const given: string | undefined = metadata?.name;
  if (definition.namespaced && metadata?.namespace && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (!given)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (given !== name)
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
}

/** An applied object was not decoded from a document. */
const NOTHING_READ: Reading = { duplicates: [], isSorted: true };

/** Server-side apply: merges the client's whole intent by field ownership. */
function applying(call: ResourceCall, write: WriteRequest, options: WriteOptions): Transform {
  const { environment, request } = call;
  const { value, duplicates } = readDocument(request, true, (why) =>
    badRequest(`error decoding YAML: error converting YAML to JSON: ${withoutContext(why)}`),
  );
  if (!isObject(value)) {
    const found = `cannot unmarshal ${jsonTypeOf(value)} into Go value of type map[string]interface {}`;
    throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: json: ${found}`);
  }
  refuseDuplicates(options, duplicates);
  return (old) => {
    const context = ownershipContext(environment, write);
    const { force } = options;
    const applied = applyServerSide(context, old === undefined ? undefined : asJson(old), value, { force });
    try {
      const object = completed(call, applied, "Ignore", NOTHING_READ, old);
      checkIdentity(call, object);
      return call.definition.isBuiltIn ? object : withEmptyParts(unpruned(call.definition, applied, object), value);
    } catch (error) {
      if (!(error instanceof DecodingError)) throw error;
      throw badRequest(error.message);
    }
  };
}

/** An applied custom resource keeps its nulls for schema validation to check. Only its metadata is pruned. */
function unpruned(definition: ResourceDefinition, applied: JsonObject, { metadata }: KubeObject): KubeObject {
  return defaulted(definition, { ...applied, metadata } as unknown as KubeObject);
}

/** The real server intends to warn too, but its text has two lines, which a header cannot carry. */
function refuseDuplicates({ fieldValidation }: WriteOptions, duplicates: readonly FieldFinding[]): void {
  const [lines] = duplicates;
  if (fieldValidation !== "Strict" || lines === undefined) return;
  throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${lines.text}`);
}
