import { dnsLabel, dnsSubdomain, labelValue } from "setpoint/kinds";
import { duplicate, invalidValue, required, tooMany } from "../../api/field-error.js";
import type { Json } from "../../api/json.js";
import type { FieldError } from "../../api/status-error.js";
import { canonicalAddress, ipAddress } from "./address-rules.js";
import {
  each,
  given,
  immutable,
  isEmpty,
  label1123,
  list,
  needed,
  object,
  oneOf,
  pointed,
  port,
  protocol,
  qualified,
  type Rule,
  repeatedAt,
  struct,
  subdomain,
  texts,
} from "./rule.js";
import { specialAddress } from "./service-rules.js";

const MOST_ENDPOINTS = 1_000;
const MOST_PORTS = 20_000;

function address(type: Json | undefined, value: string, list: string, path: string, errors: FieldError[]): void {
  if (type === "FQDN") qualifiedDomain(value, path, errors);
  if (type !== "IPv4" && type !== "IPv6") return;
  const before = errors.length;
  (type === "IPv4" ? ipAddress : canonicalAddress)(value, path, errors);
  if (errors.length > before) return;
  if (value.includes(":") !== (type === "IPv6")) errors.push(invalidValue(list, value, `must be an ${type} address`));
  specialAddress(value, path, errors);
}

/** A fully qualified domain name. */
function qualifiedDomain(value: string, path: string, errors: FieldError[]): void {
  if (value === "") {
    errors.push(required(path));
    return;
  }
  const name = value.replace(/\.$/, "");
  const labels = name.split(".");
  const isWrong = (part: string, complaints: readonly string[]): boolean => {
    if (complaints.length > 0) errors.push(invalidValue(path, part, complaints.join(",")));
    return complaints.length > 0;
  };
  if (isWrong(name, dnsSubdomain(name))) return;
  if (labels.length < 2) isWrong(name, ["should be a domain with at least two segments separated by dots"]);
  else labels.some((label) => isWrong(label, dnsLabel(label)));
}

const MOST_HINTS = 8;

/** Names of zones or nodes in an endpoint's hints. Returns false if there are too many to validate. */
function hinted(
  value: Json | undefined,
  complaintsOf: (name: string) => readonly string[],
  path: string,
  errors: FieldError[],
): boolean {
  const names = list(value).map(({ name = "" }) => String(name));
  if (names.length > MOST_HINTS) {
    errors.push(tooMany(path, names.length, MOST_HINTS));
    return false;
  }
  const repeated = repeatedAt(names);
  for (const [index, name] of names.entries()) {
    const at = `${path}[${index}].name`;
    if (repeated.has(index)) errors.push(duplicate(at, name));
    for (const why of complaintsOf(name)) errors.push(invalidValue(at, name, why));
  }
  return true;
}

const hints = struct({}, ({ forZones, forNodes }, path, errors) => {
  if (!hinted(forZones, labelValue, `${path}.forZones`, errors)) return;
  hinted(forNodes, (name) => dnsSubdomain(name), `${path}.forNodes`, errors);
});

const slicePorts: Rule = (value, path, errors) => {
  const ports = list(value);
  if (ports.length > MOST_PORTS) return void errors.push(tooMany(path, ports.length, MOST_PORTS));
  const repeated = repeatedAt(ports.map(({ name = "" }) => name));
  for (const [index, { name = "", protocol: transport, appProtocol }] of ports.entries()) {
    const at = `${path}[${index}]`;
    given(label1123)(name, `${at}.name`, errors);
    if (repeated.has(index)) errors.push(duplicate(`${at}.name`, name));
    if (transport === undefined) errors.push(required(`${at}.protocol`));
    else protocol(transport, `${at}.protocol`, errors);
    pointed(qualified)(appProtocol, `${at}.appProtocol`, errors);
  }
  return undefined;
};

const endpointSlice: Rule = (value, _path, errors) => {
  const { addressType, endpoints, ports } = object(value);
  needed(oneOf("FQDN", "IPv4", "IPv6"))(addressType, "addressType", errors);
  slicePorts(ports, "ports", errors);
  const members = list(endpoints);
  if (members.length > MOST_ENDPOINTS) {
    return void errors.push(tooMany("endpoints", members.length, MOST_ENDPOINTS));
  }
  for (const [index, endpoint] of members.entries()) {
    const at = `endpoints[${index}]`;
    const addresses = texts(endpoint.addresses);
    if (addresses.length === 0) errors.push(required(`${at}.addresses`, "must contain at least 1 address"));
    else if (addresses.length > 100) errors.push(tooMany(`${at}.addresses`, addresses.length, 100));
    for (const [position, each] of addresses.entries()) {
      address(addressType, each, `${at}.addresses`, `${at}.addresses[${position}]`, errors);
    }
    pointed(subdomain)(endpoint.nodeName, `${at}.nodeName`, errors);
    pointed(label1123)(endpoint.hostname, `${at}.hostname`, errors);
    hints(endpoint.hints, `${at}.hints`, errors);
  }
  return undefined;
};

export const endpointSliceUpdate = immutable("", "addressType");

const endpointAddress = struct({}, ({ ip, hostname, nodeName }, path, errors) => {
  const given = String(ip ?? "");
  ipAddress(given, `${path}.ip`, errors);
  if (!isEmpty(hostname)) label1123(hostname, `${path}.hostname`, errors);
  pointed(subdomain)(nodeName, `${path}.nodeName`, errors);
  // kube-apiserver reports an invalid address a second time here.
  specialAddress(given, `${path}.ip`, errors);
});

const endpoints: Rule = (value, _path, errors) => {
  for (const [index, subset] of list(object(value).subsets).entries()) {
    const at = `subsets[${index}]`;
    if (isEmpty(subset.addresses) && isEmpty(subset.notReadyAddresses)) {
      errors.push(required(at, "must specify `addresses` or `notReadyAddresses`"));
    }
    each(endpointAddress)(subset.addresses, `${at}.addresses`, errors);
    each(endpointAddress)(subset.notReadyAddresses, `${at}.notReadyAddresses`, errors);
    const ports = list(subset.ports);
    for (const [position, { name, port: number, protocol: transport, appProtocol }] of ports.entries()) {
      const place = `${at}.ports[${position}]`;
      if (ports.length > 1 && isEmpty(name)) errors.push(required(`${place}.name`));
      else given(label1123)(name, `${place}.name`, errors);
      port(number ?? 0, `${place}.port`, errors);
      needed(protocol)(transport, `${place}.protocol`, errors);
      pointed(qualified)(appProtocol, `${place}.appProtocol`, errors);
    }
  }
};

export const endpointRules: Readonly<Record<string, Rule>> = {
  "discovery.k8s.io/endpointslices": endpointSlice,
  "/endpoints": endpoints,
};
