import type { KubeObject } from "setpoint";
import { applyServerSide } from "../../apply/field-manager.js";
import { jsonPatch, jsonPatchStrictErrors } from "../../apply/json-patch.js";
import { mergePatch } from "../../apply/merge-patch.js";
import { strategicPatch } from "../../apply/strategic-patch.js";
import type { ApiResponse } from "../../http/api-request.js";
import { isObject, type Json, type JsonObject } from "../../schema/json.js";
import { contentTypeOf, readDocument } from "../body/request-document.js";
import type { ResourceCall } from "../endpoint.js";
import { parseWriteOptions, type WriteOptions } from "../query/write-options.js";
import { presentObject } from "../read/read-endpoints.js";
import { badRequest, StatusError, unsupportedMediaType } from "../status-error.js";
import { completed } from "./decoded-object.js";
import { asJson, ownershipContext, tracked } from "./field-ownership.js";
import { update } from "./update.js";
import { writeRequestOf } from "./write-endpoints.js";
import type { WriteRequest } from "./write-request.js";

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
const APPLY_PATCH = "application/apply-patch+yaml";

/** Custom resources have no strategic patches. */
export function patchTypesOf(isBuiltIn: boolean): readonly string[] {
  return isBuiltIn ? [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH] : [JSON_PATCH, MERGE_PATCH, APPLY_PATCH];
}

export async function patchObject(call: ResourceCall): Promise<ApiResponse> {
  const { definition, environment, request, name } = call;
  const type = contentTypeOf(request);
  const types = patchTypesOf(definition.isBuiltIn);
  if (type === "") throw new StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
  if (!types.includes(type)) throw unsupportedMediaType(types);
  const isApply = type === APPLY_PATCH;
  const options = parseWriteOptions(request.query, "PatchOptions", isApply);
  const write = writeRequestOf(call, "PatchOptions", options, isApply);
  const transform = isApply ? applying(call, write, options) : patching(call, write, options, type);
  const result = await update(environment, write, { name, transform, forcesCreate: isApply });
  return presentObject(call, result.isCreated ? 201 : 200, result.object);
}

type Transform = (old: KubeObject | undefined) => KubeObject;

/** JSON, merge and strategic patches change what is there. */
function patching(call: ResourceCall, write: WriteRequest, options: WriteOptions, type: string): Transform {
  const { environment, request } = call;
  const { value: patch, duplicates } = readDocument(request.body, false, (why) =>
    badRequest(why.replace("couldn't get version/kind; json parse error: ", "")),
  );
  if (options.fieldValidation !== "Ignore" && type === JSON_PATCH) {
    reportPatch(call, options, jsonPatchStrictErrors(patch));
  }
  return (old) => {
    const patched = applyPatch(call, type, asJson(old!), patch);
    const { warn } = call;
    const object = completed({ ...call, warn }, patched, options.fieldValidation, duplicates);
    return tracked(environment, write, old, object);
  };
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

function reportPatch({ warn }: ResourceCall, { fieldValidation }: WriteOptions, findings: readonly string[]): void {
  if (findings.length === 0) return;
  if (fieldValidation === "Strict") throw badRequest(`strict decoding error: ${findings.join(", ")}`);
  for (const finding of findings) warn(finding);
}

/** Server-side apply: the client's whole intent, merged by ownership of fields. */
function applying(call: ResourceCall, write: WriteRequest, options: WriteOptions): Transform {
  const { environment, request, definition, name, namespace } = call;
  const { value, duplicates } = readDocument(request.body, true, (why) =>
    badRequest(`error decoding YAML: ${why.replace("couldn't get version/kind; json parse error: ", "")}`),
  );
  if (!isObject(value)) throw badRequest("error decoding YAML: the configuration is no object");
  const config = checkedConfig(value, definition.namespaced ? namespace : "", name);
  return (old) => {
    const context = ownershipContext(environment, write);
    const { force } = options;
    // The configuration is what may have unknown fields: the object that it is merged into was pruned when it was written.
    completed(call, config, options.fieldValidation, duplicates);
    const applied = applyServerSide(context, old === undefined ? undefined : asJson(old), config, { force });
    return completed({ ...call, warn: () => {} }, applied, "Ignore", []);
  };
}

function checkedConfig(config: JsonObject, namespace: string, name: string): JsonObject {
  const metadata = isObject(config.metadata) ? config.metadata : {};
  const given = metadata.name ?? "";
  if (given !== "" && given !== name) {
    throw badRequest(`the name of the object (${String(given)}) does not match the name on the URL (${name})`);
  }
  return {
    ...config,
    metadata: { ...metadata, name, ...(namespace !== "" && { namespace: metadata.namespace ?? namespace }) },
  };
}
