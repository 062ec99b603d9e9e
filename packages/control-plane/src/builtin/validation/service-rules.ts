import { fieldErrors } from "../../api/error-budget.js";
import { duplicate, forbiddenField, invalidValue, Printed, required } from "../../api/field-error.js";
import type { JsonObject } from "../../api/json.js";
import type { FieldError } from "../../api/status-error.js";
import { cidr, ipAddress, looseAddress, unmapped } from "./address-rules.js";
import {
  isEmpty,
  label1123,
  labels,
  list,
  needed,
  object,
  oneOf,
  pointed,
  port,
  portReference,
  protocol,
  qualified,
  repeatedAt,
  type StructRule,
  subdomain,
  texts,
} from "./rule.js";

const FAMILIES = ["IPv4", "IPv6"];
const ADDRESSED = ["ClusterIP", "LoadBalancer", "NodePort"];
const LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'";

const isLong = (address: string): boolean => address.includes(":");
const isHeadless = (spec: JsonObject): boolean => texts(spec.clusterIPs)[0] === "None";

const typed: StructRule = (spec, path, errors) => {
  const { type } = spec;
  const isExternal = type === "ExternalName";
  if (list(spec.ports).length === 0 && !isHeadless(spec) && !isExternal) errors.push(required(`${path}.ports`));
  if ((type === "LoadBalancer" || type === "NodePort") && isHeadless(spec)) {
    errors.push(invalidValue(`${path}.clusterIPs[0]`, "None", `may not be set to 'None' for ${type} services`));
  }
  if (!isExternal) return;
  for (const field of ["clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
    if (!isEmpty(spec[field]))
      errors.push(forbiddenField(`${path}.${field}`, "may not be set for ExternalName services"));
  }
  const name = String(spec.externalName ?? "").replace(/\.$/, "");
  if (name === "") errors.push(required(`${path}.externalName`));
  else subdomain(name, `${path}.externalName`, errors);
};

const ports: StructRule = (spec, path, errors) => {
  const given = list(spec.ports);
  const names = new Set<unknown>();
  for (const [index, each] of given.entries()) {
    const at = `${path}.ports[${index}]`;
    const name = each.name ?? "";
    if (given.length > 1 && name === "") errors.push(required(`${at}.name`));
    else if (name !== "") {
      label1123(name, `${at}.name`, errors);
      if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
    port(each.port ?? 0, `${at}.port`, errors);
    needed(protocol)(each.protocol, `${at}.protocol`, errors);
    portReference(each.targetPort ?? 0, `${at}.targetPort`, errors);
    pointed(qualified)(each.appProtocol, `${at}.appProtocol`, errors);
  }
};

const affinity: StructRule = ({ sessionAffinity, sessionAffinityConfig }, path, errors) => {
  needed(oneOf("ClientIP", "None"))(sessionAffinity, `${path}.sessionAffinity`, errors);
  const at = `${path}.sessionAffinityConfig`;
  if (sessionAffinity === "ClientIP") {
    const seconds = object(object(sessionAffinityConfig).clientIP).timeoutSeconds;
    if (typeof seconds !== "number") errors.push(required(`${at}.clientIP`, "when session affinity type is ClientIP"));
    else if (seconds <= 0 || seconds > 86_400) {
      errors.push(invalidValue(`${at}.clientIP.timeoutSeconds`, seconds, "must be greater than 0 and less than 86400"));
    }
  } else if (sessionAffinity === "None" && sessionAffinityConfig !== undefined) {
    errors.push(forbiddenField(at, "must not be set when session affinity is None"));
  }
};

/** The rules between cluster IPs and IP families. Also applied before addresses are allocated. */
export const addressFamilies: StructRule = (spec, path, errors) => {
  if (spec.type === "ExternalName") return;
  const [addresses, wanted] = [texts(spec.clusterIPs), texts(spec.ipFamilies)];
  const first = String(spec.clusterIP ?? "");
  if (first !== "" && addresses.length === 0) errors.push(required(`${path}.clusterIPs`));
  else if (first !== "" && addresses[0] !== first) {
    errors.push(invalidValue(`${path}.clusterIPs`, addresses, "first value must match `clusterIP`"));
  } else if (first === "" && addresses.length > 0) {
    errors.push(invalidValue(`${path}.clusterIPs`, addresses, "must be empty when `clusterIP` is not specified"));
  }
  const repeated = repeatedAt(wanted);
  for (const [index, family] of wanted.entries()) {
    oneOf(...FAMILIES)(family, `${path}.ipFamilies[${index}]`, errors);
    if (repeated.has(index)) errors.push(duplicate(`${path}.ipFamilies[${index}]`, family));
  }
  pointed(oneOf("PreferDualStack", "RequireDualStack", "SingleStack"))(
    spec.ipFamilyPolicy,
    `${path}.ipFamilyPolicy`,
    errors,
  );
  const before = errors.length;
  for (const [index, address] of addresses.entries()) {
    if (index > 0 || address !== "None") ipAddress(address, `${path}.clusterIPs[${index}]`, errors);
    else if (addresses.length > 1)
      errors.push(invalidValue(`${path}.clusterIPs`, addresses, "'None' must be the first and only value"));
  }
  if (addresses.length > 2) errors.push(invalidValue(`${path}.clusterIPs`, addresses, "may only hold up to 2 values"));
  if (errors.length > before) return;
  if (addresses.length > 1 && new Set(addresses.map(isLong)).size < addresses.length) {
    errors.push(invalidValue(`${path}.clusterIPs`, addresses, "may specify no more than one IP for each IP family"));
  }
  if (isHeadless(spec)) return;
  for (const [index, address] of addresses.entries()) {
    const family = wanted[index];
    if (!FAMILIES.includes(family ?? "") || (isLong(address) ? "IPv6" : "IPv4") === family) continue;
    const why = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
    errors.push(invalidValue(`${path}.clusterIPs[${index}]`, address, why));
  }
};

const addresses: StructRule = (spec, path, errors) => {
  for (const [index, address] of texts(spec.externalIPs).entries()) {
    const [at, before] = [`${path}.externalIPs[${index}]`, errors.length];
    ipAddress(address, at, errors);
    if (errors.length === before) specialAddress(address, at, errors);
  }
  needed(oneOf("ClusterIP", "ExternalName", "LoadBalancer", "NodePort"))(spec.type, `${path}.type`, errors);
};

/** An endpoint may not have an unspecified, loopback, link-local or link-local multicast address. */
export function specialAddress(given: string, path: string, errors: FieldError[]): void {
  const address = looseAddress(given);
  const refuse = (why: string): number => errors.push(invalidValue(path, given, why));
  if (address === undefined) {
    refuse("must be a valid IP address");
    return;
  }
  const bytes = unmapped(address);
  const [first = 0, second = 0, third] = bytes;
  const isShort = bytes.length === 4;
  const isHere = isShort ? first === 127 : bytes.join("") === "0000000000000001";
  const isOfLink = isShort ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80;
  const isOfMany = isShort ? first === 224 && second === 0 && third === 0 : first === 0xff && (second & 0x0f) === 0x02;
  if (bytes.every((byte) => byte === 0)) refuse(`may not be unspecified (${given})`);
  if (isHere) refuse("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  if (isOfLink) refuse("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  if (isOfMany) refuse("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
}

const nodePorts: StructRule = (spec, path, errors) => {
  const taken = new Set<string>();
  const served = new Set<string>();
  for (const [index, { nodePort }] of list(spec.ports).entries()) {
    if (spec.type === "ClusterIP" && nodePort) {
      errors.push(forbiddenField(`${path}.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
    }
  }
  for (const [index, { nodePort, protocol }] of list(spec.ports).entries()) {
    if (!nodePort) continue;
    const key = `${protocol}/${nodePort}`;
    if (taken.has(key)) errors.push(duplicate(`${path}.ports[${index}].nodePort`, nodePort));
    taken.add(key);
  }
  for (const [index, { port: number, protocol }] of list(spec.ports).entries()) {
    const key = `${protocol}/${number}`;
    if (served.has(key)) {
      const shown = { Name: "", Protocol: protocol ?? "", AppProtocol: null, Port: number ?? 0 };
      const text = () => JSON.stringify({ ...shown, TargetPort: 0, NodePort: 0 });
      errors.push(duplicate(`${path}.ports[${index}]`, new Printed(text)));
    }
    served.add(key);
  }
};

const balancing: StructRule = (spec, path, errors) => {
  const isBalanced = spec.type === "LoadBalancer";
  const ranges = texts(spec.loadBalancerSourceRanges);
  const at = `${path}.LoadBalancerSourceRanges`;
  if (ranges.length > 0 && !isBalanced) errors.push(forbiddenField(at, LOAD_BALANCER));
  for (const [index, range] of ranges.entries()) cidr(range.trim(), `${at}[${index}]`, errors);
  if (spec.allocateLoadBalancerNodePorts !== undefined && !isBalanced) {
    errors.push(forbiddenField(`${path}.allocateLoadBalancerNodePorts`, LOAD_BALANCER));
  }
  if (spec.loadBalancerClass !== undefined) {
    if (!isBalanced) errors.push(forbiddenField(`${path}.loadBalancerClass`, LOAD_BALANCER));
    else qualified(spec.loadBalancerClass, `${path}.loadBalancerClass`, errors);
  }
};

const isReachedFromOutside = (spec: JsonObject): boolean =>
  spec.type === "NodePort" ||
  spec.type === "LoadBalancer" ||
  (spec.type === "ClusterIP" && texts(spec.externalIPs).length > 0);

const traffic: StructRule = (spec, path, errors) => {
  const { externalTrafficPolicy: outside, healthCheckNodePort: health, internalTrafficPolicy: inside } = spec;
  if (isReachedFromOutside(spec)) {
    if (isEmpty(outside)) errors.push(required(`${path}.externalTrafficPolicy`, ""));
    else oneOf("Cluster", "Local")(outside, `${path}.externalTrafficPolicy`, errors);
  } else if (!isEmpty(outside)) {
    errors.push(
      invalidValue(`${path}.externalTrafficPolicy`, outside, "may only be set for externally-accessible services"),
    );
  }
  const isChecked = spec.type === "LoadBalancer" && outside === "Local";
  if (health && isChecked) port(health, `${path}.healthCheckNodePort`, errors);
  if (health && !isChecked) {
    errors.push(
      invalidValue(
        `${path}.healthCheckNodePort`,
        health,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ),
    );
  }
  if (inside !== undefined) oneOf("Cluster", "Local")(inside, `${path}.internalTrafficPolicy`, errors);
  else if (ADDRESSED.includes(String(spec.type))) errors.push(required(`${path}.internalTrafficPolicy`));
  pointed(oneOf("PreferClose", "PreferSameZone", "PreferSameNode"))(
    spec.trafficDistribution,
    `${path}.trafficDistribution`,
    errors,
  );
};

const RULES = [affinity, addressFamilies, addresses, nodePorts, balancing, traffic];

const RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";

/** The source ranges in the annotation that preceded the field. */
function annotatedRanges({ metadata, spec }: JsonObject, errors: FieldError[]): void {
  const ranges = object(object(metadata).annotations)[RANGES];
  const { type, loadBalancerSourceRanges } = object(spec);
  if (ranges === undefined || texts(loadBalancerSourceRanges).length > 0) return;
  const at = `metadata.annotations[${RANGES}]`;
  if (type !== "LoadBalancer") errors.push(forbiddenField(at, LOAD_BALANCER));
  const text = String(ranges).trim();
  for (const range of text === "" ? [] : text.split(",")) cidr(range.trim(), at, errors);
}

export const serviceRule = (service: JsonObject, errors: FieldError[]): void => {
  const spec = object(service.spec);
  typed(spec, "spec", errors);
  ports(spec, "spec", errors);
  labels(spec.selector, "spec.selector", errors);
  for (const rule of RULES) rule(spec, "spec", errors);
  annotatedRanges(service, errors);
};

/** An allocated address is immutable, except for services of type ExternalName. */
export function serviceUpdate(service: JsonObject, old: JsonObject): FieldError[] {
  const [spec, before] = [object(service.spec), object(old.spec)];
  if (spec.type === "ExternalName" || before.type === "ExternalName") return [];
  const errors: FieldError[] = fieldErrors();
  if (spec.type === "LoadBalancer" && before.type === "LoadBalancer") {
    if (spec.loadBalancerClass !== before.loadBalancerClass)
      errors.push(invalidValue("spec.loadBalancerClass", spec.loadBalancerClass, "may not change once set"));
    const isLocal = spec.externalTrafficPolicy === "Local" && before.externalTrafficPolicy === "Local";
    if (isLocal && spec.healthCheckNodePort !== before.healthCheckNodePort)
      errors.push(forbiddenField("spec.healthCheckNodePort", "field is immutable"));
  }
  // kube-apiserver reports this once for the service and once for its change.
  if (spec.type !== "LoadBalancer" && spec.loadBalancerClass !== undefined) {
    errors.push(forbiddenField("spec.loadBalancerClass", LOAD_BALANCER));
  }
  if (isHeadless(spec) && isHeadless(before)) return errors;
  for (const name of ["clusterIPs", "ipFamilies"]) {
    const [now, was] = [texts(spec[name]), texts(before[name])];
    for (const [index, value] of now.entries()) {
      if (was[index] === undefined || was[index] === value) continue;
      errors.push(
        invalidValue(`spec.${name}[${index}]`, name === "clusterIPs" ? now : value, "may not change once set"),
      );
    }
  }
  return errors;
}
