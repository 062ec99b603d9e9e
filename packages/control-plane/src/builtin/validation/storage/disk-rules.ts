import { invalidValue, notSupported, required } from "../../../api/field-error.js";
import {
  between,
  entriesOf,
  given,
  isEmpty,
  label1123,
  needed,
  neededWith,
  number,
  pointed,
  type Rule,
  type StructRule,
  struct,
  text,
} from "../rule.js";

const partition = number((value) => value >= 0 && value <= 255, "must be between 1 and 255, inclusive");
const unitNumber = between(0, 255);
const namedSecret = struct({ name: needed() });

/** The three formats of iSCSI names. */
const ISCSI_NAMES: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([A-Za-z0-9-.]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[A-Za-z0-9]{16}$/,
  naa: /^naa.[A-Za-z0-9]{32}$/,
};

const iscsiName = (unknown: string): Rule =>
  text((name) => {
    const pattern = ISCSI_NAMES[name.slice(0, 3)];
    if (pattern === undefined) return [unknown];
    return pattern.test(name) ? [] : ["must be valid format"];
  });

const chapSecret: StructRule = (disk, path, errors) => {
  const isAuthenticated = disk.chapAuthDiscovery === true || disk.chapAuthSession === true;
  if (isAuthenticated && isEmpty(disk.secretRef)) errors.push(required(`${path}.secretRef`));
};

/** Rules for iSCSI disks of pods and persistent volumes. Only the message about the target's name differs. */
const iscsi = (unknownTarget: string): Rule =>
  struct(
    { targetPortal: needed(), iqn: needed(iscsiName(unknownTarget)), lun: unitNumber },
    chapSecret,
    ({ secretRef, initiatorName }, path, errors) => {
      namedSecret(secretRef, `${path}.secretRef`, errors);
      pointed(iscsiName("must be valid format"))(initiatorName, `${path}.initiatorname`, errors);
    },
  );

const REGISTRY = "must be a host:port pair or multiple pairs separated by commas";

const quobyte = struct({}, ({ registry, tenant, volume }, path, errors) => {
  const pairs = String(registry ?? "");
  if (pairs === "") errors.push(required(`${path}.registry`, REGISTRY));
  else if (String(tenant ?? "").length >= 65) {
    errors.push(required(`${path}.tenant`, "must be a UUID and may not exceed a length of 64 characters"));
  } else {
    for (const pair of pairs.split(",")) {
      if (!/^(\[[^[\]]*\]|[^:[\]]*):[^:]*$/.test(pair)) errors.push(invalidValue(`${path}.registry`, pairs, REGISTRY));
    }
  }
  needed()(volume, `${path}.volume`, errors);
});

const flocker = struct({}, ({ datasetName, datasetUUID }, path, errors) => {
  if (!datasetName && !datasetUUID) errors.push(required(path, "one of datasetName and datasetUUID is required"));
  if (datasetName && datasetUUID) {
    errors.push(invalidValue(path, "resource", "datasetName and datasetUUID can not be specified simultaneously"));
  }
  if (String(datasetName ?? "").includes("/")) {
    errors.push(invalidValue(`${path}.datasetName`, datasetName, "must not contain '/'"));
  }
});

const fibreChannel = struct({}, ({ targetWWNs, wwids, lun }, path, errors) => {
  const at = `${path}.targetWWNs`;
  if (isEmpty(targetWWNs) && isEmpty(wwids)) {
    errors.push(required(at, "must specify either targetWWNs or wwids, but not both"));
  }
  if (isEmpty(targetWWNs)) return;
  if (!isEmpty(wwids)) {
    errors.push(invalidValue(at, targetWWNs, "targetWWNs and wwids can not be specified simultaneously"));
  }
  if (lun === undefined) errors.push(required(`${path}.lun`, "lun is required if targetWWNs is specified"));
  else unitNumber(lun, `${path}.lun`, errors);
});

const flexOptions = entriesOf((key, _value, path, errors) => {
  const domain = `.${(key.split("/", 1)[0] ?? "").toLowerCase()}`;
  if (domain.endsWith(".kubernetes.io") || domain.endsWith(".k8s.io")) {
    errors.push(invalidValue(path, key, "kubernetes.io and k8s.io namespaces are reserved"));
  }
});

const MANAGED_DISK = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const BLOB_DISK = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
const CACHING_MODES = ["None", "ReadOnly", "ReadWrite"];
const DISK_KINDS = ["Dedicated", "Managed", "Shared"];

const azureDisk = struct({ diskName: needed(), diskURI: needed() }, ({ diskURI, cachingMode, kind }, path, errors) => {
  const address = String(diskURI ?? "");
  const choices = { cachingMode: [cachingMode, CACHING_MODES], kind: [kind, DISK_KINDS] } as const;
  for (const [name, [value, known]] of Object.entries(choices)) {
    if (value !== undefined && !known.includes(String(value))) {
      errors.push(notSupported(`${path}.${name}`, value, known));
    }
  }
  if (kind === undefined) return;
  const [start, form] = kind === "Managed" ? ["/subscriptions/", MANAGED_DISK] : ["https://", BLOB_DISK];
  if (!address.startsWith(start)) errors.push(notSupported(`${path}.diskURI`, address, [form]));
});

const nfs = struct({ server: needed() }, ({ path: target }, path, errors) => {
  needed()(target, `${path}.path`, errors);
  if (!String(target ?? "").startsWith("/"))
    errors.push(invalidValue(`${path}.path`, target ?? "", "must be an absolute path"));
});

/** Rules for cloud and network disks of pods. Persistent volumes share most of them. */
export const disks = {
  gcePersistentDisk: struct({ pdName: needed(), partition }),
  awsElasticBlockStore: struct({ volumeID: needed(), partition }),
  nfs,
  iscsi: iscsi("must be valid format starting with iqn, eui, or naa"),
  glusterfs: struct({ endpoints: needed(), path: needed() }),
  flocker,
  rbd: struct({ monitors: needed(), image: needed() }),
  cinder: struct({ volumeID: needed(), secretRef: namedSecret }),
  cephfs: struct({ monitors: needed() }),
  quobyte,
  fc: fibreChannel,
  flexVolume: struct({ driver: needed(), options: flexOptions }),
  azureFile: struct({ secretName: needed(), shareName: needed() }),
  vsphereVolume: struct({ volumePath: needed() }),
  photonPersistentDisk: struct({ pdID: needed() }),
  portworxVolume: struct({ volumeID: needed() }),
  azureDisk,
  storageos: struct({ volumeName: needed(label1123), volumeNamespace: given(label1123), secretRef: namedSecret }),
  scaleIO: struct({ gateway: needed(), system: needed(), volumeName: needed() }),
} satisfies Readonly<Record<string, Rule>>;

const otherSecret = struct({ name: needed(), namespace: needed() });

/** Rules for persistent volumes, which need further fields because they have no namespace. */
export const persistentDisks: Readonly<Record<string, Rule>> = {
  ...disks,
  iscsi: iscsi("must be valid format"),
  glusterfs: struct({
    endpoints: needed(),
    path: needed(),
    endpointsNamespace: (value, path, errors) => {
      const why = "if the endpointnamespace is set, it must be a valid namespace name";
      if (value === "") errors.push(invalidValue(path, value, why));
      else pointed(label1123)(value, path, errors);
    },
  }),
  cinder: struct({ volumeID: needed(), secretRef: otherSecret }),
  azureFile: struct({ secretName: needed(), shareName: needed(), secretNamespace: pointed(neededWith("")) }),
  storageos: struct({ volumeName: needed(label1123), volumeNamespace: given(label1123), secretRef: otherSecret }),
};

/** Names of some sources in kube-apiserver's messages. */
export const MESSAGE_NAMES: Readonly<Record<string, string>> = { gcePersistentDisk: "persistentDisk" };
export const FORBIDDEN_NAMES: Readonly<Record<string, string>> = { cephfs: "cephFS", downwardAPI: "downwarAPI" };
