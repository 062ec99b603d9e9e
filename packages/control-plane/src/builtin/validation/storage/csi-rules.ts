import { isSameJson } from "setpoint/kinds";
import { duplicate, forbiddenField, invalidValue, notSupported, Printed, required } from "../../../api/field-error.js";
import type { Json, JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import {
  given,
  IMMUTABLE,
  immutable,
  list,
  nonNegative,
  nonNegativeQuantity,
  object,
  ofSpec,
  oneOf,
  pointed,
  qualified,
  type Rule,
  repeatedAt,
  type StructRule,
  struct,
  subdomain,
  texts,
  type UpdateRule,
} from "../rule.js";
import { labelSelector } from "../selector-rules.js";
import { classParameters } from "./storage-rules.js";
import { driverName } from "./volume-rules.js";

const MAX_NODE_ID = 256;
const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

const tokenRequests: Rule = (value, path, errors) => {
  const audiences = new Set<string>();
  for (const [index, { audience = "", expirationSeconds: seconds }] of list(value).entries()) {
    const at = `${path}[${index}]`;
    if (audiences.has(String(audience))) {
      errors.push(duplicate(`${at}.audience`, audience));
      continue;
    }
    audiences.add(String(audience));
    if (typeof seconds !== "number") continue;
    const complain = (why: string): void => void errors.push(invalidValue(`${at}.expirationSeconds`, seconds, why));
    if (seconds < MIN_TOKEN_SECONDS) complain("may not specify a duration less than 10 minutes");
    if (seconds > MAX_TOKEN_SECONDS) complain("may not specify a duration larger than 2^32 seconds");
  }
};

const driver: StructRule = (spec, path, errors) => {
  given(oneOf("File", "None", "ReadWriteOnceWithFSType"))(spec.fsGroupPolicy, `${path}.fsGroupPolicy`, errors);
  tokenRequests(spec.tokenRequests, `${path}.tokenRequests`, errors);
  for (const mode of texts(spec.volumeLifecycleModes)) {
    const modes = ["Persistent", "Ephemeral"];
    if (!modes.includes(mode)) errors.push(notSupported(`${path}.volumeLifecycleModes`, mode, modes));
  }
  const { nodeAllocatableUpdatePeriodSeconds: period, serviceAccountTokenInSecrets: inSecrets } = spec;
  if (typeof period === "number" && period < 10) {
    const why = "must be greater than or equal to 10 seconds";
    errors.push(invalidValue(`${path}.nodeAllocatableUpdatePeriodSeconds`, period, why));
  }
  if (inSecrets !== undefined && list(spec.tokenRequests).length === 0) {
    const why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
    errors.push(invalidValue(`${path}.serviceAccountTokenInSecrets`, inSecrets, why));
  }
};

/** kube-apiserver misspells the name of the first field. */
const driverUpdate: UpdateRule = (changed, old) => {
  const [now, before] = [object(changed.spec), object(old.spec)];
  const kept = (field: string, shown = field): readonly FieldError[] =>
    isSameJson(now[field] ?? null, before[field] ?? null)
      ? []
      : [invalidValue(`spec.${shown}`, now[field] ?? null, IMMUTABLE)];
  return [...kept("attachRequired", "attachedRequired"), ...kept("volumeLifecycleModes")];
};

const nodeDriver: StructRule = ({ name, nodeID = "", allocatable, topologyKeys }, path, errors) => {
  driverName(name, `${path}.name`, errors);
  if (nodeID === "") errors.push(required(`${path}.nodeID`));
  if (String(nodeID).length > MAX_NODE_ID) {
    errors.push(invalidValue(`${path}.nodeID`, nodeID, `must be ${MAX_NODE_ID} characters or less`));
  }
  pointed(nonNegative)(object(allocatable).count, `${path}.allocatable.count`, errors);
  const keys = texts(topologyKeys);
  const repeated = repeatedAt(keys);
  for (const [index, key] of keys.entries()) {
    if (key === "") errors.push(required(path));
    if (repeated.has(index)) errors.push(duplicate(path, key));
    qualified(key, path, errors);
  }
};

const nodeDrivers: Rule = (value, path, errors) => {
  const names = new Set<Json | undefined>();
  for (const [index, each] of list(value).entries()) {
    const at = `${path}[${index}]`;
    nodeDriver(each, at, errors);
    if (names.has(each.name)) errors.push(duplicate(`${at}.name`, each.name ?? ""));
    names.add(each.name);
  }
};

/** The entry of a driver that stays on a node must not change, except for its capacity. */
const nodeUpdate: UpdateRule = (changed, old) => {
  const of = (whole: JsonObject): readonly JsonObject[] => list(object(whole.spec).drivers);
  const byName = new Map<Json | undefined, JsonObject[]>();
  for (const driver of of(changed)) byName.set(driver.name, [...(byName.get(driver.name) ?? []), driver]);
  return of(old).flatMap((before) =>
    (byName.get(before.name) ?? [])
      .filter((now) => !isSameJson({ ...now, allocatable: null }, { ...before, allocatable: null }))
      .map((now) => invalidValue("spec.drivers", printedDriver(now), IMMUTABLE)),
  );
};

/** The struct as kube-apiserver shows it. */
function printedDriver({ name = "", nodeID = "", topologyKeys }: JsonObject): Printed {
  const driver = { Name: name, NodeID: nodeID, TopologyKeys: topologyKeys ?? null, Allocatable: null };
  return new Printed(() => JSON.stringify(driver));
}

const attachment: StructRule = ({ attacher, source, nodeName = "" }, path, errors) => {
  driverName(attacher, `${path}.attacher`, errors);
  const { inlineVolumeSpec: inline, persistentVolumeName: name } = object(source);
  const exactlyOne = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (inline === undefined && name === undefined) errors.push(required(`${path}.source`, exactlyOne));
  else if (inline !== undefined && name !== undefined) errors.push(forbiddenField(`${path}.source`, exactlyOne));
  else if (name === "") {
    errors.push(required(`${path}.source.persistentVolumeName`, "must specify non empty persistentVolumeName"));
  }
  subdomain(nodeName, `${path}.nodeName`, errors);
  if (name !== undefined) subdomain(name, `${path}.source.persistentVolumeName`, errors);
};

const attributesClass: Rule = struct({
  driverName: (value, path, errors) => {
    if ((value ?? "") === "") errors.push(required(path));
    else qualified(String(value).toLowerCase(), path, errors);
  },
  parameters: (value, path, errors) => {
    classParameters(value, path, errors);
    if (Object.keys(object(value)).length === 0) {
      errors.push(required(path, "must contain at least one key/value pair"));
    }
  },
});

const attributesClassUpdate: UpdateRule = (changed, old) =>
  ["driverName", "parameters"].flatMap((name) =>
    isSameJson(changed[name] ?? null, old[name] ?? null)
      ? []
      : [forbiddenField(name, `updates to ${name} are forbidden.`)],
  );

export const csiRules: Readonly<Record<string, Rule>> = {
  "storage.k8s.io/csidrivers": ofSpec(driver),
  "storage.k8s.io/csinodes": ofSpec((spec, path, errors) => nodeDrivers(spec.drivers, `${path}.drivers`, errors)),
  "storage.k8s.io/csistoragecapacities": struct({
    nodeTopology: given(labelSelector),
    storageClassName: subdomain,
    capacity: pointed(nonNegativeQuantity),
  }),
  "storage.k8s.io/volumeattachments": ofSpec(attachment),
  "storage.k8s.io/volumeattributesclasses": attributesClass,
};

export const csiUpdates: Readonly<Record<string, UpdateRule>> = {
  "storage.k8s.io/csidrivers": driverUpdate,
  "storage.k8s.io/csinodes": nodeUpdate,
  "storage.k8s.io/csistoragecapacities": immutable("", "nodeTopology", "storageClassName"),
  "storage.k8s.io/volumeattachments": immutable("", "spec"),
  "storage.k8s.io/volumeattributesclasses": attributesClassUpdate,
};
