import type { KubeObject } from "setpoint";
import { isSameJson } from "setpoint/kinds";
import { asJson, type Json } from "../../api/json.js";
import type { WriteContext } from "../../apply/field-manager.js";
import { trackUpdate } from "../../apply/field-manager.js";
import { type FieldSet, setOf } from "../../apply/field-set.js";
import { apiVersionOf, type ResourceCatalog } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { WriteEnvironment, WriteRequest } from "./write-request.js";

/** The context of a write for server-side apply and update tracking. */
export function ownershipContext({ catalog, clock }: WriteEnvironment, request: WriteRequest): WriteContext {
  const { definition, subresource, fieldManager } = request;
  const reset = resetFields(definition, subresource);
  return {
    apiVersion: apiVersionOf(definition),
    kind: definition.kind,
    subresource,
    manager: fieldManager,
    nowMs: clock.now(),
    message: definition.message,
    schemaOf: (apiVersion) => schemaOf(catalog, apiVersion, definition),
    ...(reset && { resetFields: () => reset }),
  };
}

function schemaOf(
  catalog: ResourceCatalog,
  apiVersion: string,
  { kind }: ResourceDefinition,
): ReturnType<WriteContext["schemaOf"]> {
  const served = catalog.findKind(apiVersion, kind);
  return served === undefined ? undefined : (served.schema ?? null);
}

const STATUS = setOf(["f:status"]);
const SPEC = setOf(["f:spec"]);
const SPEC_AND_METADATA = setOf(["f:spec"], ["f:metadata"]);

/** Fields that the endpoint ignores, so its writes never own them. */
function resetFields({ strategy, isBuiltIn }: ResourceDefinition, subresource: string): FieldSet | undefined {
  if (subresource !== "status") return strategy.hasStatus ? STATUS : undefined;
  if (!isBuiltIn) return SPEC_AND_METADATA;
  const { statusKeeps: kept } = strategy;
  return kept ? setOf(["f:spec"], ...kept.map((field) => ["f:metadata", `f:${field}`])) : SPEC;
}

/** Updates managedFields for an update by the request's manager. */
export function tracked(
  environment: WriteEnvironment,
  request: WriteRequest,
  live: KubeObject | undefined,
  object: KubeObject,
): KubeObject {
  const context = ownershipContext(environment, request);
  return trackUpdate(context, asJson(live), asJson(object)!) as unknown as KubeObject;
}

/** Restores the old managedFields if only their times would change. */
export function withoutIdleTimes(object: KubeObject, old: KubeObject): KubeObject {
  const entries = object.metadata.managedFields;
  const before = old.metadata.managedFields;
  if (entries === undefined || before === undefined || entries.length !== before.length) return object;
  const isIdle = entries.every((entry, index) => {
    const { time: _time, ...fields } = entry;
    const { time: _before, ...fieldsBefore } = before[index]!;
    return isSameJson(fields as unknown as Json, fieldsBefore as unknown as Json);
  });
  if (!isIdle) return object;
  const settled = { ...object, metadata: { ...object.metadata, managedFields: before } };
  return isSameJson(asJson(settled), asJson(old)) ? settled : object;
}
