import { forbiddenField, invalidValue, notFound, notSupported, required } from "../../../api/field-error.js";
import type { Json, JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { list, object, oneOf, pointed, type Rule, type StructRule } from "../rule.js";
import { descendingPath } from "../storage/path-rules.js";

/** The volume mounts of a container must refer to volumes of its pod. */
export function volumeMounts(container: JsonObject, volumes: ReadonlySet<string>): Rule {
  return (value, path, errors) => {
    const paths = new Set<Json>();
    for (const [index, mount] of list(value).entries()) {
      const at = `${path}[${index}]`;
      const name = String(mount.name ?? "");
      if (name === "") errors.push(required(`${at}.name`));
      if (!volumes.has(name)) errors.push(notFound(`${at}.name`, name));
      const mountPath = mount.mountPath ?? "";
      if (mountPath === "") errors.push(required(`${at}.mountPath`));
      if (paths.has(mountPath)) errors.push(invalidValue(`${at}.mountPath`, mountPath, "must be unique"));
      paths.add(mountPath);
      for (const device of list(container.volumeDevices)) {
        if (device.devicePath === mountPath) {
          errors.push(invalidValue(`${at}.mountPath`, mountPath, "must not already exist as a path in volumeDevices"));
        }
        if (device.name === name)
          errors.push(invalidValue(`${at}.name`, name, "must not already exist in volumeDevices"));
      }
      if (mount.subPath) descendingPath(mount.subPath, `${path}.subPath`, errors);
      if (mount.subPathExpr) {
        if (mount.subPath) {
          errors.push(
            invalidValue(`${at}.subPathExpr`, mount.subPathExpr, "subPathExpr and subPath are mutually exclusive"),
          );
        }
        descendingPath(mount.subPathExpr, `${path}.subPathExpr`, errors);
      }
      checkPropagation(container, mount.mountPropagation, `${path}.mountPropagation`, errors);
      recursiveReadOnly(mount, `${path}.recursiveReadOnly`, errors);
    }
  };
}

const propagation = pointed(oneOf("Bidirectional", "HostToContainer", "None"));

function checkPropagation(container: JsonObject, value: Json | undefined, path: string, errors: FieldError[]): void {
  propagation(value, path, errors);
  if (value === "Bidirectional" && object(container.securityContext).privileged !== true) {
    errors.push(forbiddenField(path, "Bidirectional mount propagation is available only to privileged containers"));
  }
}

const recursiveReadOnly: StructRule = (mount, path, errors) => {
  const { recursiveReadOnly: value, readOnly, mountPropagation: mode } = mount;
  if (value === undefined || value === null || value === "Disabled") return;
  if (value !== "IfPossible" && value !== "Enabled") {
    errors.push(notSupported(path, value, ["Disabled", "Enabled", "IfPossible"]));
    return;
  }
  if (readOnly !== true) errors.push(forbiddenField(path, "may only be specified when readOnly is true"));
  if (mode !== undefined && mode !== "None") {
    errors.push(forbiddenField(path, "may only be specified when mountPropagation is None or not specified"));
  }
};

/** The raw block devices of a container must refer to volumes of its pod. */
export function volumeDevices(container: JsonObject, volumes: ReadonlySet<string>): Rule {
  return (value, path, errors) => {
    for (const [index, device] of list(value).entries()) {
      const at = `${path}[${index}]`;
      const name = String(device.name ?? "");
      if (name === "") errors.push(required(`${at}.name`));
      if (!device.devicePath) errors.push(required(`${at}.devicePath`));
      else if (String(device.devicePath).split("/").includes("..")) {
        errors.push(invalidValue(`${at}.devicePath`, device.devicePath, "can not contain backsteps ('..')"));
      }
      if (name !== "" && !volumes.has(name)) errors.push(notFound(`${at}.name`, name));
      if (list(container.volumeMounts).some((mount) => mount.name === name)) {
        errors.push(invalidValue(`${at}.name`, name, "must not already exist in volumeMounts"));
      }
    }
  };
}
