import type { Json } from "../../../schema/json.js";
import { duplicate, invalidValue, required, tooMany } from "../../field-error.js";
import { labelValue } from "../../metadata/name-rules.js";
import type { FieldError } from "../../status-error.js";
import { ipAddress, isIp } from "./address-rules.js";
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
  struct,
  subdomain,
  texts,
} from "./rule.js";
import { specialAddress } from "./service-rules.js";

function address(type: Json | undefined, value: string, list: string, path: string, errors: FieldError[]): void {
  if (type === "FQDN") subdomain(value, path, errors);
  else if (!isIp(value)) ipAddress(value, path, errors);
  else {
    if (value.includes(":") !== (type === "IPv6")) errors.push(invalidValue(list, value, `must be an ${type} address`));
    specialAddress(value, path, errors);
  }
}

const hints = struct({}, ({ forZones }, path, errors) => {
  const zones = list(forZones);
  if (zones.length > 8) errors.push(tooMany(`${path}.forZones`, zones.length, 8));
  const names = zones.map(({ name = "" }) => String(name));
  for (const [index, name] of names.entries()) {
    const at = `${path}.forZones[${index}].name`;
    if (names.indexOf(name) < index) errors.push(duplicate(at, name));
    for (const why of labelValue(name)) errors.push(invalidValue(at, name, why));
  }
});

const slicePorts: Rule = (value, path, errors) => {
  const names: Json[] = [];
  for (const [index, { name = "", protocol: transport, appProtocol }] of list(value).entries()) {
    const at = `${path}[${index}]`;
    given(label1123)(name, `${at}.name`, errors);
    if (names.includes(name)) errors.push(duplicate(`${at}.name`, name));
    names.push(name);
    if (transport === undefined) errors.push(required(`${at}.protocol`));
    else protocol(transport, `${at}.protocol`, errors);
    pointed(qualified)(appProtocol, `${at}.appProtocol`, errors);
  }
};

const endpointSlice: Rule = (value, _path, errors) => {
  const { addressType, endpoints, ports } = object(value);
  needed(oneOf("FQDN", "IPv4", "IPv6"))(addressType, "addressType", errors);
  slicePorts(ports, "ports", errors);
  for (const [index, endpoint] of list(endpoints).entries()) {
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
};

export const endpointSliceUpdate = immutable("", "addressType");

const endpointAddress = struct({}, ({ ip, hostname, nodeName }, path, errors) => {
  const given = String(ip ?? "");
  ipAddress(given, `${path}.ip`, errors);
  if (!isEmpty(hostname)) label1123(hostname, `${path}.hostname`, errors);
  pointed(subdomain)(nodeName, `${path}.nodeName`, errors);
  // The real server complains of what is no address once more.
  if (isIp(given)) specialAddress(given, path, errors);
  else errors.push(invalidValue(`${path}.ip`, given, "must be a valid IP address"));
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
