import { isObject, type JsonObject } from "../../../schema/json.js";
import { duplicate, forbiddenField, invalidValue, required } from "../../field-error.js";
import type { FieldError } from "../../status-error.js";
import { claimSpec } from "./claim-rules.js";
import { CONTAINER_RESOURCES, fieldSelector, resourceSelector } from "./env-rules.js";
import { noBacksteps, unreservedPath } from "./path-rules.js";
import {
  annotations,
  each,
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
} from "./rule.js";

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

const downwardFile = struct(
  {
    path: (value, path, errors) => {
      needed()(value, path, errors);
      unreservedPath(value, path, errors);
    },
  },
  ({ fieldRef, resourceFieldRef }, path, errors) => {
    if (isObject(fieldRef)) {
      fieldSelector(VOLUME_FIELDS)(fieldRef, `${path}.fieldRef`, errors);
      if (isObject(resourceFieldRef)) {
        errors.push(
          invalidValue(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"),
        );
      }
    } else if (isObject(resourceFieldRef)) {
      resourceSelector(CONTAINER_RESOURCES, true)(resourceFieldRef, `${path}.resourceFieldRef`, errors);
    } else {
      errors.push(required(path, "one of fieldRef and resourceFieldRef is required"));
    }
  },
  ({ mode }, path, errors) => fileMode(mode, `${path}.mode`, errors),
);

const MONTHS_SECONDS = 2 ** 32;

const tokenProjection = struct({}, ({ expirationSeconds, path: target }, path, errors) => {
  const seconds = Number(expirationSeconds ?? 0);
  if (seconds < 600)
    errors.push(invalidValue(`${path}.expirationSeconds`, seconds, "may not specify a duration less than 10 minutes"));
  if (seconds > MONTHS_SECONDS)
    errors.push(
      invalidValue(`${path}.expirationSeconds`, seconds, "may not specify a duration larger than 2^32 seconds"),
    );
  if (!target) errors.push(required(`${path}.path`));
  else noBacksteps(target, `${path}.path`, errors);
});

const SOURCES: Readonly<Record<string, Rule>> = {
  secret: struct({ name: needed(), items: each(keyToPath) }),
  configMap: struct({ name: needed(), items: each(keyToPath) }),
  downwardAPI: struct({ items: each(downwardFile) }),
  serviceAccountToken: tokenProjection,
};

/** Sources that share a folder do not share a file. */
const projected = struct({}, ({ sources, defaultMode }, path, errors) => {
  const taken = new Set<string>();
  for (const [index, source] of list(sources).entries()) {
    const at = `${path}.sources[${index}]`;
    const present = Object.keys(SOURCES).filter((name) => isObject(source[name]));
    for (const name of present) {
      SOURCES[name]!(source[name], `${at}.${name}`, errors);
      const content = object(source[name]);
      const paths = name === "serviceAccountToken" ? [content.path] : list(content.items).map((item) => item.path);
      for (const each of paths) {
        const file = String(each ?? "");
        if (file !== "" && taken.has(file)) {
          errors.push(invalidValue(at, file, "conflicting duplicate paths"));
        }
        taken.add(file);
      }
    }
    if (present.length === 0)
      errors.push(
        required(
          at,
          "must specify one of (configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate)",
        ),
      );
    else if (present.length > 1) errors.push(forbiddenField(at, "may not specify more than 1 volume type per source"));
  }
  fileMode(defaultMode, `${path}.defaultMode`, errors);
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

/** A driver's name is a domain, in any case, of at most 63 characters. */
export const driverName: Rule = (value, path, errors) => {
  const name = String(value ?? "");
  if (name === "") return void errors.push(required(path));
  if (name.length > 63)
    errors.push({ type: "FieldValueTooLong", field: path, detail: "Too long: may not be more than 63 bytes" });
  subdomain(name.toLowerCase(), path, errors);
  return undefined;
};

const claimTemplate = struct({
  metadata: struct({ annotations, labels }),
  spec: claimSpec,
});

/** By the name of the source, in the real server's order. Those that name clouds of old are checked for being alone. */
const VOLUME_SOURCES: Readonly<Record<string, Rule>> = {
  emptyDir: struct({}, ({ sizeLimit }, path, errors) => {
    if (nanosOf(sizeLimit) < 0n)
      errors.push(forbiddenField(`${path}.sizeLimit`, "SizeLimit field must be a valid resource quantity"));
  }),
  hostPath: struct({}, ({ path: target, type }, path, errors) => {
    if (!target) return void errors.push(required(`${path}.path`));
    noBacksteps(target, `${path}.path`, errors);
    if (type && !HOST_PATH_TYPES.includes(String(type))) oneOf(...HOST_PATH_TYPES)(type, `${path}.type`, errors);
    return undefined;
  }),
  gitRepo: struct({ repository: needed() }),
  gcePersistentDisk: struct({ pdName: needed() }),
  awsElasticBlockStore: struct({ volumeID: needed() }),
  secret: struct({ secretName: needed(), defaultMode: fileMode, items: each(keyToPath) }),
  nfs: struct({
    server: needed(),
    path: (value, path, errors) => {
      if (isEmpty(value)) errors.push(required(path));
      else if (!String(value).startsWith("/")) errors.push(invalidValue(path, value, "must be an absolute path"));
    },
  }),
  iscsi: struct({ targetPortal: needed(), iqn: needed() }),
  glusterfs: struct({ endpoints: needed(), path: needed() }),
  flocker: () => {},
  persistentVolumeClaim: struct({ claimName: needed() }),
  rbd: struct({ monitors: needed(), image: needed() }),
  cinder: struct({ volumeID: needed() }),
  cephfs: struct({ monitors: needed() }),
  quobyte: struct({ registry: needed(), volume: needed() }),
  downwardAPI: struct({ defaultMode: fileMode, items: each(downwardFile) }),
  fc: () => {},
  flexVolume: struct({ driver: needed() }),
  configMap: struct({ name: needed(), defaultMode: fileMode, items: each(keyToPath) }),
  azureFile: struct({ secretName: needed(), shareName: needed() }),
  vsphereVolume: struct({ volumePath: needed() }),
  photonPersistentDisk: struct({ pdID: needed() }),
  portworxVolume: struct({ volumeID: needed() }),
  azureDisk: struct({ diskName: needed(), diskURI: needed() }),
  storageos: () => {},
  projected,
  scaleIO: struct({ gateway: needed(), system: needed(), volumeName: needed() }),
  csi: struct({ driver: driverName, nodePublishSecretRef: struct({ name: neededWith("") }) }),
  ephemeral: struct({ volumeClaimTemplate: neededWith("", claimTemplate) }),
  image: struct({ reference: needed(), pullPolicy: needed(oneOf("Always", "IfNotPresent", "Never")) }),
};

const source: StructRule = (volume, path, errors) => {
  const present = Object.keys(VOLUME_SOURCES).filter((name) => isObject(volume[name]));
  for (const [index, name] of present.entries()) {
    if (index > 0 && name !== "emptyDir")
      errors.push(forbiddenField(`${path}.${MISSPELT[name] ?? name}`, "may not specify more than 1 volume type"));
    else VOLUME_SOURCES[name]!(volume[name], `${path}.${name}`, errors);
  }
  if (present.length === 0) errors.push(required(path, "must specify a volume type"));
};

/** As the real server calls them. */
const MISSPELT: Readonly<Record<string, string>> = { cephfs: "cephFS", downwardAPI: "downwarAPI" };

/** Checks the volumes of a pod; returns the names of those that are in order, which containers may mount. */
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
    const found: FieldError[] = [];
    const name = String(volume.name ?? "");
    source(volume, at, found);
    needed(label1123)(name, `${at}.name`, found);
    if (names.has(name)) found.push(duplicate(`${at}.name`, name));
    if (found.length === 0) names.add(name);
    else errors.push(...found);
    const claim = object(volume.persistentVolumeClaim).claimName;
    if (podName !== "" && made.has(String(claim))) {
      const why = "must not reference a PVC that gets created for an ephemeral volume";
      errors.push(invalidValue(`${at}.persistentVolumeClaim.claimName`, claim, why));
    }
  }
  return names;
}
