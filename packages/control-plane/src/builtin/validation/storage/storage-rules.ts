import { isSameJson } from "setpoint/kinds";
import { fieldErrors } from "../../../api/error-budget.js";
import { duplicate, forbiddenField, invalidValue, notSupported, required, tooLong } from "../../../api/field-error.js";
import { isArray, isObject, type Json, type JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { internal, internalDiff, isSameInternal } from "../internal-struct.js";
import {
  entriesOf,
  given,
  IMMUTABLE,
  immutable,
  isEmpty,
  label1123,
  list,
  nanosOf,
  needed,
  object,
  ofSpec,
  oneOf,
  positiveQuantity,
  qualified,
  type Rule,
  repeatedAt,
  type StructRule,
  struct,
  subdomain,
} from "../rule.js";
import { volumeNodeAffinity } from "../selector-rules.js";
import { accessModes, claimSpec, volumeMode } from "./claim-rules.js";
import { persistentDisks } from "./disk-rules.js";
import { noBacksteps } from "./path-rules.js";
import { driverName, hostPath, oneSource } from "./volume-rules.js";

const capacity: StructRule = ({ capacity: value }, path, errors) => {
  const amounts = object(value);
  const at = `${path}.capacity`;
  if (isEmpty(value)) errors.push(required(at));
  if (amounts.storage === undefined || Object.keys(amounts).length > 1)
    errors.push(notSupported(at, value ?? null, ["storage"]));
  entriesOf((_name, amount, place, found) => {
    if (nanosOf(amount) < 0n)
      found.push(invalidValue(place, Number(nanosOf(amount) / 1_000_000_000n), "must be a valid resource quantity"));
    positiveQuantity(amount, place, found);
  })(value, at, errors);
};

const secretReference = struct({ name: needed(subdomain), namespace: needed(label1123) });

/** Volume sources, in kube-apiserver's order. */
const SOURCES: Readonly<Record<string, Rule>> = {
  hostPath,
  ...pick("gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte", "cephfs"),
  ...pick("iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk"),
  ...pick("portworxVolume", "azureDisk", "scaleIO"),
  local: struct({ path: needed(noBacksteps) }),
  ...pick("storageos"),
  csi: struct({
    driver: driverName,
    volumeHandle: needed(),
    controllerPublishSecretRef: secretReference,
    controllerExpandSecretRef: secretReference,
    nodePublishSecretRef: secretReference,
    nodeExpandSecretRef: secretReference,
  }),
};

function pick(...names: readonly string[]): Readonly<Record<string, Rule>> {
  return Object.fromEntries(names.map((name) => [name, persistentDisks[name]!]));
}

const oneOfSources = oneSource(SOURCES, "flexVolume");

const source: StructRule = (spec, path, errors) => {
  oneOfSources(spec, path, errors);
  const isFirst = Object.keys(SOURCES).find((name) => isObject(spec[name])) === "local";
  if (isFirst && spec.nodeAffinity === undefined) {
    errors.push(required(`${path}.nodeAffinity`, "Local volume requires node affinity"));
  }
};

const volumeSpec: StructRule = (spec, path, errors) => {
  if (isEmpty(spec.accessModes)) errors.push(required(`${path}.accessModes`));
  accessModes(spec.accessModes, `${path}.accessModes`, errors);
  capacity(spec, path, errors);
  given(oneOf("Delete", "Recycle", "Retain"))(
    spec.persistentVolumeReclaimPolicy,
    `${path}.persistentVolumeReclaimPolicy`,
    errors,
  );
  volumeNodeAffinity(spec.nodeAffinity, `${path}.nodeAffinity`, errors);
  source(spec, path, errors);
  if (spec.persistentVolumeReclaimPolicy === "Recycle" && /^\/+$/.test(String(object(spec.hostPath).path ?? ""))) {
    const why = "may not be 'recycle' for a hostPath mount of '/'";
    errors.push(forbiddenField(`${path}.persistentVolumeReclaimPolicy`, why));
  }
  given(subdomain)(spec.storageClassName, `${path}.storageClassName`, errors);
  volumeMode(spec.volumeMode, `${path}.volumeMode`, errors);
  if (spec.volumeAttributesClassName === undefined) return;
  if (spec.volumeAttributesClassName === "")
    errors.push(required(`${path}.volumeAttributesClassName`, "an empty string is disallowed"));
  else subdomain(spec.volumeAttributesClassName, `${path}.volumeAttributesClassName`, errors);
  if (!isObject(spec.csi))
    errors.push(required(`${path}.csi`, "has to be specified when using volumeAttributesClassName"));
};

/** The source of a persistent volume is immutable. */
export function volumeUpdate(volume: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const [spec, before] = [withExpansionSecretOf(object(volume.spec), object(old.spec)), object(old.spec)];
  if (!isSameInternal(VOLUME_SOURCE, spec, before)) {
    const why = "spec.persistentvolumesource is immutable after creation";
    errors.push(forbiddenField("spec.persistentvolumesource", `${why}\n${internalDiff(VOLUME_SOURCE, before, spec)}`));
  }
  if (spec.volumeMode !== before.volumeMode)
    errors.push(invalidValue("volumeMode", spec.volumeMode ?? null, IMMUTABLE));
  const affinity = "*core.VolumeNodeAffinity";
  if (before.nodeAffinity !== undefined && !isSameInternal(affinity, spec.nodeAffinity, before.nodeAffinity)) {
    const why = `${IMMUTABLE}, except for updating from beta label to GA`;
    errors.push(invalidValue("nodeAffinity", internal(affinity, spec.nodeAffinity), why));
  }
  if (before.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined) {
    errors.push(forbiddenField("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden"));
  }
  return errors;
}

const VOLUME_SOURCE = "core.PersistentVolumeSource";

/** The secret for expansion may be added later. */
function withExpansionSecretOf(spec: JsonObject, before: JsonObject): JsonObject {
  if (!isObject(spec.csi) || !isObject(before.csi) || before.csi.controllerExpandSecretRef !== undefined) return spec;
  const { controllerExpandSecretRef: _added, ...csi } = spec.csi;
  return { ...spec, csi };
}

const topologyRequirement = struct({}, ({ key = "", values }, path, errors) => {
  const texts = isArray(values) ? values : [];
  if (texts.length === 0) errors.push(required(`${path}.values`));
  for (const position of repeatedAt(texts)) {
    errors.push(duplicate(`${path}.values[${position}]`, texts[position]));
  }
  qualified(key, `${path}.key`, errors);
});

/** Allowed topologies: each key once per term, and no duplicate terms. */
const topologies: Rule = (value, path, errors) => {
  const seen: Json[] = [];
  for (const [index, { matchLabelExpressions: expressions }] of list(value).entries()) {
    const at = `${path}[${index}].matchLabelExpressions`;
    const values = new Map<string, Json>();
    for (const [position, expression] of list(expressions).entries()) {
      const key = String(expression.key ?? "");
      topologyRequirement(expression, `${at}[${position}]`, errors);
      if (values.has(key)) errors.push(duplicate(`${at}[${position}].key`, key));
      values.set(key, isArray(expression.values) ? [...new Set(expression.values)].sort() : []);
    }
    const term = Object.fromEntries(values);
    // kube-apiserver also compares with as many empty terms as there are terms.
    const empties = values.size === 0 ? list(value).length : 0;
    const repeats = seen.filter((other) => isSameJson(other, term)).length + empties;
    for (let count = 0; count < repeats; count++) errors.push(duplicate(at, ""));
    seen.push(term);
  }
};

const MAX_PARAMETERS = 512;
const MAX_PARAMETER_BYTES = 262_144;

/** The parameters of a storage class. */
export const classParameters: Rule = (value, path, errors) => {
  const entries = Object.entries(object(value));
  if (entries.length > MAX_PARAMETERS) return void errors.push(tooLong(path, MAX_PARAMETERS));
  for (const [key] of entries) if (key === "") errors.push(invalidValue(path, key, "field can not be empty."));
  const bytes = entries.reduce((sum, [key, text]) => sum + Buffer.byteLength(`${key}${text}`), 0);
  if (bytes > MAX_PARAMETER_BYTES) errors.push(tooLong(path, MAX_PARAMETER_BYTES));
  return undefined;
};

const storageClass: Rule = struct({
  provisioner: needed((value, path, errors) => qualified(String(value).toLowerCase(), path, errors)),
  parameters: classParameters,
  reclaimPolicy: given(oneOf("Delete", "Retain")),
  volumeBindingMode: (value, path, errors) => {
    if (value === undefined) errors.push(required(path));
    else oneOf("Immediate", "WaitForFirstConsumer")(value, path, errors);
  },
  allowedTopologies: topologies,
});

/** A storage class is immutable, because existing volumes depend on it. */
export const storageClassUpdate = immutable("", "parameters", "provisioner", "reclaimPolicy", "volumeBindingMode");

export const storageRules: Readonly<Record<string, Rule>> = {
  "/persistentvolumeclaims": struct({ spec: (spec, path, errors) => claimSpec(object(spec), path, errors) }),
  "/persistentvolumes": ofSpec(volumeSpec),
  "storage.k8s.io/storageclasses": storageClass,
};
