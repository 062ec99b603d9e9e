import { dnsSubdomain } from "setpoint/kinds";
import { addErrors, fieldErrors } from "../../../api/error-budget.js";
import { duplicate, forbiddenField, invalidValue, required, tooLong } from "../../../api/field-error.js";
import { isObject, type Json, type JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { internal } from "../internal-struct.js";
import { CONTAINER_RESOURCES, fieldSelector, resourceSelector } from "../pod/env-rules.js";
import {
  all,
  annotations,
  each,
  given,
  isEmpty,
  label1123,
  labels,
  list,
  nanosOf,
  needed,
  neededWith,
  number,
  object,
  oneOf,
  pointed,
  type Rule,
  type StructRule,
  struct,
  subdomain,
} from "../rule.js";
import { claimSpec } from "./claim-rules.js";
import { disks, FORBIDDEN_NAMES, MESSAGE_NAMES } from "./disk-rules.js";
import { descendingPath, noBacksteps, unreservedPath } from "./path-rules.js";

export const fileMode = pointed(
  number((mode) => mode >= 0 && mode <= 0o777, "must be a number between 0 and 0777 (octal), both inclusive"),
);

const keyToPath = struct({
  key: needed(),
  path: (value, path, errors) => {
    needed()(value, path, errors);
    unreservedPath(value, path, errors);
  },
  mode: fileMode,
});

const VOLUME_FIELDS = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];

const fileField = fieldSelector(VOLUME_FIELDS);
const fileResource = resourceSelector(CONTAINER_RESOURCES, true);

const downwardFile = struct(
  {
    path: all(needed(), unreservedPath),
  },
  ({ fieldRef, resourceFieldRef }, path, errors) => {
    if (isObject(fieldRef)) {
      fileField(fieldRef, `${path}.fieldRef`, errors);
      if (isObject(resourceFieldRef)) {
        errors.push(
          invalidValue(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"),
        );
      }
    } else if (isObject(resourceFieldRef)) {
      fileResource(resourceFieldRef, `${path}.resourceFieldRef`, errors);
    } else {
      errors.push(required(path, "one of fieldRef and resourceFieldRef is required"));
    }
  },
  ({ mode }, path, errors) => fileMode(mode, `${path}.mode`, errors),
);

/** kube-apiserver omits the index of downwardAPI files. */
const downwardFiles: Rule = (items, path, errors) => {
  for (const file of list(items)) downwardFile(file, path.replace(/\.items$/, ""), errors);
};

const MONTHS_SECONDS = 2 ** 32;

const tokenExpiry = struct({}, ({ expirationSeconds }, path, errors) => {
  const seconds = Number(expirationSeconds ?? 0);
  if (seconds < 600)
    errors.push(invalidValue(`${path}.expirationSeconds`, seconds, "may not specify a duration less than 10 minutes"));
  if (seconds > MONTHS_SECONDS)
    errors.push(
      invalidValue(`${path}.expirationSeconds`, seconds, "may not specify a duration larger than 2^32 seconds"),
    );
});

const clusterTrustBundle = struct({}, (bundle, path, errors) => {
  const { name, signerName, path: target } = bundle;
  if (name !== undefined && signerName !== undefined) {
    const shown = internal("core.ClusterTrustBundleProjection", bundle);
    errors.push(invalidValue(path, shown, "only one of name and signerName may be used"));
  } else if (name === undefined && signerName === undefined) {
    errors.push(required(path, "either name or signerName must be specified"));
  } else if (name === "") errors.push(required(`${path}.name`, "must be a valid object name"));
  else if (signerName === "") errors.push(required(`${path}.signerName`, "must be a valid signer name"));
  needed()(target, `${path}.path`, errors);
  unreservedPath(target, `${path}.path`, errors);
});

const SOURCES: Readonly<Record<string, Rule>> = {
  secret: struct({ name: needed(), items: each(keyToPath) }),
  configMap: struct({ name: needed(), items: each(keyToPath) }),
  downwardAPI: struct({ items: downwardFiles }),
  serviceAccountToken: tokenExpiry,
  clusterTrustBundle,
};

/** The files that a source projects, with the text that a conflict shows. */
function filesOf(name: string, source: JsonObject): readonly (readonly [file: string, shown: Json])[] {
  if (name === "clusterTrustBundle") return [[String(source.path ?? ""), source.path ?? ""]];
  return list(source.items)
    .map(({ path }) => String(path ?? ""))
    .filter((file) => file !== "")
    .map((file) => [file, name === "downwardAPI" ? file : (source.name ?? "")]);
}

/** Projected sources may not project the same file. */
const projected = struct({ defaultMode: fileMode }, ({ sources }, path, errors) => {
  const taken = new Set<string>();
  for (const [index, source] of list(sources).entries()) {
    const at = `${path}.sources[${index}]`;
    const present = Object.keys(SOURCES).filter((name) => isObject(source[name]));
    for (const name of present) {
      const content = object(source[name]);
      SOURCES[name]!(content, `${at}.${name}`, errors);
      // kube-apiserver reports the path of a token as that of the volume.
      if (name === "serviceAccountToken") needed(unreservedPath)(content.path, `${path}.path`, errors);
      for (const [file, shown] of filesOf(name, content)) {
        if (taken.has(file)) errors.push(invalidValue(path, shown, "conflicting duplicate paths"));
        taken.add(file);
      }
    }
    if (present.length > 1) errors.push(forbiddenField(at, "may not specify more than 1 volume type per source"));
  }
});

const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

/** A driver's name is a case-insensitive domain of at most 63 characters. */
export const driverName: Rule = (value, path, errors) => {
  const name = String(value ?? "");
  if (name === "") return void errors.push(required(path));
  if (name.length > 63) errors.push(tooLong(path, 63));
  for (const why of dnsSubdomain(name.toLowerCase())) errors.push(invalidValue(path, name, why));
  return undefined;
};

const claimTemplate = struct({
  metadata: struct({ annotations, labels }),
  spec: claimSpec,
});

const csi = struct({ driver: driverName }, ({ nodePublishSecretRef: secret }, path, errors) => {
  if (!isObject(secret)) return;
  if (isEmpty(secret.name)) errors.push(required(`${path}.nodePublishSecretRef.name`));
  else subdomain(secret.name, `${path}.name`, errors);
});

/** A hostPath of a pod or persistent volume. */
export const hostPath = struct({}, ({ path: target, type }, path, errors) => {
  if (!target) return void errors.push(required(`${path}.path`));
  noBacksteps(target, `${path}.path`, errors);
  pointed(oneOf(...HOST_PATH_TYPES))(type, `${path}.type`, errors);
  return undefined;
});

/** By source name, in kube-apiserver's order. */
const VOLUME_SOURCES: Readonly<Record<string, Rule>> = {
  emptyDir: struct({}, ({ sizeLimit }, path, errors) => {
    if (nanosOf(sizeLimit) < 0n)
      errors.push(forbiddenField(`${path}.sizeLimit`, "SizeLimit field must be a valid resource quantity"));
  }),
  hostPath,
  gitRepo: struct({ repository: needed(), directory: given(descendingPath) }),
  gcePersistentDisk: disks.gcePersistentDisk,
  awsElasticBlockStore: disks.awsElasticBlockStore,
  secret: struct({ secretName: needed(), defaultMode: fileMode, items: each(keyToPath) }),
  nfs: disks.nfs,
  iscsi: disks.iscsi,
  glusterfs: disks.glusterfs,
  flocker: disks.flocker,
  persistentVolumeClaim: struct({ claimName: needed() }),
  rbd: disks.rbd,
  cinder: disks.cinder,
  cephfs: disks.cephfs,
  quobyte: disks.quobyte,
  downwardAPI: struct({ defaultMode: fileMode, items: downwardFiles }),
  fc: disks.fc,
  flexVolume: disks.flexVolume,
  configMap: struct({ name: needed(), defaultMode: fileMode, items: each(keyToPath) }),
  azureFile: disks.azureFile,
  vsphereVolume: disks.vsphereVolume,
  photonPersistentDisk: disks.photonPersistentDisk,
  portworxVolume: disks.portworxVolume,
  azureDisk: disks.azureDisk,
  storageos: disks.storageos,
  projected,
  scaleIO: disks.scaleIO,
  csi,
  ephemeral: struct({ volumeClaimTemplate: neededWith("", claimTemplate) }),
  image: struct({ reference: needed(), pullPolicy: needed(oneOf("Always", "IfNotPresent", "Never")) }),
};

/** Exactly one source. Only the first one is validated. */
export function oneSource(sources: Readonly<Record<string, Rule>>, always?: string): StructRule {
  return (value, path, errors) => {
    const present = Object.keys(sources).filter((name) => isObject(value[name]));
    for (const [index, name] of present.entries()) {
      if (index === 0 || name === always) sources[name]!(value[name], `${path}.${MESSAGE_NAMES[name] ?? name}`, errors);
      else {
        const field = `${path}.${FORBIDDEN_NAMES[name] ?? name}`;
        errors.push(forbiddenField(field, "may not specify more than 1 volume type"));
      }
    }
    if (present.length === 0) errors.push(required(path, "must specify a volume type"));
  };
}

const source = oneSource(VOLUME_SOURCES);
const volumeName = needed(label1123);

/** Validates the volumes of a pod. Returns the names of valid ones, which containers may mount. */
export function checkVolumes(
  volumes: JsonObject[string] | undefined,
  path: string,
  errors: FieldError[],
  podName = "",
): ReadonlySet<string> {
  const names = new Set<string>();
  const made = new Set(
    list(volumes)
      .filter((volume) => isObject(volume.ephemeral))
      .map((volume) => `${podName}-${volume.name}`),
  );
  for (const [index, volume] of list(volumes).entries()) {
    const at = `${path}[${index}]`;
    const found: FieldError[] = fieldErrors();
    const name = String(volume.name ?? "");
    source(volume, at, found);
    if (podName !== "" && name !== "" && isObject(volume.ephemeral)) {
      const made = `${podName}-${name}`;
      for (const why of dnsSubdomain(made)) found.push(invalidValue(`${at}.name`, name, `PVC name "${made}": ${why}`));
    }
    volumeName(name, `${at}.name`, found);
    if (names.has(name)) found.push(duplicate(`${at}.name`, name));
    if (found.length === 0) names.add(name);
    else addErrors(errors, found);
    const claim = object(volume.persistentVolumeClaim).claimName;
    if (podName !== "" && made.has(String(claim))) {
      const why = "must not reference a PVC that gets created for an ephemeral volume";
      errors.push(invalidValue(`${at}.persistentVolumeClaim.claimName`, claim, why));
    }
  }
  return names;
}
