import { forbiddenField, invalidValue, notFound, notSupported, required, tooLong } from "../../../api/field-error.js";
import { isObject, type JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { isEmpty, list, object, type StructRule, subdomain } from "../rule.js";
import { podResources, resourceRequirements } from "./resource-rules.js";

const HOSTNAME_BYTES = 64;

/** Validates hostnameOverride. */
export const hostnameOverride: StructRule = (
  { hostnameOverride: name, setHostnameAsFQDN, hostNetwork },
  path,
  errors,
) => {
  if (name === undefined) return;
  const at = `${path}.hostnameOverride`;
  if (setHostnameAsFQDN === true)
    errors.push(forbiddenField(at, "may not be specified when setHostnameAsFQDN is true"));
  if (hostNetwork === true) errors.push(forbiddenField(at, "may not be specified when hostNetwork is true"));
  if (Buffer.byteLength(String(name)) > HOSTNAME_BYTES) errors.push(tooLong(at, HOSTNAME_BYTES));
  subdomain(name, at, errors);
};

/** Validates the pod overhead. */
export const podOverhead: StructRule = ({ overhead: limits }, path, errors) => {
  if (isObject(limits)) resourceRequirements({ limits }, `${path}.overhead`, errors);
};

const containersOf = (spec: JsonObject, path: string): readonly (readonly [JsonObject, string])[] =>
  ["initContainers", "containers", "ephemeralContainers"].flatMap((name) =>
    list(spec[name]).map((each, index) => [each, `${path}.${name}[${index}]`] as const),
  );

/** Either all containers of a Windows pod are host processes or none is. */
export const hostProcesses: StructRule = (spec, path, errors) => {
  const ofPod = object(object(spec.securityContext).windowsOptions).hostProcess;
  const containers = containersOf(spec, path);
  let count = 0;
  for (const [container, at] of containers) {
    const own = object(object(container.securityContext).windowsOptions).hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const why = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      errors.push(invalidValue(`${at}.securityContext.windowsOptions.hostProcess`, own, why));
    }
    if ((own ?? ofPod) === true) count++;
  }
  if (count === 0) return;
  if (count < containers.length) {
    const why = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
    errors.push(invalidValue(path, "", why));
  }
  if (spec.hostNetwork !== true) {
    const why = "hostNetwork must be true if pod contains any hostProcess containers";
    errors.push(invalidValue(`${path}.hostNetwork`, false, why));
  }
};

const NOT_ON_WINDOWS = "cannot be set for a windows pod";
const LINUX_POD_FIELDS = [
  "securityContext.appArmorProfile",
  "securityContext.seLinuxOptions",
  "hostUsers",
  "hostPID",
  "hostIPC",
  "securityContext.seccompProfile",
  "securityContext.fsGroup",
  "securityContext.fsGroupChangePolicy",
  "securityContext.sysctls",
  "shareProcessNamespace",
  "securityContext.runAsUser",
  "securityContext.runAsGroup",
  "securityContext.supplementalGroups",
  "securityContext.supplementalGroupsPolicy",
  "securityContext.seLinuxChangePolicy",
];
const LINUX_CONTAINER_FIELDS = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
];

/** Whether a field is set. A boolean field counts only if it is true. */
function isSet(of: JsonObject, field: string): boolean {
  const [parent, name] = field.includes(".") ? (field.split(".") as [string, string]) : [undefined, field];
  const value = parent === undefined ? of[name] : object(of[parent])[name];
  return name === "hostPID" || name === "hostIPC" ? value === true : value !== undefined && value !== null;
}

function forbiddenFields(spec: JsonObject, path: string, errors: FieldError[]): void {
  for (const field of LINUX_POD_FIELDS) {
    if (isSet(spec, field)) errors.push(forbiddenField(`${path}.${field}`, NOT_ON_WINDOWS));
  }
  for (const [container, at] of containersOf(spec, path)) {
    for (const field of LINUX_CONTAINER_FIELDS) {
      const context = object(container.securityContext);
      if (isSet(context, field)) errors.push(forbiddenField(`${at}.securityContext.${field}`, NOT_ON_WINDOWS));
    }
  }
}

/** A pod for one operating system may not set fields of the other. */
export const operatingSystem: StructRule = (spec, path, errors) => {
  if (!isObject(spec.os)) return;
  const { name } = spec.os;
  if (isEmpty(name)) errors.push(required(`${path}.os.name`));
  else if (name === "windows") forbiddenFields(spec, path, errors);
  else if (name !== "linux") errors.push(notSupported(`${path}.os`, name, ["linux", "windows"]));
  else {
    const why = "windows options cannot be set for a linux pod";
    const contexts = [[spec, path] as const, ...containersOf(spec, path)];
    for (const [of, at] of contexts) {
      if (isObject(object(of.securityContext).windowsOptions))
        errors.push(forbiddenField(`${at}.securityContext.windowsOptions`, why));
    }
  }
};

/** Validates pod-level resources, which come after the containers. */
export const podLevelResources: StructRule = (spec, path, errors) => {
  if (!isObject(spec.resources)) return;
  if (object(spec.os).name === "windows") {
    errors.push(forbiddenField(`${path}.resources`, "may not be set for a windows pod"));
  } else podResources(spec, `${path}.resources`, errors);
};

/** Fields that a pod in its own user namespace cannot use. */
export const userNamespace: StructRule = (spec, path, errors) => {
  if (spec.hostUsers !== false) return;
  const refuse = (at: string): number => errors.push(forbiddenField(at, "when `hostUsers` is false"));
  if (spec.hostNetwork === true) refuse(`${path}.hostNetwork`);
  if (spec.hostPID === true) refuse(`${path}.HostPID`);
  if (spec.hostIPC === true) refuse(`${path}.HostIPC`);
  for (const [container, at] of containersOf(spec, path)) {
    if (!isEmpty(container.volumeDevices)) refuse(`${at}.volumeDevices`);
  }
};

/** Environment files must lie in emptyDir volumes. */
export const environmentFiles: StructRule = (spec, path, errors) => {
  const volumes = list(spec.volumes);
  for (const [container, of] of containersOf(spec, path)) {
    for (const [index, { valueFrom }] of list(container.env).entries()) {
      const file = object(valueFrom).fileKeyRef;
      if (file === undefined) continue;
      const at = `${of}.env[${index}].valueFrom.fileKeyRef.volumeName`;
      const { volumeName = "" } = object(file);
      const volume = volumes.find(({ name }) => name === volumeName);
      if (volume === undefined) errors.push(notFound(at, volumeName));
      else if (volume.emptyDir === undefined) {
        errors.push(invalidValue(at, volumeName, "referenced volume must be of type emptyDir"));
      }
    }
  }
};
