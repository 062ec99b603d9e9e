import { isArray, isObject, type Json, type JsonObject } from "../../../schema/json.js";
import { duplicate, forbiddenField, invalidValue, notSupported, required } from "../../field-error.js";
import { qualifiedName } from "../../metadata/name-rules.js";
import type { FieldError } from "../../status-error.js";
import { configKeyComplaints } from "./config-rules.js";
import { descendingPath, localhostProfile } from "./path-rules.js";
import { resourceRequirements } from "./resource-rules.js";
import {
  all,
  between,
  each,
  given,
  isEmpty,
  label1123,
  list,
  needed,
  neededWith,
  nonNegative,
  object,
  oneOf,
  pointed,
  port,
  portNameComplaints,
  portReference,
  type Rule,
  type StructRule,
  struct,
  subdomain,
  text,
} from "./rule.js";

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

const ports: Rule = (value, path, errors) => {
  const names = new Set<string>();
  for (const [index, item] of list(value).entries()) {
    const at = `${path}[${index}]`;
    const name = String(item.name ?? "");
    const complaints = name === "" ? [] : portNameComplaints(name);
    for (const why of complaints) errors.push(invalidValue(`${at}.name`, name, why));
    if (name !== "" && complaints.length === 0 && names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    if (!item.containerPort) errors.push(required(`${at}.containerPort`));
    else port(item.containerPort, `${at}.containerPort`, errors);
    if (item.hostPort) port(item.hostPort, `${at}.hostPort`, errors);
    needed(oneOf(...PROTOCOLS))(item.protocol, `${at}.protocol`, errors);
  }
};

/** Any printable character but the equals sign. */
export const environmentName: Rule = text((name) => {
  if (name !== "" && !/[^ -<>-~]/.test(name)) return [];
  const why = "a valid environment variable name must consist only of printable ASCII characters other than '='";
  return [
    `${why} (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '^[ -<>-~]+$')`,
  ];
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

/** A field of the pod itself: `metadata.labels['app']`. */
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

/** What a container may use, as a value. */
export function resourceSelector(supported: readonly string[], isInVolume: boolean): Rule {
  return struct({}, ({ resource, containerName, divisor }, path, errors) => {
    if (isInVolume && !containerName) return void errors.push(required(`${path}.containerName`));
    const name = String(resource ?? "");
    if (name === "") return void errors.push(required(`${path}.resource`));
    if (!supported.includes(name) && !/^(limits|requests)\.hugepages-/.test(name)) {
      errors.push(notSupported(`${path}.resource`, name, supported));
    }
    const unit = String(divisor ?? "0");
    if (name.endsWith(".cpu") && !["0", "1", "1m"].includes(unit)) {
      errors.push(invalidValue("divisor", unit, "only divisor's values 1m and 1 are supported with the cpu resource"));
    } else if (!name.endsWith(".cpu") && supported.includes(name) && !SIZES.includes(unit)) {
      const kind = name.split(".")[1];
      const why = `only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the ${kind === "memory" ? "memory" : "local ephemeral storage"} resource`;
      errors.push(invalidValue("divisor", unit, why));
    }
    return undefined;
  });
}

const SIZES = ["0", "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];
export const CONTAINER_RESOURCES = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];

const keySelector = struct({ name: needed(subdomain), key: needed(configKey) });

const ENV_SOURCES: Readonly<Record<string, Rule>> = {
  fieldRef: fieldSelector(ENV_FIELDS),
  resourceFieldRef: resourceSelector(CONTAINER_RESOURCES, false),
  configMapKeyRef: keySelector,
  secretKeyRef: keySelector,
  fileKeyRef: () => {},
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

const env = each(struct({ name: needed(environmentName) }, valueFrom));

const envFrom = each(
  struct({ prefix: given(environmentName) }, ({ configMapRef, secretRef }, path, errors) => {
    for (const [name, reference] of Object.entries({ configMapRef, secretRef })) {
      if (isObject(reference)) needed(subdomain)(reference.name, `${path}.${name}.name`, errors);
    }
    const count = [configMapRef, secretRef].filter(isObject).length;
    if (count === 0) errors.push(invalidValue(path, "", "must specify one of: `configMapRef` or `secretRef`"));
    else if (count > 1) errors.push(invalidValue(path, "", "may not have more than one field specified at a time"));
  }),
);

/** What a container mounts, against the volumes that its pod has. */
function volumeMounts(container: JsonObject, volumes: ReadonlySet<string>): Rule {
  return (value, path, errors) => {
    const paths = new Set<Json>();
    for (const [index, mount] of list(value).entries()) {
      const at = `${path}[${index}]`;
      const name = String(mount.name ?? "");
      if (name === "") errors.push(required(`${at}.name`));
      else if (!volumes.has(name)) errors.push(notFound(`${at}.name`, name));
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
      mountPropagation(container)(mount.mountPropagation, `${path}.mountPropagation`, errors);
      recursiveReadOnly(mount, `${path}.recursiveReadOnly`, errors);
    }
  };
}

function mountPropagation(container: JsonObject): Rule {
  return pointed((value, path, errors) => {
    oneOf("Bidirectional", "HostToContainer", "None")(value, path, errors);
    if (value === "Bidirectional" && object(container.securityContext).privileged !== true) {
      errors.push(forbiddenField(path, "Bidirectional mount propagation is available only to privileged containers"));
    }
  });
}

const recursiveReadOnly: StructRule = (mount, path, errors) => {
  const { recursiveReadOnly: value, readOnly, mountPropagation: propagation } = mount;
  if (value === undefined || value === null || value === "Disabled") return;
  if (value !== "IfPossible" && value !== "Enabled") {
    errors.push(notSupported(path, value, ["Disabled", "Enabled", "IfPossible"]));
    return;
  }
  if (readOnly !== true) errors.push(forbiddenField(path, "may only be specified when readOnly is true"));
  if (propagation !== undefined && propagation !== "None") {
    errors.push(forbiddenField(path, "may only be specified when mountPropagation is None or not specified"));
  }
};

export function notFound(field: string, value: Json): FieldError {
  return { type: "FieldValueNotFound", field, detail: `Not found: ${JSON.stringify(value)}` };
}

function volumeDevices(container: JsonObject, volumes: ReadonlySet<string>): Rule {
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

const headerName = text((name) =>
  /^[-A-Za-z0-9]+$/.test(name)
    ? []
    : [
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
      ],
);

const HANDLERS: Readonly<Record<string, Rule>> = {
  exec: struct({ command: needed() }),
  httpGet: struct(
    {
      path: needed(),
      port: (value, path, errors) => portReference(value ?? 0, path, errors),
      scheme: oneOf("HTTP", "HTTPS"),
    },
    ({ httpHeaders }, path, errors) => {
      for (const header of list(httpHeaders)) headerName(header.name, `${path}.httpHeaders`, errors);
    },
  ),
  tcpSocket: struct({ port: (value, path, errors) => portReference(value ?? 0, path, errors) }),
  grpc: struct({ port }),
  sleep: () => {},
};

/** Exactly one way to do it. */
const handler: StructRule = (value, path, errors) => {
  const present = Object.keys(HANDLERS).filter((name) => isObject(value[name]));
  for (const [index, name] of present.entries()) {
    if (index > 0) errors.push(forbiddenField(`${path}.${name}`, "may not specify more than 1 handler type"));
    else HANDLERS[name]!(value[name], `${path}.${name}`, errors);
  }
  if (present.length === 0) errors.push(required(path, "must specify a handler type"));
};

function probe(...more: readonly StructRule[]): Rule {
  const numbers = struct({
    initialDelaySeconds: nonNegative,
    timeoutSeconds: nonNegative,
    periodSeconds: nonNegative,
    successThreshold: nonNegative,
    failureThreshold: nonNegative,
  });
  return struct({}, handler, numbers as StructRule, grace, ...more);
}

const grace: StructRule = ({ terminationGracePeriodSeconds: seconds }, path, errors) => {
  if (typeof seconds === "number" && seconds <= 0) {
    errors.push(invalidValue(`${path}.terminationGracePeriodSeconds`, seconds, "must be greater than 0"));
  }
};

const onlyOneSuccess: StructRule = ({ successThreshold }, path, errors) => {
  if (successThreshold !== 1) errors.push(invalidValue(`${path}.successThreshold`, successThreshold ?? 0, "must be 1"));
};

const noGrace: StructRule = ({ terminationGracePeriodSeconds: seconds }, path, errors) => {
  if (seconds === undefined || seconds === null) return;
  errors.push(invalidValue(`${path}.terminationGracePeriodSeconds`, seconds, "must not be set for readinessProbes"));
};

/** What runs at the start, at the end and while a container lives. */
export const lifetime: Readonly<Record<string, Rule>> = {
  lifecycle: struct({ postStart: struct({}, handler), preStop: struct({}, handler) }),
  livenessProbe: probe(onlyOneSuccess),
  readinessProbe: probe(noGrace),
  startupProbe: probe(onlyOneSuccess),
};

const MAX_ID = 2_147_483_647;
export const identifier = pointed(between(0, MAX_ID));

export const seccompProfile = struct(
  {
    type: (value, path, errors) => {
      if (isEmpty(value)) errors.push(required(path, "type is required when seccompProfile is set"));
      else oneOf("Localhost", "RuntimeDefault", "Unconfined")(value, path, errors);
    },
  },
  localhostProfile("seccomp"),
);

export const securityContext = struct(
  { runAsUser: identifier, runAsGroup: identifier, procMount: pointed(oneOf("Default", "Unmasked")), seccompProfile },
  (context, path, errors) => {
    if (context.allowPrivilegeEscalation !== false) return;
    const refuse = (why: string): number => errors.push(invalidValue(path, context, why));
    if (context.privileged === true) refuse("cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    const added = object(context.capabilities).add;
    if (isArray(added) && added.includes("CAP_SYS_ADMIN")) {
      refuse("cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
    }
  },
);

/** What holds for containers of every sort. */
export function container(volumes: ReadonlySet<string>): StructRule {
  const head = struct({
    name: needed(label1123),
    image: needed(),
    terminationMessagePolicy: needed(oneOf("File", "FallbackToLogsOnError")),
    ports,
    env,
    envFrom,
  }) as StructRule;
  const tail = struct({
    imagePullPolicy: needed(oneOf("Always", "IfNotPresent", "Never")),
    resources: resourceRequirements,
    securityContext: all(securityContext, appArmor),
  }) as StructRule;
  return (value, path, errors) => {
    head(value, path, errors);
    volumeMounts(value, volumes)(value.volumeMounts, `${path}.volumeMounts`, errors);
    volumeDevices(value, volumes)(value.volumeDevices, `${path}.volumeDevices`, errors);
    tail(value, path, errors);
  };
}

/** A profile's type, and its place on the node where it has one. */
export const appArmor = struct({
  appArmorProfile: struct(
    {
      type: neededWith(
        "type is required when appArmorProfile is set",
        oneOf("Localhost", "RuntimeDefault", "Unconfined"),
      ),
    },
    localhostProfile("AppArmor"),
  ),
});
