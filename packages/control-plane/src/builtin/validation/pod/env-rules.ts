import { qualifiedName } from "setpoint/kinds";
import { invalidValue, notSupported, required } from "../../../api/field-error.js";
import { isObject } from "../../../api/json.js";
import { configKeyComplaints } from "../config-rules.js";
import { each, given, label1123, needed, type Rule, type StructRule, struct, subdomain, text } from "../rule.js";
import { noBacksteps } from "../storage/path-rules.js";

/** Any printable ASCII character except the equals sign. */
export const environmentName: Rule = text((name) => {
  if (name !== "" && !/[^ -<>-~]/.test(name)) return [];
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
});

const configKey = text(configKeyComplaints);

const ENV_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];

/** A reference to a field of the pod: `metadata.labels['app']`. */
export function fieldSelector(supported: readonly string[]): Rule {
  return struct({}, ({ apiVersion, fieldPath }, path, errors) => {
    if (!apiVersion) return void errors.push(required(`${path}.apiVersion`));
    const name = String(fieldPath ?? "");
    if (name === "") return void errors.push(required(`${path}.fieldPath`));
    const keyed = /^(metadata\.(?:labels|annotations))\['(.*)'\]$/.exec(name);
    if (keyed) {
      const [, , key = ""] = keyed;
      const looked = keyed[1] === "metadata.annotations" ? key.toLowerCase() : key;
      for (const why of qualifiedName(looked)) errors.push(invalidValue(path, key, why));
      return undefined;
    }
    if (apiVersion !== "v1") {
      errors.push(
        invalidValue(`${path}.fieldPath`, name, `error converting fieldPath: unsupported pod version: ${apiVersion}`),
      );
    } else if (!KNOWN_FIELDS.includes(name)) {
      errors.push(
        invalidValue(`${path}.fieldPath`, name, `error converting fieldPath: field label not supported: ${name}`),
      );
    } else if (!supported.includes(name)) {
      errors.push(notSupported(`${path}.fieldPath`, name, supported));
    }
    return undefined;
  });
}

const KNOWN_FIELDS = [
  ...ENV_FIELDS,
  "metadata.annotations",
  "metadata.labels",
  "spec.restartPolicy",
  "spec.schedulerName",
  "spec.hostNetwork",
  "status.phase",
  "status.nominatedNodeName",
];

/** A reference to a resource of a container. */
export function resourceSelector(supported: readonly string[], isInVolume: boolean): Rule {
  return struct({}, ({ resource, containerName, divisor }, path, errors) => {
    const name = String(resource ?? "");
    if (isInVolume && !containerName) errors.push(required(`${path}.containerName`));
    else if (name === "") errors.push(required(`${path}.resource`));
    else if (!supported.includes(name) && !HUGE_PAGES.test(name)) {
      errors.push(notSupported(`${path}.resource`, name, supported));
    }
    const unit = String(divisor ?? "0");
    if (unit === "0") return;
    const refuse = (why: string): number =>
      errors.push(invalidValue(`${path}.divisor`, name, `only divisor's values ${why} resource`));
    if (/^(limits|requests)\.cpu$/.test(name)) {
      if (!["1", "1m"].includes(unit)) refuse("1m and 1 are supported with the cpu");
    } else if (!SIZES.includes(unit)) {
      const kind = HUGE_PAGES.test(name) ? "hugepages" : SIZED.get(name.replace(/^(limits|requests)\./, ""));
      if (kind) refuse(`1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the ${kind}`);
    }
  });
}

const HUGE_PAGES = /^(limits|requests)\.hugepages-/;
/** Resources measured in bytes, with their names in messages. */
const SIZED: ReadonlyMap<string, string> = new Map([
  ["memory", "memory"],
  ["ephemeral-storage", "local ephemeral storage"],
]);
const SIZES = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];
export const CONTAINER_RESOURCES = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];

const keySelector = struct({ name: subdomain, key: needed(configKey) });

const ENV_SOURCES: Readonly<Record<string, Rule>> = {
  fieldRef: fieldSelector(ENV_FIELDS),
  resourceFieldRef: resourceSelector(CONTAINER_RESOURCES, false),
  configMapKeyRef: keySelector,
  secretKeyRef: keySelector,
  fileKeyRef: struct({ key: needed(environmentName), volumeName: needed(label1123), path: needed(noBacksteps) }),
};

const valueFrom: StructRule = ({ value, valueFrom: source }, path, errors) => {
  if (!isObject(source)) return;
  const at = `${path}.valueFrom`;
  const sources = Object.keys(ENV_SOURCES).filter((name) => isObject(source[name]));
  for (const name of sources) ENV_SOURCES[name]!(source[name], `${at}.${name}`, errors);
  if (sources.length === 0) {
    const why =
      "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
    errors.push(invalidValue(at, "", why));
  } else if (value) errors.push(invalidValue(at, "", "may not be specified when `value` is not empty"));
  else if (sources.length > 1)
    errors.push(invalidValue(at, "", "may not have more than one field specified at a time"));
};

export const env = each(struct({ name: needed(environmentName) }, valueFrom));

export const envFrom = each(
  struct({ prefix: given(environmentName) }, ({ configMapRef, secretRef }, path, errors) => {
    // kube-apiserver omits the index when it counts sources.
    const all = path.replace(/\[\d+\]$/, "");
    for (const [name, reference] of Object.entries({ configMapRef, secretRef })) {
      if (isObject(reference)) needed(subdomain)(reference.name, `${path}.${name}.name`, errors);
    }
    const count = [configMapRef, secretRef].filter(isObject).length;
    if (count === 0) errors.push(invalidValue(all, "", "must specify one of: `configMapRef` or `secretRef`"));
    else if (count > 1) errors.push(invalidValue(all, "", "may not have more than one field specified at a time"));
  }),
);
