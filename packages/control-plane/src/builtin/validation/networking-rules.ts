import { dnsLabel, dnsSubdomain, pathSegmentName } from "setpoint/kinds";
import { forbiddenField, invalidValue, notSupported, required, tooLong } from "../../api/field-error.js";
import { isArray, isObject, type Json } from "../../api/json.js";
import { cidr, isIp, isWithin, looseRange } from "./address-rules.js";
import {
  each,
  given,
  immutable,
  isEmpty,
  list,
  needed,
  object,
  ofSpec,
  oneOf,
  pointed,
  port,
  portName,
  type Rule,
  type StructRule,
  struct,
  subdomain,
  text,
} from "./rule.js";
import { labelSelector } from "./selector-rules.js";
import { domainPath } from "./storage/path-rules.js";

const label = text(dnsLabel);
const segment = text((value) => pathSegmentName(value, false));

/** A reference to an object in the same namespace, by group, kind and name. */
const typedReference = struct({}, ({ apiGroup, kind, name }, path, errors) => {
  if (apiGroup !== undefined && apiGroup !== null) subdomain(apiGroup, `${path}.apiGroup`, errors);
  if (isEmpty(kind)) errors.push(required(`${path}.kind`, ""));
  else segment(kind, `${path}.kind`, errors);
  if (isEmpty(name)) errors.push(required(`${path}.name`, ""));
  else segment(name, `${path}.name`, errors);
});

const backend: Rule = (value, path, errors) => {
  const { service, resource } = object(value);
  if (isObject(service) && isObject(resource)) {
    errors.push(invalidValue(path, "", "cannot set both resource and service backends"));
  } else if (isObject(resource)) typedReference(resource, `${path}.resource`, errors);
  else if (isObject(service)) {
    needed(label)(service.name, `${path}.service.name`, errors);
    const { name, number } = object(service.port);
    if (name && number) errors.push(invalidValue(path, "", "cannot set both port name & port number"));
    else if (name) portName(name, `${path}.service.port.name`, errors);
    else if (number) port(number, `${path}.service.port.number`, errors);
    else errors.push(required(path, "port name or number is required"));
  } else errors.push(invalidValue(path, "", "resource or service backend is required"));
};

const SEQUENCES = ["//", "/./", "/../", "%2f", "%2F"];
const SUFFIXES = ["/..", "/."];

const ingressPath = struct({}, ({ path: target, pathType, backend: to }, path, errors) => {
  if (pathType === undefined || pathType === null)
    return void errors.push(required(`${path}.pathType`, "pathType must be specified"));
  const text = String(target ?? "");
  const refuse = (why: string): number => errors.push(invalidValue(`${path}.path`, text, why));
  if (pathType === "Exact" || pathType === "Prefix") {
    if (!text.startsWith("/")) refuse("must be an absolute path");
    for (const part of SEQUENCES) if (text.includes(part)) refuse(`must not contain '${part}'`);
    for (const part of SUFFIXES) if (text.endsWith(part)) refuse(`cannot end with '${part}'`);
  } else if (pathType === "ImplementationSpecific") {
    if (text !== "" && !text.startsWith("/")) refuse("must be an absolute path");
  } else errors.push(notSupported(`${path}.pathType`, pathType, ["Exact", "ImplementationSpecific", "Prefix"]));
  backend(to, `${path}.backend`, errors);
  return undefined;
});

const WILDCARD = "\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const wildcardPattern = new RegExp(`^${WILDCARD}$`);

/** A host name, possibly with a leading wildcard. */
const host = text((name) => {
  if (!name.includes("*")) return dnsSubdomain(name);
  const complaints = name.length > 253 ? ["must be no more than 253 bytes"] : [];
  if (wildcardPattern.test(name)) return complaints;
  const why =
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
  return [...complaints, `${why} (e.g. '*.example.com', regex used for validation is '${WILDCARD}')`];
});

const ingressRule = struct({}, ({ host: name, http }, path, errors) => {
  if (name && isIp(String(name)))
    errors.push(invalidValue(`${path}.host`, name, "must be a DNS name, not an IP address"));
  given(host)(name, `${path}.host`, errors);
  if (!isObject(http)) return;
  if (list(http.paths).length === 0) errors.push(required(`${path}.http.paths`));
  each(ingressPath)(http.paths, `${path}.http.paths`, errors);
});

const ingress: StructRule = (spec, path, errors) => {
  if (list(spec.rules).length === 0 && !isObject(spec.defaultBackend)) {
    errors.push(invalidValue(path, spec.rules ?? null, "either `defaultBackend` or `rules` must be specified"));
  }
  if (isObject(spec.defaultBackend)) backend(spec.defaultBackend, `${path}.defaultBackend`, errors);
  each(ingressRule)(spec.rules, `${path}.rules`, errors);
  each(struct({ hosts: each(host), secretName: given(subdomain) }))(spec.tls, `${path}.tls`, errors);
  pointed(subdomain)(spec.ingressClassName, `${path}.ingressClassName`, errors);
};

const ingressClass: StructRule = ({ controller, parameters }, path, errors) => {
  const at = `${path}.controller`;
  const name = String(controller ?? "");
  if (name.length > 250) errors.push(tooLong(at, 250));
  domainPath(name, at, errors);
  if (!isObject(parameters)) return;
  const place = `${path}.parameters`;
  typedReference(parameters, place, errors);
  const { scope, namespace } = parameters;
  if (scope === undefined) errors.push(required(`${place}.scope`));
  else oneOf("Cluster", "Namespace")(scope, `${place}.scope`, errors);
  if (scope === "Namespace") {
    if (namespace === undefined)
      errors.push(required(`${place}.namespace`, "`parameters.scope` is set to 'Namespace'"));
    else label(namespace, `${place}.namespace`, errors);
  }
  if (scope === "Cluster" && namespace !== undefined)
    errors.push(forbiddenField(`${place}.namespace`, "`parameters.scope` is set to 'Cluster'"));
};

export const ingressClassUpdate = immutable("spec", "controller");

const policyPort = struct({}, ({ protocol, port: from, endPort }, path, errors) => {
  pointed(oneOf("TCP", "UDP", "SCTP"))(protocol, `${path}.protocol`, errors);
  const at = `${path}.endPort`;
  if (from === undefined) {
    if (endPort !== undefined)
      errors.push(invalidValue(at, endPort, "may not be specified when `port` is not specified"));
  } else if (typeof from === "string") {
    if (endPort !== undefined)
      errors.push(invalidValue(at, endPort, "may not be specified when `port` is non-numeric"));
    portName(from, `${path}.port`, errors);
  } else {
    port(from, `${path}.port`, errors);
    if (endPort === undefined) return;
    if (Number(endPort) < Number(from)) errors.push(invalidValue(at, from, "must be greater than or equal to `port`"));
    port(endPort, at, errors);
  }
});

const ipBlock: StructRule = ({ cidr: block, except }, path, errors) => {
  if (isEmpty(block)) return void errors.push(required(`${path}.cidr`));
  cidr(block, `${path}.cidr`, errors);
  const outer = looseRange(String(block));
  if (outer === undefined) return undefined;
  for (const [index, item] of (isArray(except) ? except : []).entries()) {
    const at = `${path}.except[${index}]`;
    cidr(item, at, errors);
    const inner = looseRange(String(item));
    if (inner === undefined || isWithin(outer, inner)) continue;
    errors.push(invalidValue(at, item, "must be a strict subset of `cidr`"));
  }
  return undefined;
};

const peer: Rule = (value, path, errors) => {
  const given = object(value);
  labelSelector(given.podSelector, `${path}.podSelector`, errors);
  labelSelector(given.namespaceSelector, `${path}.namespaceSelector`, errors);
  if (isObject(given.ipBlock)) ipBlock(given.ipBlock, `${path}.ipBlock`, errors);
  const count = ["podSelector", "namespaceSelector", "ipBlock"].filter((name) => isObject(given[name])).length;
  if (count === 0) errors.push(required(path, "must specify a peer"));
  else if (count > 1 && isObject(given.ipBlock))
    errors.push(forbiddenField(path, "may not specify both ipBlock and another peer"));
};

const policy: StructRule = (spec, path, errors) => {
  labelSelector(spec.podSelector, `${path}.podSelector`, errors);
  each(struct({ ports: each(policyPort), from: each(peer) }))(spec.ingress, `${path}.ingress`, errors);
  each(struct({ ports: each(policyPort), to: each(peer) }))(spec.egress, `${path}.egress`, errors);
  const types: readonly Json[] = isArray(spec.policyTypes) ? spec.policyTypes : [];
  if (types.length > 2)
    return void errors.push(invalidValue(`${path}.policyTypes`, types, "may not specify more than two policyTypes"));
  each(oneOf("Ingress", "Egress"))(types, `${path}.policyTypes`, errors);
  return undefined;
};

export const networkingRules: Readonly<Record<string, Rule>> = {
  "networking.k8s.io/ingresses": ofSpec(ingress),
  "networking.k8s.io/ingressclasses": ofSpec(ingressClass),
  "networking.k8s.io/networkpolicies": ofSpec(policy),
};
