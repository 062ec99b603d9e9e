import { fieldErrors } from "../../../api/error-budget.js";
import { forbiddenField, invalidValue, notSupported, Printed, required } from "../../../api/field-error.js";
import { isArray, isObject, type JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { internalDiff, isSameInternal } from "../internal-struct.js";
import {
  given,
  IMMUTABLE,
  isEmpty,
  label1123,
  nanosOf,
  object,
  oneOf,
  pointed,
  positiveQuantity,
  type Rule,
  type StructRule,
  struct,
  subdomain,
} from "../rule.js";
import { labelSelector } from "../selector-rules.js";

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/** Known access modes. ReadWriteOncePod excludes all others. */
export const accessModes: Rule = (value, path, errors) => {
  if (!isArray(value)) return;
  for (const mode of value)
    if (!ACCESS_MODES.includes(String(mode))) errors.push(notSupported(path, mode, ACCESS_MODES));
  const known = value.filter((mode) => ACCESS_MODES.includes(String(mode)));
  if (known.includes("ReadWriteOncePod") && known.some((mode) => mode !== "ReadWriteOncePod")) {
    errors.push(forbiddenField(path, "may not use ReadWriteOncePod with other access modes"));
  }
};

export const volumeMode = pointed(oneOf("Block", "Filesystem"));

const storage: StructRule = ({ resources }, path, errors) => {
  const requested = object(object(resources).requests).storage;
  const at = `${path}.resources[storage]`;
  if (requested === undefined) errors.push(required(at));
  else positiveQuantity(requested, at, errors);
};

const dataSource = struct({}, ({ name, kind, apiGroup, namespace }, path, errors) => {
  if (!name) errors.push(required(`${path}.name`));
  if (!kind) errors.push(required(`${path}.kind`));
  const group = String(apiGroup ?? "");
  if (group === "" && kind !== "PersistentVolumeClaim") {
    const why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    errors.push(invalidValue(path, kind ?? "", why));
  }
  if (group !== "") subdomain(group, `${path}.apiGroup`, errors);
  given(label1123)(namespace, `${path}.namespace`, errors);
});

const sameSource: StructRule = ({ dataSource: one, dataSourceRef: other }, path, errors) => {
  if (!isObject(one) || !isObject(other)) return;
  const refuse = (why: string): number => errors.push(invalidValue(path, new Printed(() => "{}"), why));
  if (other.namespace) refuse("may not be specified when dataSourceRef.namespace is specified");
  else if ((one.apiGroup ?? "") !== (other.apiGroup ?? "") || one.kind !== other.kind || one.name !== other.name) {
    refuse("must match dataSourceRef");
  }
};

/** Validates the spec of a claim. */
export const claimSpec: Rule = struct(
  {},
  ({ accessModes: modes, selector }, path, errors) => {
    if (isEmpty(modes)) errors.push(required(`${path}.accessModes`, "at least 1 access mode is required"));
    labelSelector(selector, `${path}.selector`, errors);
    accessModes(modes, `${path}.accessModes`, errors);
  },
  storage,
  struct({
    storageClassName: given(subdomain),
    volumeMode,
    dataSource,
    dataSourceRef: dataSource,
  }) as StructRule,
  sameSource,
  ({ volumeAttributesClassName: name }, path, errors) =>
    given(subdomain)(name, `${path}.volumeAttributesClassName`, errors),
);

const CHANGED =
  "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

/** A claim can be bound once, and can grow once it is bound. */
export function claimUpdate(claim: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const [spec, before] = [object(claim.spec), object(old.spec)];
  const kept = withMutableFieldsOf(before, spec, object(claim.status).phase === "Bound");
  const was = before.volumeName ? before : { ...before, ...(spec.volumeName && { volumeName: spec.volumeName }) };
  if (!isSameInternal(SPEC, kept, was)) {
    errors.push(forbiddenField("spec", `${CHANGED}\n${internalDiff(SPEC, was, kept)}`));
  }
  const sizeOf = (each: JsonObject): bigint => nanosOf(object(object(each.resources).requests).storage);
  if (sizeOf(spec) < sizeOf(before) && sizeOf(spec) <= nanosOf(object(object(old.status).capacity).storage)) {
    errors.push(forbiddenField("spec.resources.requests.storage", "field can not be less than status.capacity"));
  }
  if (spec.volumeMode !== before.volumeMode)
    errors.push(invalidValue("volumeMode", spec.volumeMode ?? null, IMMUTABLE));
  if (!spec.volumeAttributesClassName && object(old.status).currentVolumeAttributesClassName !== undefined) {
    const [to, applied] = [
      spec.volumeAttributesClassName === undefined ? "nil" : "empty string",
      "status.currentVolumeAttributesClassName",
    ];
    const why = `update to ${to} is forbidden when ${applied} is not nil`;
    errors.push(forbiddenField("spec.volumeAttributesClassName", why));
  }
  return errors;
}

const SPEC = "core.PersistentVolumeClaimSpec";

/** The spec with the old values of mutable fields, to compare the rest. */
function withMutableFieldsOf(before: JsonObject, spec: JsonObject, isBound: boolean): JsonObject {
  const named = before.storageClassName === undefined ? without(spec, "storageClassName") : spec;
  if (!isBound) return named;
  const [resources, old] = [object(spec.resources), object(before.resources)];
  const requests = { ...object(resources.requests), storage: object(old.requests).storage ?? "0" };
  const { volumeAttributesClassName: name } = before;
  return {
    ...without(named, "volumeAttributesClassName"),
    resources: { ...resources, requests },
    ...(name !== undefined && { volumeAttributesClassName: name }),
  };
}

function without(spec: JsonObject, name: string): JsonObject {
  const { [name]: _dropped, ...rest } = spec;
  return rest;
}
