import type { KubeObject } from "setpoint";
import type { UntypedObject } from "setpoint/kinds";
import type { ApiResponse } from "../../api/api-request.js";
import { invalidValue } from "../../api/field-error.js";
import { isObject, type Json, type JsonObject } from "../../api/json.js";
import { badRequest, conflict, internalError, invalid, type StatusError, unexpected } from "../../api/status-error.js";
import { applyServerSide } from "../../apply/field-manager.js";
import { jsonPatch } from "../../apply/json-patch.js";
import { type ManagedFieldsEntry, sortedEntries } from "../../apply/managed-fields.js";
import { mergePatch } from "../../apply/merge-patch.js";
import { objectManagers, scaleManagers } from "../../apply/scale-ownership.js";
import { strategicPatch } from "../../apply/strategic-patch.js";
import { valueAt } from "../../builtin/table/json-path.js";
import { selectorText } from "../../builtin/table/workload-cells.js";
import { apiVersionOf } from "../../kinds/catalog.js";
import type { ResourceDefinition, Subresource } from "../../kinds/resource-definition.js";
import { DecodingError } from "../../schema/go-decoding.js";
import { contentTypeOf, readDocument, readObject } from "../body/request-document.js";
import type { ResourceCall } from "../endpoint.js";
import { answer } from "../negotiation/answer.js";
import { parseWriteOptions, type WriteOptions } from "../query/write-options.js";
import { readObjectOf } from "../read/read-endpoints.js";
import { ownershipContext, tracked } from "../write/field-ownership.js";
import { checkPatchType } from "../write/patch-endpoint.js";
import { invalidPatch } from "../write/patch-error.js";
import { update } from "../write/update.js";
import { writeRequestOf } from "../write/write-endpoints.js";

const SCALE = { apiVersion: "autoscaling/v1", kind: "Scale" } as const;

interface Scale extends KubeObject {
  readonly spec: { readonly replicas?: number };
  readonly status: { readonly replicas: number; readonly selector?: string };
}

/** The scale of a workload or custom resource: a view of its replicas. Writes go to the object. */
export async function scaleEndpoint(call: ResourceCall): Promise<ApiResponse> {
  const { method } = call.request;
  if (method === "PUT") return replaceScale(call);
  if (method === "PATCH") return patchScale(call);
  const { object } = await readObjectOf(call);
  const { specReplicasPath } = pathsOf(call.definition);
  if (!call.definition.isBuiltIn && valueAt(object, specReplicasPath) === undefined) {
    throw internalError(`the spec replicas field "${specReplicasPath}" does not exist`);
  }
  return answer(200, scaleOf(call.definition, object), call.representation);
}

function pathsOf(definition: ResourceDefinition): NonNullable<Subresource["scale"]> {
  return definition.subresources.find(({ name }) => name === "scale")!.scale!;
}

function scaleOf(definition: ResourceDefinition, object: KubeObject): Scale {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = pathsOf(definition);
  const replicas = numberAt(object, specReplicasPath);
  const selector = labelSelectorPath === undefined ? undefined : valueAt(object, labelSelectorPath);
  const text = typeof selector === "string" ? selector : selector === undefined ? "" : labelsText(selector);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace !== undefined && { namespace }), uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(object, statusReplicasPath), ...(text !== "" && { selector: text }) },
  };
}

function numberAt(object: KubeObject, path: string): number {
  const value = valueAt(object, path);
  return typeof value === "number" ? value : 0;
}

/** The selector of a ReplicationController is a plain map. */
function labelsText(selector: unknown): string {
  const isBare = isObject(selector) && selector.matchLabels === undefined && selector.matchExpressions === undefined;
  const text = selectorText(isBare ? { matchLabels: selector } : selector);
  return text === "<none>" ? "" : text;
}

async function replaceScale(call: ResourceCall): Promise<ApiResponse> {
  const { request, environment, name } = call;
  const options = parseWriteOptions(request.query, "UpdateOptions");
  const expected = { apiVersion: "autoscaling/v1", kind: "Scale", isBuiltIn: true };
  const { object } = readObject(request, environment.facts, expected);
  const metadata = isObject(object.metadata) ? object.metadata : {};
  if (!metadata.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${String(metadata.name)}) does not match the name on the URL (${name})`);
  }
  const refuse = (why: string): StatusError => badRequest(`Scale in version "v1" cannot be handled as a Scale: ${why}`);
  return writeScale(
    call,
    "UpdateOptions",
    options,
    () => object,
    (_scale, why) => refuse(why),
  );
}

async function patchScale(call: ResourceCall): Promise<ApiResponse> {
  const { request, definition, environment } = call;
  const type = contentTypeOf(request);
  checkPatchType(type, definition.isBuiltIn);
  const isApply = type === "application/apply-patch+yaml";
  const options = parseWriteOptions(request.query, "PatchOptions", isApply);
  const { value: patch } = readDocument(request, isApply, badRequest);
  if (isApply) return applyScale(call, options, patch);
  const schema = environment.facts.schemaOf("autoscaling", "v1", "Scale")!;
  return writeScale(call, "PatchOptions", options, (scale) => patched(type, scale, patch, schema), invalidPatch);
}

/** Server-side apply: merges the scale by the ownership of the replicas in its object, and writes the result there. */
async function applyScale(call: ResourceCall, options: WriteOptions, config: Json): Promise<ApiResponse> {
  const { environment, definition, name } = call;
  if (!isObject(config)) throw badRequest("the applied configuration is no object");
  const { specReplicasPath } = pathsOf(definition);
  const replicasPath = specReplicasPath
    .split(".")
    .slice(1)
    .map((part) => `f:${part}` as const);
  const write = writeRequestOf(call, "PatchOptions", options, true);
  const context = {
    ...ownershipContext(environment, write),
    apiVersion: SCALE.apiVersion,
    kind: SCALE.kind,
    message: environment.facts.messageOf(SCALE.apiVersion, SCALE.kind),
    schemaOf: () => environment.facts.schemaOf("autoscaling", "v1", SCALE.kind),
    resetFields: () => undefined,
  };
  const { object } = await update(environment, write, {
    name,
    transform: (old) => {
      const scale = scaleOf(definition, old!);
      const entries = old!.metadata.managedFields as readonly ManagedFieldsEntry[] | undefined;
      const owned = { ...scale, metadata: { ...scale.metadata, managedFields: scaleManagers(entries, replicasPath) } };
      const applied = applyServerSide(context, owned as unknown as JsonObject, config, { force: options.force });
      const replicas = orRefused(applied, invalidPatch, () => replicasOf(applied, name, definition.isBuiltIn));
      if (!definition.isBuiltIn && replicas !== (scale.spec.replicas ?? 0)) throw unconvertible(config);
      const changed = withValueAt(old as UntypedObject, specReplicasPath, replicas) as unknown as KubeObject;
      const scaleEntries = (applied.metadata as JsonObject).managedFields as unknown as
        | ManagedFieldsEntry[]
        | undefined;
      const managedFields = objectManagers(entries, scaleEntries ?? [], replicasPath, apiVersionOf(definition));
      return { ...changed, metadata: { ...changed.metadata, managedFields } } as KubeObject;
    },
  });
  return answer(200, scaleOf(definition, object.object), call.representation);
}

/** For a custom resource the real server merges an applied scale, and fails if the result would change anything. */
function unconvertible({ metadata }: JsonObject): StatusError {
  const { namespace = "", name = "" } = isObject(metadata) ? metadata : {};
  const object = `${namespace}/${name}`;
  const why = "request to convert CR to an invalid group/version: autoscaling/v1";
  return unexpected(`failed to convert new object (${object}; autoscaling/v1, Kind=Scale) to proper version: ${why}`);
}

function patched(
  type: string,
  scale: JsonObject,
  patch: Json,
  schema: Parameters<typeof strategicPatch>[0],
): JsonObject {
  if (type === "application/json-patch+json") {
    const result = jsonPatch(scale, patch);
    if (!isObject(result)) throw badRequest("the patched object is no object");
    return result;
  }
  return type === "application/strategic-merge-patch+json"
    ? strategicPatch(schema, scale, patch)
    : mergePatch(scale, patch);
}

async function writeScale(
  call: ResourceCall,
  kind: "UpdateOptions" | "PatchOptions",
  options: WriteOptions,
  change: (scale: JsonObject) => JsonObject,
  refuse: (scale: JsonObject, why: string) => StatusError,
): Promise<ApiResponse> {
  const { environment, definition, name } = call;
  const { specReplicasPath } = pathsOf(definition);
  const write = writeRequestOf(call, kind, options);
  const { object } = await update(environment, write, {
    name,
    transform: (old) => {
      const wanted = change(scaleOf(definition, old!) as unknown as JsonObject);
      const replicas = orRefused(wanted, refuse, () => replicasOf(wanted, name, definition.isBuiltIn));
      checkUid(definition, wanted, old!);
      const changed = withValueAt(old as UntypedObject, specReplicasPath, replicas) as unknown as KubeObject;
      const resourceVersion = isObject(wanted.metadata)
        ? (wanted.metadata.resourceVersion as string | undefined)
        : undefined;
      const versioned = {
        ...changed,
        metadata: { ...changed.metadata, resourceVersion: resourceVersion || old!.metadata.resourceVersion },
      };
      return withoutScaleTimes(tracked(environment, write, old, versioned));
    },
  });
  return answer(200, scaleOf(definition, object.object), call.representation);
}

/** A scale with another uid is meant for another object. */
function checkUid({ group, plural, isBuiltIn }: ResourceDefinition, { metadata }: JsonObject, old: KubeObject): void {
  const uid = isObject(metadata) ? metadata.uid : undefined;
  if (!isBuiltIn || !uid || uid === old.metadata.uid) return;
  const why = `Precondition failed: UID in precondition: ${String(uid)}, UID in object meta: ${old.metadata.uid}`;
  throw conflict({ group, resource: `${plural}/scale` }, old.metadata.name, why);
}

function orRefused(
  scale: JsonObject,
  refuse: (scale: JsonObject, why: string) => StatusError,
  read: () => number,
): number {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    throw refuse(scale, error.message);
  }
}

/** Throws `DecodingError` for a value that is not a number. */
function replicasOf({ spec }: JsonObject, name: string, isBuiltIn: boolean): number {
  const replicas = isObject(spec) ? (spec.replicas ?? 0) : 0;
  if (typeof replicas !== "number" || !Number.isInteger(replicas)) {
    const found = typeof replicas === "boolean" ? "bool" : typeof replicas;
    throw new DecodingError(
      `json: cannot unmarshal ${found} into Go struct field ScaleSpec.spec.replicas of type int32`,
    );
  }
  // The schema of a custom resource rejects a negative value.
  if (replicas >= 0 || !isBuiltIn) return replicas;
  const error = invalidValue("spec.replicas", replicas, "must be greater than or equal to 0");
  throw invalid({ group: "autoscaling", resource: "Scale" }, name, [error]);
}

/** Copies the object with a value at a dotted path (`.spec.replicas`). */
function withValueAt(object: Readonly<Record<string, unknown>>, path: string, value: unknown): Record<string, unknown> {
  const [first = "", ...rest] = path.split(".").filter((part) => part !== "");
  if (rest.length === 0) return { ...object, [first]: value };
  const child = object[first];
  const inner = typeof child === "object" && child !== null ? (child as Record<string, unknown>) : {};
  return { ...object, [first]: withValueAt(inner, rest.join("."), value) };
}

/** The real server records no time for scale entries, so they sort before other entries of the same operation. */
function withoutScaleTimes(object: KubeObject): KubeObject {
  const entries = object.metadata.managedFields as readonly ManagedFieldsEntry[] | undefined;
  if (entries === undefined) return object;
  const timeless = entries.map((entry) => {
    if (entry.subresource !== "scale") return entry;
    const { time: _time, ...rest } = entry;
    return rest;
  });
  const managedFields = sortedEntries(timeless);
  return { ...object, metadata: { ...object.metadata, managedFields } } as KubeObject;
}
