import { goQuote } from "./go-format.js";
import { forbidden, type StatusError } from "./status-error.js";
import type { AccessAttributes, UserInfo } from "./user.js";

interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * The access that a request to a resource needs. A namespace counts as an object inside itself, as on the real server.
 */
export function resourceAccess(user: UserInfo, verb: string, path: ResourcePath): AccessAttributes {
  const { group, version, resource, subresource, name } = path;
  const isNamespace = group === "" && resource === "namespaces" && name !== "";
  return {
    type: "resource",
    user,
    verb,
    group,
    version,
    resource,
    subresource,
    namespace: isNamespace ? name : path.namespace,
    name,
  };
}

/** The access that a request to any other path needs. Its verb is the HTTP method. */
export function pathAccess(user: UserInfo, method: string, path: string): AccessAttributes {
  return { type: "path", user, verb: method.toLowerCase(), path };
}

/** The 403 of a denied request, in the real server's wording. */
export function accessDenied(attributes: AccessAttributes, reason: string): StatusError {
  const sentence = escaped(denial(attributes));
  const why = reason === "" ? sentence : `${sentence}: ${reason}`;
  if (attributes.type === "path") return forbidden({ group: "", resource: "" }, "", why);
  return forbidden({ group: attributes.group, resource: attributes.resource }, attributes.name, why);
}

function denial(attributes: AccessAttributes): string {
  const who = `User ${goQuote(attributes.user.name)}`;
  if (attributes.type === "path") return `${who} cannot ${attributes.verb} path ${goQuote(attributes.path)}`;
  const { verb, group, subresource, namespace } = attributes;
  const resource = subresource === "" ? attributes.resource : `${attributes.resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${goQuote(namespace)}`;
  return `${who} cannot ${verb} resource ${goQuote(resource)} in API group ${goQuote(group)} ${where}`;
}

/** Escapes HTML, because a browser may show the message. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
