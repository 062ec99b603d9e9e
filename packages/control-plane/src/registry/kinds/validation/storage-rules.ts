import { deepEqual, isArray, isObject, type Json, type JsonObject } from "../../../schema/json.js";
import { duplicate, forbiddenField, invalidValue, notSupported, required } from "../../field-error.js";
import type { FieldError } from "../../status-error.js";
import { accessModes, claimSpec, volumeMode } from "./claim-rules.js";
import { noBacksteps } from "./path-rules.js";
import {
  each,
  entriesOf,
  given,
  IMMUTABLE,
  isEmpty,
  list,
  nanosOf,
  needed,
  object,
  oneOf,
  pointed,
  positiveQuantity,
  qualified,
  type Rule,
  type StructRule,
  struct,
  subdomain,
} from "./rule.js";
import { volumeNodeAffinity } from "./selector-rules.js";
import { driverName } from "./volume-rules.js";

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

const secretReference = struct({ name: needed(subdomain), namespace: needed() });

/** Where a volume's data is, in the real server's order. */
const SOURCES: Readonly<Record<string, Rule>> = {
  hostPath: struct({}, ({ path: target }, path, errors) => {
    if (!target) errors.push(required(`${path}.path`));
    else noBacksteps(target, `${path}.path`, errors);
  }),
  gcePersistentDisk: struct({ pdName: needed() }),
  awsElasticBlockStore: struct({ volumeID: needed() }),
  glusterfs: struct({ endpoints: needed(), path: needed() }),
  flocker: () => {},
  nfs: struct({ server: needed() }, ({ path: target }, path, errors) => {
    if (!target) errors.push(required(`${path}.path`));
    else if (!String(target).startsWith("/"))
      errors.push(invalidValue(`${path}.path`, target, "must be an absolute path"));
  }),
  rbd: struct({ monitors: needed(), image: needed() }),
  quobyte: struct({ registry: needed(), volume: needed() }),
  cephfs: struct({ monitors: needed() }),
  iscsi: struct({ targetPortal: needed(), iqn: needed() }),
  cinder: struct({ volumeID: needed() }),
  fc: () => {},
  flexVolume: struct({ driver: needed() }),
  azureFile: struct({ secretName: needed(), shareName: needed() }),
  vsphereVolume: struct({ volumePath: needed() }),
  photonPersistentDisk: struct({ pdID: needed() }),
  portworxVolume: struct({ volumeID: needed() }),
  azureDisk: struct({ diskName: needed(), diskURI: needed() }),
  scaleIO: struct({ gateway: needed(), system: needed(), volumeName: needed() }),
  local: struct({}, ({ path: target }, path, errors) => {
    if (!target) errors.push(required(`${path}.path`));
    else noBacksteps(target, `${path}.path`, errors);
  }),
  storageos: () => {},
  csi: struct({
    driver: driverName,
    volumeHandle: needed(),
    controllerPublishSecretRef: secretReference,
    controllerExpandSecretRef: secretReference,
    nodePublishSecretRef: secretReference,
    nodeExpandSecretRef: secretReference,
  }),
};

const source: StructRule = (spec, path, errors) => {
  const present = Object.keys(SOURCES).filter((name) => isObject(spec[name]));
  for (const [index, name] of present.entries()) {
    if (index > 0) errors.push(forbiddenField(`${path}.${name}`, "may not specify more than 1 volume type"));
    else SOURCES[name]!(spec[name], `${path}.${name}`, errors);
  }
  if (isObject(spec.local) && spec.nodeAffinity === undefined) {
    errors.push(required(`${path}.nodeAffinity`, "Local volume requires node affinity"));
  }
  if (present.length === 0) errors.push(required(path, "must specify a volume type"));
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
  given(subdomain)(spec.storageClassName, `${path}.storageClassName`, errors);
  volumeMode(spec.volumeMode, `${path}.volumeMode`, errors);
  if (spec.volumeAttributesClassName === undefined) return;
  if (spec.volumeAttributesClassName === "")
    errors.push(required(`${path}.volumeAttributesClassName`, "an empty string is disallowed"));
  else subdomain(spec.volumeAttributesClassName, `${path}.volumeAttributesClassName`, errors);
  if (!isObject(spec.csi))
    errors.push(required(`${path}.csi`, "has to be specified when using volumeAttributesClassName"));
};

/** The data of a volume stays where it is. */
export function volumeUpdate(volume: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const [spec, before] = [object(volume.spec), object(old.spec)];
  const sources = (each: JsonObject): Json =>
    Object.fromEntries(Object.keys(SOURCES).flatMap((name) => (isObject(each[name]) ? [[name, each[name]]] : [])));
  if (!deepEqual(sources(spec), sources(before))) {
    errors.push(
      forbiddenField("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"),
    );
  }
  if (spec.volumeMode !== before.volumeMode)
    errors.push(invalidValue("volumeMode", spec.volumeMode ?? null, IMMUTABLE));
  if (before.nodeAffinity !== undefined && !deepEqual(spec.nodeAffinity ?? null, before.nodeAffinity)) {
    errors.push(invalidValue("nodeAffinity", spec.nodeAffinity ?? null, IMMUTABLE));
  }
  return errors;
}

const topologyTerm = struct({}, ({ matchLabelExpressions: expressions }, path, errors) => {
  const keys = new Set<Json>();
  for (const [index, { key = "", values }] of list(expressions).entries()) {
    const at = `${path}.matchLabelExpressions[${index}]`;
    const texts = isArray(values) ? values : [];
    if (texts.length === 0) errors.push(required(`${at}.values`, ""));
    for (const [position, text] of texts.entries()) {
      if (texts.indexOf(text) < position) errors.push(duplicate(`${at}.values[${position}]`, text));
    }
    qualified(key, `${at}.key`, errors);
    if (keys.has(key)) errors.push(duplicate(`${at}.key`, key));
    keys.add(key);
  }
});

const storageClass: Rule = (value, _path, errors) => {
  const { provisioner, parameters, reclaimPolicy, volumeBindingMode, allowedTopologies } = object(value);
  if (isEmpty(provisioner)) errors.push(required("provisioner"));
  else qualified(String(provisioner).toLowerCase(), "provisioner", errors);
  for (const key of Object.keys(object(parameters)))
    if (key === "") errors.push(invalidValue("parameters", key, "field can not be empty."));
  given(oneOf("Delete", "Retain"))(reclaimPolicy, "reclaimPolicy", errors);
  if (volumeBindingMode === undefined) errors.push(required("volumeBindingMode"));
  else pointed(oneOf("Immediate", "WaitForFirstConsumer"))(volumeBindingMode, "volumeBindingMode", errors);
  each(topologyTerm)(allowedTopologies, "allowedTopologies", errors);
};

/** A class says how volumes are made: volumes that were made remember it. */
export function storageClassUpdate(changed: JsonObject, old: JsonObject): FieldError[] {
  return ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"].flatMap((name) =>
    deepEqual(changed[name] ?? null, old[name] ?? null)
      ? []
      : [invalidValue(name, changed[name] ?? (name === "provisioner" ? "" : null), IMMUTABLE)],
  );
}

export const storageRules: Readonly<Record<string, Rule>> = {
  "/persistentvolumeclaims": struct({ spec: (spec, path, errors) => claimSpec(object(spec), path, errors) }),
  "/persistentvolumes": (value, _path, errors) => volumeSpec(object(object(value).spec), "spec", errors),
  "storage.k8s.io/storageclasses": storageClass,
};
