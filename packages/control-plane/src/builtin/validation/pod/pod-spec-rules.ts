import { dnsSubdomain } from "setpoint/kinds";
import { isFull } from "../../../api/error-budget.js";
import { duplicate, forbiddenField, invalidValue, required } from "../../../api/field-error.js";
import { isArray, isObject, type Json, type JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { ipAddress } from "../address-rules.js";
import {
  aboveZero,
  all,
  annotations,
  between,
  each,
  given,
  isEmpty,
  label1123,
  labels,
  list,
  needed,
  object,
  oneOf,
  pointed,
  qualified,
  type Rule,
  type StructRule,
  struct,
  subdomain,
} from "../rule.js";
import { affinity, labelSelector, tolerations } from "../selector-rules.js";
import { resourceClaims } from "../storage/claim-name-rules.js";
import { checkVolumes } from "../storage/volume-rules.js";
import { container } from "./container-rules.js";
import {
  environmentFiles,
  hostnameOverride,
  hostProcesses,
  operatingSystem,
  podLevelResources,
  podOverhead,
  userNamespace,
} from "./pod-system-rules.js";
import { lifetime } from "./probe-rules.js";
import { restartPolicy } from "./restart-rules.js";
import { appArmor, identifier, seccompProfile, windowsOptions } from "./security-rules.js";

const SIDECARS = "may not be set for init containers without restartPolicy=Always";

/** Validates all containers of a pod. */
function checkContainers(spec: JsonObject, volumes: ReadonlySet<string>, path: string, errors: FieldError[]): void {
  const common = container(volumes, spec);
  const names = new Set<Json>();
  const regular = list(spec.containers);
  if (regular.length === 0) errors.push(required(`${path}.containers`));
  for (const [index, each] of regular.entries()) {
    if (isFull(errors)) return;
    const at = `${path}.containers[${index}]`;
    common(each, at, errors);
    if (names.has(each.name ?? "")) errors.push(duplicate(`${at}.name`, each.name ?? ""));
    names.add(each.name ?? "");
    for (const [name, rule] of Object.entries(lifetime)) rule(each[name], `${at}.${name}`, errors);
    restartPolicy(each, at, false, errors);
  }
  checkHostPorts(regular, `${path}.containers`, errors);
  for (const [index, each] of list(spec.initContainers).entries()) {
    if (isFull(errors)) return;
    const at = `${path}.initContainers[${index}]`;
    common(each, at, errors);
    restartPolicy(each, at, true, errors);
    const name = each.name ?? "";
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    else if (name !== "") names.add(name);
    for (const [field, rule] of Object.entries(lifetime)) {
      if (each.restartPolicy === "Always") rule(each[field], `${at}.${field}`, errors);
      else if (isObject(each[field])) errors.push(forbiddenField(`${at}.${field}`, SIDECARS));
    }
  }
}

function checkHostPorts(containers: readonly JsonObject[], path: string, errors: FieldError[]): void {
  const taken = new Set<string>();
  for (const [index, each] of containers.entries()) {
    for (const [at, port] of list(each.ports).entries()) {
      if (!port.hostPort) continue;
      const key = `${port.protocol}/${port.hostIP ?? ""}/${port.hostPort}`;
      if (taken.has(key)) errors.push(duplicate(`${path}[${index}].ports[${at}].hostPort`, key));
      taken.add(key);
    }
  }
}

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;

/** Sysctls that would affect the node if the pod shares its namespace. */
const NODE_WIDE: readonly (readonly [field: string, of: RegExp])[] = [
  ["hostNetwork", /^net[./]/],
  ["hostIPC", /^(kernel[./](shm|msg|sem)|fs[./]mqueue[./])/],
];

function checkSysctls(spec: JsonObject, value: Json | undefined, path: string, errors: FieldError[]): void {
  const names = new Set<Json>();
  for (const [index, { name = "" }] of list(value).entries()) {
    const at = `${path}[${index}].name`;
    if (name === "") errors.push(required(at));
    else if (String(name).length > 253 || !SYSCTL.test(String(name))) {
      const why =
        "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
      errors.push(invalidValue(at, name, why));
    } else if (names.has(name)) errors.push(duplicate(at, name));
    for (const [field, of] of NODE_WIDE) {
      if (spec[field] === true && of.test(String(name)))
        errors.push(invalidValue(at, name, `may not be specified when '${field}' is true`));
    }
    names.add(name);
  }
}

const identities = struct({
  fsGroup: identifier,
  runAsUser: identifier,
  runAsGroup: identifier,
  supplementalGroups: each(between(0, 2_147_483_647)),
});

const securityPolicies = all(
  struct({
    fsGroupChangePolicy: pointed(oneOf("Always", "OnRootMismatch")),
    supplementalGroupsPolicy: pointed(oneOf("Merge", "Strict")),
    seLinuxChangePolicy: pointed(oneOf("Recursive")),
    seccompProfile,
    windowsOptions,
  }),
  appArmor,
);

const podSecurity: StructRule = (spec, path, errors) => {
  const { securityContext } = spec;
  const at = `${path}.securityContext`;
  identities(securityContext, at, errors);
  checkSysctls(spec, object(securityContext).sysctls, `${at}.sysctls`, errors);
  securityPolicies(securityContext, at, errors);
};

/** With hostNetwork, hostPort must equal containerPort. A template may omit it, because defaulting sets it in pods. */
const hostNetwork =
  (isPod: boolean): StructRule =>
  ({ hostNetwork: isOn, containers }, path, errors) => {
    if (isOn !== true) return;
    for (const [index, each] of list(containers).entries()) {
      for (const [at, port] of list(each.ports).entries()) {
        if ((!isPod && !port.hostPort) || port.hostPort === port.containerPort) continue;
        const field = `${path}.containers[${index}].ports[${at}].hostPort`;
        errors.push(invalidValue(field, port.hostPort ?? 0, "must match `containerPort` when `hostNetwork` is true"));
      }
    }
  };

const dnsConfig =
  (policy: Json | undefined): Rule =>
  (value, path, errors) => {
    const config = object(value);
    const servers = isArray(config.nameservers) ? config.nameservers : [];
    if (policy === "None" && servers.length === 0) {
      const isMissing = !isObject(value);
      const what = isMissing ? "`dnsConfig`" : "at least one DNS nameserver";
      const why = `must provide ${what} when \`dnsPolicy\` is None`;
      return void errors.push(required(isMissing ? path : `${path}.nameservers`, why));
    }
    if (!isObject(value)) return undefined;
    if (servers.length > 3) {
      errors.push(invalidValue(`${path}.nameservers`, servers, "must not have more than 3 nameservers"));
    }
    for (const [index, server] of servers.entries()) ipAddress(server, `${path}.nameservers[${index}]`, errors);
    const searches = isArray(config.searches) ? config.searches : [];
    const refuse = (why: string): number => errors.push(invalidValue(`${path}.searches`, searches, why));
    if (searches.length > 32) refuse("must not have more than 32 search paths");
    if (Buffer.byteLength(searches.join(" ")) > 2048) {
      refuse("must not have more than 2048 characters (including spaces) in the search list");
    }
    for (const [index, search] of searches.entries()) {
      if (search === ".") continue;
      const domain = String(search).replace(/\.$/, "");
      for (const why of dnsSubdomain(domain.replaceAll("_", "-"))) {
        errors.push(invalidValue(`${path}.searches[${index}]`, domain, withUnderscores(why)));
      }
    }
    for (const [index, option] of list(config.options).entries()) {
      if (!option.name) errors.push(required(`${path}.options[${index}]`, "must not be empty"));
    }
    return undefined;
  };

/** The same message for names that may contain underscores. */
const withUnderscores = (why: string): string =>
  why
    .replace("characters, '-' or '.'", "characters, '_', '-' or '.'")
    .replace(/\[a-z0-9\]\(\[-a-z0-9\]\*/g, "_?[a-z0-9]([-_a-z0-9]*");

const hostAliases = each(
  struct({}, ({ ip: address, hostnames }, path, errors) => {
    ipAddress(address, `${path}.ip`, errors);
    each(subdomain)(hostnames, `${path}.hostnames`, errors);
  }),
);

const spreadConstraint = struct({}, (constraint, path, errors) => {
  const { maxSkew, topologyKey, whenUnsatisfiable, minDomains } = constraint;
  aboveZero(maxSkew ?? 0, `${path}.maxSkew`, errors);
  if (!topologyKey) errors.push(required(`${path}.topologyKey`, "can not be empty"));
  oneOf("DoNotSchedule", "ScheduleAnyway")(whenUnsatisfiable, `${path}.whenUnsatisfiable`, errors);
  if (minDomains !== undefined) {
    aboveZero(minDomains, `${path}.minDomains`, errors);
    if (whenUnsatisfiable !== "DoNotSchedule") {
      const why = "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ";
      errors.push(invalidValue(`${path}.minDomains`, minDomains, `${why}${whenUnsatisfiable ?? ""}`));
    }
  }
  for (const field of ["nodeAffinityPolicy", "nodeTaintsPolicy"]) {
    pointed(oneOf("Honor", "Ignore"))(constraint[field], `${path}.${field}`, errors);
  }
  labelSelector(constraint.labelSelector, `${path}.labelSelector`, errors);
});

const spreadConstraints: Rule = (value, path, errors) => {
  const constraints = list(value);
  const identity = ({ topologyKey, whenUnsatisfiable }: JsonObject): string => `${topologyKey} ${whenUnsatisfiable}`;
  const last = new Map(constraints.map((each, index) => [identity(each), index]));
  for (const [index, each] of constraints.entries()) {
    const at = `${path}[${index}]`;
    spreadConstraint(each, at, errors);
    if (last.get(identity(each)) === index) continue;
    errors.push(
      duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${each.topologyKey}, ${each.whenUnsatisfiable}}`),
    );
  }
};

const readinessGates = each(struct({ conditionType: qualified }));
/** kube-apiserver reports an invalid name on the gate itself. */
const schedulingGates: Rule = (gates, path, errors) => {
  const names = new Set<Json | undefined>();
  for (const [index, { name }] of list(gates).entries()) {
    qualified(name, `${path}[${index}]`, errors);
    if (names.has(name)) errors.push(duplicate(`${path}[${index}]`, name ?? ""));
    names.add(name);
  }
};

/** A sleep handler may not exceed the termination grace period. */
const sleeps: StructRule = (spec, path, errors) => {
  const { terminationGracePeriodSeconds: graceSeconds } = spec;
  if (typeof graceSeconds !== "number" || graceSeconds < 0) return;
  for (const kind of ["initContainers", "containers"]) {
    for (const [index, { lifecycle }] of list(spec[kind]).entries()) {
      if (lifecycle === undefined) continue;
      for (const [moment, handler] of Object.entries(object(lifecycle))) {
        const { seconds } = object(object(handler).sleep);
        if (typeof seconds !== "number" || (seconds >= 0 && seconds <= graceSeconds)) continue;
        const why = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
        errors.push(invalidValue(`${path}.${kind}[${index}].lifecycle.${moment}.sleep`, seconds, why));
      }
    }
  }
};

const before: readonly (readonly [string, Rule])[] = [
  ["restartPolicy", needed(oneOf("Always", "OnFailure", "Never"))],
  ["dnsPolicy", needed(oneOf("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"))],
  ["nodeSelector", labels],
];

const after: readonly (readonly [string, Rule])[] = [
  ["serviceAccountName", given(subdomain)],
  ["nodeName", given(subdomain)],
  ["activeDeadlineSeconds", pointed(between(1, 2_147_483_647))],
  ["hostname", given(label1123)],
  ["subdomain", given(label1123)],
  ["tolerations", tolerations],
  ["hostAliases", hostAliases],
  ["priorityClassName", given(subdomain)],
  ["runtimeClassName", pointed(subdomain)],
  ["preemptionPolicy", pointed(needed(oneOf("PreemptLowerPriority", "Never")))],
];

/** A service account token requires a service account. */
const tokens: StructRule = ({ volumes, serviceAccountName }, path, errors) => {
  if (serviceAccountName) return;
  for (const [index, volume] of list(volumes).entries()) {
    for (const [at, source] of list(object(volume.projected).sources).entries()) {
      if (!isObject(source.serviceAccountToken)) continue;
      const field = `${path}.volumes[${index}].projected.sources[${at}].serviceAccountToken`;
      errors.push(forbiddenField(field, "must not be specified when serviceAccountName is not set"));
    }
  }
};

/** Validates a pod spec. `podName` is the name of a pod; undefined for a template. */
export function checkPodSpec(spec: JsonObject, path: string, errors: FieldError[], podName?: string): void {
  const volumes = checkVolumes(spec.volumes, `${path}.volumes`, errors, podName);
  resourceClaims(spec.resourceClaims, `${path}.resourceClaims`, errors);
  checkContainers(spec, volumes, path, errors);
  sleeps(spec, path, errors);
  podLevelResources(spec, path, errors);
  hostNetwork(podName !== undefined)(spec, path, errors);
  for (const [name, rule] of before) rule(spec[name], `${path}.${name}`, errors);
  podSecurity(spec, path, errors);
  affinity(spec.affinity, `${path}.affinity`, errors);
  dnsConfig(spec.dnsPolicy)(spec.dnsConfig, `${path}.dnsConfig`, errors);
  readinessGates(spec.readinessGates, `${path}.readinessGates`, errors);
  schedulingGates(spec.schedulingGates, `${path}.schedulingGates`, errors);
  spreadConstraints(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`, errors);
  hostProcesses(spec, path, errors);
  userNamespace(spec, path, errors);
  hostnameOverride(spec, path, errors);
  for (const [name, rule] of after) rule(spec[name], `${path}.${name}`, errors);
  podOverhead(spec, path, errors);
  operatingSystem(spec, path, errors);
  environmentFiles(spec, path, errors);
  if (podName !== undefined) tokens(spec, path, errors);
}

/** Validates the metadata and spec of a pod template. */
export function checkPodTemplate(template: Json | undefined, path: string, errors: FieldError[]): void {
  const { metadata, spec } = object(template);
  labels(object(metadata).labels, `${path}.labels`, errors);
  annotations(object(metadata).annotations, `${path}.annotations`, errors);
  checkPodSpec(object(spec), `${path}.spec`, errors);
  if (!isEmpty(object(spec).ephemeralContainers)) {
    errors.push(forbiddenField(`${path}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template"));
  }
}
