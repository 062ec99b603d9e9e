import { deepEqual, isArray, isObject, type Json, type JsonObject } from "../../../schema/json.js";
import { forbiddenField, invalidValue, notSupported, required } from "../../field-error.js";
import type { FieldError } from "../../status-error.js";
import {
  given,
  IMMUTABLE,
  isEmpty,
  nanosOf,
  object,
  oneOf,
  pointed,
  positiveQuantity,
  type Rule,
  type StructRule,
  struct,
  subdomain,
} from "./rule.js";
import { labelSelector } from "./selector-rules.js";

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/** Known modes, and the one for a single pod alone. */
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

const dataSource = struct({}, ({ name, kind, apiGroup }, path, errors) => {
  if (!name) errors.push(required(`${path}.name`));
  if (!kind) errors.push(required(`${path}.kind`));
  const group = String(apiGroup ?? "");
  if (group === "" && kind !== "PersistentVolumeClaim") {
    const why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    errors.push(invalidValue(`${path}.kind`, kind ?? "", why));
  }
  if (group !== "") subdomain(group, `${path}.apiGroup`, errors);
});

const sameSource: StructRule = ({ dataSource: one, dataSourceRef: other }, path, errors) => {
  if (!isObject(one) || !isObject(other)) return;
  const isSame = (one.apiGroup ?? "") === (other.apiGroup ?? "") && one.kind === other.kind && one.name === other.name;
  if (!isSame) errors.push(invalidValue(path, `${path}.dataSource`, "must match dataSourceRef"));
};

/** What a claim asks for. */
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

/** A claim may be bound once, and grow where it is. */
export function claimUpdate(claim: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const [spec, before] = [object(claim.spec), object(old.spec)];
  const isBound = object(claim.status).phase === "Bound";
  const kept = (each: JsonObject): Json => {
    const { volumeName, volumeAttributesClassName, ...rest } = each;
    const resources = object(rest.resources);
    return {
      ...rest,
      ...(before.volumeName ? { volumeName: volumeName ?? "" } : {}),
      ...(isBound
        ? { resources: { ...resources, requests: { ...object(resources.requests), storage: "0" } } }
        : { volumeAttributesClassName: volumeAttributesClassName ?? "" }),
    };
  };
  if (!deepEqual(kept(spec), kept(before))) errors.push(forbiddenField("spec", CHANGED));
  const sizeOf = (each: JsonObject): bigint => nanosOf(object(object(each.resources).requests).storage);
  if (sizeOf(spec) < sizeOf(before) && sizeOf(spec) <= nanosOf(object(object(old.status).capacity).storage)) {
    errors.push(forbiddenField("spec.resources.requests.storage", "field can not be less than status.capacity"));
  }
  if (spec.volumeMode !== before.volumeMode)
    errors.push(invalidValue("volumeMode", spec.volumeMode ?? null, IMMUTABLE));
  return errors;
}
